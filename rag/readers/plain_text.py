"""Reads plain text: abstracts with blank lines between, and an optional heading line before the first."""

from collections.abc import Iterable, Iterator

from rag.readers.found import Found
from rag.readers.paragraphs import Group, group_lines
from rag.readers.source import Line, Source
from rag.records import BadRecord

_HEADING_WORDS = 15


def read_plain_text(source: Source) -> Iterator[Found]:
    """An abstract without a title for each paragraph."""
    for index, paragraph in enumerate(paragraphs(source.lines())):
        if index == 0 and _is_heading(paragraph):
            continue
        if paragraph.problem is not None:
            yield Found(paragraph.line, None, BadRecord(None, paragraph.problem), paragraph.text[:200])
        else:
            yield Found(paragraph.line, {"abstract": paragraph.text}, text=paragraph.text[:200])


def paragraphs(lines: Iterable[Line]) -> Iterator[Group]:
    """Runs of lines that are not blank."""
    before_blank = True

    def starts(text: str) -> bool:
        nonlocal before_blank
        was_blank, before_blank = before_blank, not text.strip()
        return was_blank != before_blank

    for group in group_lines(lines, starts=starts):
        if group.problem is not None or any(line.strip() for line in group.lines):
            yield group


def _is_heading(paragraph: Group) -> bool:
    """One short line that is not a sentence."""
    if paragraph.problem is not None or len(paragraph.lines) != 1:
        return False
    text = paragraph.lines[0].strip()
    return len(text.split()) <= _HEADING_WORDS and not text.endswith((".", "!", "?", "。"))
