"""Gathers lines to larger records: paragraphs, entries, references."""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from rag.readers.source import MAX_RECORD, Line


class Group(NamedTuple):
    """Lines that belong together, the first of them number `line`; `problem` says why they cannot be used whole."""

    line: int
    lines: list[str]
    problem: str | None

    @property
    def text(self) -> str:
        """The lines, with line feeds between."""
        return "\n".join(self.lines)


def group_lines(lines: Iterable[Line], *, starts: Callable[[str], bool]) -> Iterator[Group]:
    """`lines` in groups, a new one at each line of which `starts` is true.

    What exceeds `MAX_RECORD` characters of a group is dropped and reported.
    """
    start, kept, length, problem = 0, list[str](), 0, None
    for line in lines:
        text = line.text.removesuffix("\r") if line.text is not None else None
        if text is not None and starts(text) and start:
            yield Group(start, kept, problem)
            start, kept, length, problem = 0, [], 0, None
        start = start or line.number
        length += len(text or "")
        if text is None:
            problem = problem or line.problem
        elif length > MAX_RECORD:
            problem = problem or f"longer than {MAX_RECORD:,} characters"
        else:
            kept.append(text)
    if start:
        yield Group(start, kept, problem)
