"""Reads plain text: abstracts with blank lines between, and an optional heading line before the first."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from rag.domain import Paper
from rag.readers.source import MAX_RECORD, Line
from rag.records import BadRecord, Reject, Repair, paper_from_record

_HEADING_WORDS = 15


class _Paragraph(NamedTuple):
    line: int
    lines: list[str]
    problem: str | None


def read_plain_text(lines: Iterable[Line], *, file: str) -> Iterator[Paper | Reject | Repair]:
    """A Paper without a title or a Reject for each paragraph; a Repair comes right before its Paper."""
    for index, paragraph in enumerate(_paragraphs(lines)):
        if index == 0 and _is_heading(paragraph):
            continue
        text = "\n".join(paragraph.lines)
        name = " ".join(text[:200].split())[:80]
        if paragraph.problem is not None:
            yield Reject(file, paragraph.line, name, None, paragraph.problem)
            continue
        try:
            paper, repairs = paper_from_record({"abstract": text})
        except BadRecord as error:
            yield Reject(file, paragraph.line, name, error.field, error.reason)
            continue
        for what in repairs:
            yield Repair(file, paragraph.line, paper.paper_id, what)
        yield paper


def _paragraphs(lines: Iterable[Line]) -> Iterator[_Paragraph]:
    """Runs of lines that are not blank; what exceeds `MAX_RECORD` characters of one is dropped and reported."""
    start, kept, length, problem = 0, list[str](), 0, None
    for line in lines:
        text = line.text.removesuffix("\r") if line.text is not None else None
        if text is not None and not text.strip():
            if start:
                yield _Paragraph(start, kept, problem)
            start, kept, length, problem = 0, [], 0, None
            continue
        start = start or line.number
        length += len(text or "")
        if text is None:
            problem = problem or line.problem
        elif length > MAX_RECORD:
            problem = problem or f"longer than {MAX_RECORD:,} characters"
        else:
            kept.append(text)
    if start:
        yield _Paragraph(start, kept, problem)


def _is_heading(paragraph: _Paragraph) -> bool:
    """One short line that is not a sentence."""
    if paragraph.problem is not None or len(paragraph.lines) != 1:
        return False
    text = paragraph.lines[0].strip()
    return len(text.split()) <= _HEADING_WORDS and not text.endswith((".", "!", "?", "。"))
