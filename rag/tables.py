"""Tables in an answer's Markdown: where their cells stand. What is a table here is one everywhere it is shown."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rag.domain import Span

_ROW = re.compile(r"[ \t]*\|.*\|[ \t]*")
_RULER = re.compile(r"[ \t]*\|(?:[ \t]*:?-+:?[ \t]*\|)+[ \t]*")
_CELL = re.compile(r"(?<!\\)\|((?:\\.|[^|\\])*)(?=\|)")


@dataclass(frozen=True, slots=True)
class Table:
    """A table at `span`: the cells of its header and of its rows, without the white space around them."""

    span: Span
    header: tuple[Span, ...]
    rows: tuple[tuple[Span, ...], ...]


def find_tables(text: str) -> tuple[Table, ...]:
    """The tables of `text`: a header, a ruler of dashes, and the lines behind them that have pipes at both ends.

    A row may have fewer or more cells than the header.
    """
    lines = list(_lines(text))
    tables: list[Table] = []
    index = 0
    while index + 1 < len(lines):
        header = _cells(text, lines[index])
        if not header or not _RULER.fullmatch(text, *lines[index + 1]):
            index += 1
            continue
        last = index + 1
        while last + 1 < len(lines) and _ROW.fullmatch(text, *lines[last + 1]):
            last += 1
        rows = tuple(_cells(text, line) for line in lines[index + 2 : last + 1])
        tables.append(Table(Span(lines[index].start, lines[last].end), header, rows))
        index = last + 1
    return tuple(tables)


def _lines(text: str) -> Iterator[Span]:
    start = 0
    for line in text.split("\n"):
        yield Span(start, start + len(line))
        start += len(line) + 1


def _cells(text: str, line: Span) -> tuple[Span, ...]:
    """The cells of a line, () where it is no row."""
    if not _ROW.fullmatch(text, *line):
        return ()
    return tuple(_stripped(text, Span(*cell.span(1))) for cell in _CELL.finditer(text, *line))


def _stripped(text: str, span: Span) -> Span:
    inner = text[span.start : span.end]
    start = span.start + len(inner) - len(inner.lstrip())
    return Span(start, start + len(inner.strip()))
