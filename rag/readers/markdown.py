"""Reads Markdown: a paper a heading, which is its title, with its abstract below; without headings, as plain text."""

import re
from collections.abc import Iterator
from itertools import chain

from rag.readers.found import Found
from rag.readers.paragraphs import group_lines
from rag.readers.plain_text import paragraphs
from rag.readers.source import Line, Source
from rag.records import BadRecord

_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(?P<title>.*?)(?:[ \t]+#+)?[ \t]*\Z")
"""An ATX heading, as CommonMark 0.31 (section 4.2) defines it."""
_FENCE = "---"


def read_markdown(source: Source) -> Iterator[Found]:
    """The text below each heading, with the heading as its title. A heading with nothing below it is no paper.

    Front matter is not read, and reported.
    """
    lines = iter(source.lines())
    first = next(lines, None)
    if first is None:
        return
    if first.text is not None and first.text.strip() == _FENCE:
        yield Found(first.number, None, BadRecord(None, "front matter is not read; give fields as JSON lines"), _FENCE)
        _skip_front_matter(lines)
        rest = lines
    else:
        rest = chain([first], lines)
    for group in group_lines(rest, starts=lambda text: _HEADING.match(text) is not None):
        heading = _HEADING.match(group.lines[0]) if group.lines else None
        if group.problem is not None:
            yield Found(group.line, None, BadRecord(None, group.problem), group.text[:200])
        elif heading is not None:
            text = "\n".join(group.lines[1:]).strip("\n \t")
            if text:
                yield Found(group.line, {"title": heading["title"], "abstract": text})
        else:
            yield from _without_heading(group.line, group.lines)


def _without_heading(number: int, lines: list[str]) -> Iterator[Found]:
    numbered = [Line(number + index, text) for index, text in enumerate(lines)]
    for paragraph in paragraphs(numbered):
        yield Found(paragraph.line, {"abstract": paragraph.text}, text=paragraph.text[:200])


def _skip_front_matter(lines: Iterator[Line]) -> None:
    for line in lines:
        if line.text is not None and line.text.strip() in {_FENCE, "..."}:
            return
