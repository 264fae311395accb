"""Which parts of an answer's text are sentences that say something, and which only lay it out: rows, headers, marks."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rag.domain import Label, Quote, Recorded, Span
from rag.sentences import split_sentences
from rag.tables import Table, find_tables

LABEL_WORDS = 8
"""A header cell or the first cell of a row of at most this many words names something; a longer one says something."""
_ITEM_NUMBER = re.compile(r"\W*\d{1,3}[.)]")


@dataclass(frozen=True, slots=True)
class Said:
    """A sentence of an answer: where it stands, what its row or cell is about, whether a paper's record says it."""

    span: Span
    label: str = ""
    is_recorded: bool = False


Layout = Sequence[Said]


def read_layout(plain: str, fixed: Sequence[tuple[Span, Quote | Recorded | Label]]) -> Layout:
    """The sentences of `plain`, an answer without its markers. Rules and bare marks are none.

    `fixed` are the parts that are one whole, in order: a quote or a recorded sentence is a sentence of its own, no more
    split than joined to its neighbours, and a label is none. Of a table, each cell has sentences of its own, and what
    its header and the first cells of its rows name is not said.
    """
    quotes = [span for span, piece in fixed if not isinstance(piece, Label)]
    tables = [table for table in find_tables(plain) if not any(_overlap(table.span, span) for span in quotes)]
    solid: list[tuple[Span, Quote | Recorded | Label]] = sorted(
        [*fixed, *((span, Label("")) for table in tables for span in _rulings(plain, table))],
        key=lambda part: part[0].start,
    )
    labels = {start: label for table in tables for start, label in _cell_labels(plain, table)}
    sentences: list[Said] = []
    position, label = 0, ""
    for span, piece in solid:
        sentences += _written(plain, Span(position, span.start), label=label)
        if isinstance(piece, Label):
            label = piece.names or labels.get(span.end, "" if span.end in labels else label)
        elif span.end > span.start:
            sentences.append(Said(span, label, is_recorded=isinstance(piece, Recorded)))
        position = max(position, span.end)
    return [*sentences, *_written(plain, Span(position, len(plain)), label=label)]


def _overlap(one: Span, other: Span) -> bool:
    return one.start < other.end and other.start < one.end


def _rulings(plain: str, table: Table) -> Iterator[Span]:
    """What of a table says nothing: all but the cells that do."""
    position = table.span.start
    for cell in _saying_cells(plain, table):
        yield Span(position, cell.start)
        position = cell.end
    yield Span(position, table.span.end)


def _saying_cells(plain: str, table: Table) -> Iterator[Span]:
    for cell in table.header:
        if not _names(plain, cell):
            yield cell
    for row in table.rows:
        yield from (
            cell for place, cell in enumerate(row) if cell.end > cell.start and (place or not _names(plain, cell))
        )


def _names(plain: str, cell: Span) -> bool:
    return len(plain[cell.start : cell.end].split()) <= LABEL_WORDS


def _cell_labels(plain: str, table: Table) -> Iterator[tuple[int, str]]:
    """Where each cell of the rows begins, and what it is about: its row and its column."""
    for row in table.rows:
        name = plain[row[0].start : row[0].end] if row and _names(plain, row[0]) else ""
        for place, cell in enumerate(row):
            column = table.header[place] if 0 < place < len(table.header) else None
            parts = [name, plain[column.start : column.end] if column else ""]
            yield cell.start, " · ".join(part for part in parts if part)
    yield table.span.end, ""


def _written(plain: str, part: Span, *, label: str) -> Iterator[Said]:
    """The sentences between the parts that are fixed; an item's number goes with what follows it."""
    number_start: int | None = None
    for start, end in split_sentences(plain[part.start : part.end]):
        span = Span(part.start + start, part.start + end)
        if not any(character.isalnum() for character in plain[span.start : span.end]):
            continue
        if _ITEM_NUMBER.fullmatch(plain, span.start, span.end) and "\n" not in plain[span.end :].lstrip(" ")[:1]:
            number_start = span.start if number_start is None else number_start
            continue
        yield Said(Span(span.start if number_start is None else number_start, span.end), label)
        number_start = None
    if number_start is not None:
        yield Said(Span(number_start, part.end), label)
