"""Reads CSV and TSV: a header, then a record a row."""

import csv
from collections import deque
from collections.abc import Iterator
from itertools import chain

from rag.errors import InputError
from rag.readers.columns import own_columns
from rag.readers.found import Found, ReadOptions
from rag.readers.source import MAX_RECORD, Line, Source
from rag.records import BadRecord

DELIMITERS = ",\t;|"


def read_csv(source: Source, options: ReadOptions) -> Iterator[Found]:
    """The fields of each row under the header's names, which are known whatever their case. Empty cells are left out.

    The delimiter is the one of `DELIMITERS` that finds a column of abstracts. A row with more or fewer cells than the
    header is a problem, as is a quote that does not end: the next row is then read on its own. Raises InputError where
    the header has no abstracts or names a column twice.
    """
    lines = _Lines(source.lines())
    first = next((line for line in lines if line.text is None or line.text.strip()), None)
    if first is None:
        return
    if first.text is None:
        raise InputError(f"{source.name}: the header is {first.problem}.", fix="Look at the file's first line.")
    delimiter, header = _header(first.text, source.name, options)
    csv.field_size_limit(MAX_RECORD)
    while (line := next(lines, None)) is not None:
        if line.text is None:
            yield Found(line.number, None, BadRecord(None, line.problem or ""))
        elif line.text.strip():
            yield _row(line, lines, delimiter, header)


class _Lines(Iterator[Line]):
    """Lines that can be given back."""

    def __init__(self, lines: Iterator[Line]) -> None:
        self._lines, self._returned = lines, deque[Line]()

    def __next__(self) -> Line:
        return self._returned.popleft() if self._returned else next(self._lines)

    def give_back(self, lines: list[Line]) -> None:
        self._returned.extendleft(reversed(lines))


def _row(line: Line, lines: _Lines, delimiter: str, header: list[str]) -> Found:
    """The record that begins at `line`, with the further lines that its quoted cells take of `lines`."""
    taken: list[Line] = []
    text = (line.text or "")[:200]
    try:
        cells = next(csv.reader(_row_text(line, lines, taken), delimiter=delimiter, strict=True))
    except (csv.Error, BadRecord) as error:
        lines.give_back(taken)
        return Found(line.number, None, BadRecord(None, f"broken row: {error}"), text)
    if len(cells) != len(header):
        problem = BadRecord(None, f"{len(cells)} cells, and the header has {len(header)}")
        return Found(line.number, None, problem, text)
    fields = {name: cell for name, cell in zip(header, cells, strict=True) if cell.strip() and name}
    return Found(line.number, fields, text=text)


def _row_text(line: Line, lines: _Lines, taken: list[Line]) -> Iterator[str]:
    size = 0
    yield _text(line)
    for more in lines:
        taken.append(more)
        size += len(more.text or "")
        if more.text is None or size > MAX_RECORD:
            raise BadRecord(None, more.problem or f"longer than {MAX_RECORD:,} characters; is a quote missing?")
        yield _text(more)


def _text(line: Line) -> str:
    return (line.text or "").removesuffix("\r") + "\n"


def _header(text: str, name: str, options: ReadOptions) -> tuple[str, list[str]]:
    """The delimiter and the names of the columns, those of records as citewise calls them."""
    wanted = options.mapping.get("abstract", "abstract").casefold()
    found = {delimiter: header_cells(text, delimiter) for delimiter in DELIMITERS}
    delimiter = max(found, key=lambda d: (wanted in map(str.casefold, found[d]), len(found[d])))
    return delimiter, own_columns(found[delimiter], name=name, options=options)


def header_cells(text: str, delimiter: str) -> list[str]:
    """The cells of a header, none where it cannot be read."""
    try:
        return [cell.strip() for cell in chain.from_iterable(csv.reader([text], delimiter=delimiter, strict=True))]
    except csv.Error:
        return []
