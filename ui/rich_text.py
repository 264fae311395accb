"""Text from outside as HTML or Markdown. Pure, and the only place of the page that escapes.

Abstracts, titles, answers, questions and error messages are all untrusted: what is made here shows them, and holds no
tag, link, image or template of theirs.
"""

import html
import re
import unicodedata
from collections.abc import Mapping, Sequence

from rag.domain import Span
from rag.inline import Run, parse_runs
from rag.tables import Table, find_tables
from ui.mathml import to_mathml

MATHS_OPEN, MATHS_CLOSE = "\ue000", "\ue001"
"""What stands around maths for the chat's KaTeX. `clean` takes these characters out of all text, so that a price or a
stray dollar sign never becomes maths."""
DISPLAY_OPEN, DISPLAY_CLOSE = "\ue002", "\ue003"
MATHS_DELIMITERS = MATHS_OPEN + MATHS_CLOSE + DISPLAY_OPEN + DISPLAY_CLOSE

_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\ufff0-\ufffb\ufffe\uffff"
    "\ud800-\uf8ff\U000e0000-\U0010ffff]"
)
_MARKDOWN_ACTIVE = re.compile(r"[&<>*_`\[\]\\~|#!@\"]|:(?=//)|%(?=%)|(?<=[wW]{3})\.")
_BLOCK_START = re.compile(r"\A(\d{0,9})([-+=](?<!\d.)|(?<=\d)[.)])")
_BREAK = re.compile(
    r"(?:\A[ \t]*|(?P<newline>(?<![ \t])[ \t]*\n\s*))"
    r"(?:(?P<bullet>[-*•]|\d{1,3}[.)])[ \t]+(?=\S)|(?P<heading>\#{1,6}[ \t]+))?"
)
_HTML_BREAK = re.compile(r"\n\s*\n|\n(?=[ \t]*(?:[-*•]|\d{1,3}[.)])[ \t])")
_UNSAFE_LATEX = re.compile(r"\\(?:href|url|includegraphics|html\w*|[gex]?def|let|newcommand|renewcommand)(?![A-Za-z])")


def clean(text: str) -> str:
    """`text` in NFC without control, private-use, zero-width and direction characters; joiners stay."""
    return _INVISIBLE.sub("", unicodedata.normalize("NFC", text))


def escape_html(text: str) -> str:
    """`text` for HTML content or a quoted attribute."""
    return html.escape(clean(text))


def escape_markdown(text: str) -> str:
    """`text` as inline Markdown that shows every character as it is: no emphasis, link, image, tag or autolink."""
    return _MARKDOWN_ACTIVE.sub(lambda match: f"&#{ord(match[0])};", clean(text))


def question_markdown(question: str) -> str:
    """A question as the reader typed it, line breaks included."""
    lines = (_escape_block_start(escape_markdown(line.strip())) for line in question.strip().splitlines())
    return "<br>".join(lines)


def rich_html(
    text: str,
    *,
    highlights: Sequence[Span] = (),
    chips: Mapping[Span, str] | None = None,
    notes: Mapping[int, str] | None = None,
) -> str:
    """`text` as HTML with its emphasis and its maths (as MathML); the characters of `highlights` in <mark>.

    `chips` replace the spans that they are given for, `notes` are put in at their positions: both are HTML already.
    """
    chips, waiting = chips or {}, sorted((notes or {}).items())
    cuts = [*highlights, *(Span(at, at) for at, _ in waiting)]
    parts: list[str] = []
    marked, skip_to = False, 0
    for run in parse_runs(text, cuts=cuts, opaque=tuple(chips)):
        while waiting and waiting[0][0] <= run.start:
            parts.append(waiting.pop(0)[1])
        chip = next((span for span in chips if span.start <= run.start < span.end), None)
        if run.start < skip_to:
            continue
        if chip is not None:
            parts.append(chips[chip])
            skip_to = chip.end
            continue
        within = any(span.start < run.end and run.start < span.end for span in highlights)
        if within != marked:
            parts.append("<mark>" if within else "</mark>")
            marked = within
        parts.append(_run_html(text, run))
    return "".join(parts) + ("</mark>" if marked else "") + "".join(note for _, note in waiting)


def _run_html(text: str, run: Run) -> str:
    if run.kind == "text":
        shown = _HTML_BREAK.sub(lambda match: "<br>" * min(2, match[0].count("\n")), escape_html(run.text))
    else:
        mathml = to_mathml(clean(run.text), block=run.kind == "display")
        shown = mathml or escape_html(text[run.start : run.end])
    return _styled(shown, run)


def _styled(shown: str, run: Run) -> str:
    for style in sorted(run.styles):  # a style's name is its element's
        shown = f"<{style}>{shown}</{style}>"
    return shown


class _MarkdownText:
    """Markdown under construction, which knows whether it is at the start of a line, in a list or in a heading."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self._line_start, self._in_list, self._heading = True, False, False

    def add(self, markdown: str) -> None:
        self.parts.append(markdown)
        self._line_start = False

    def add_chip(self, markdown: str) -> None:
        """Adds a citation right behind its word, so that no line ends between the two; the style sheet spaces it."""
        if self.parts and not self._line_start:
            self.parts[-1] = self.parts[-1].rstrip(" ")
        self.add(markdown)

    def add_run(self, text: str, run: Run) -> None:
        latex = " ".join(clean(run.text).split())
        if run.kind != "text" and latex and not _UNSAFE_LATEX.search(latex):
            opening, closing = (DISPLAY_OPEN, DISPLAY_CLOSE) if run.kind == "display" else (MATHS_OPEN, MATHS_CLOSE)
            latex = latex.replace("<", r"\lt ").replace(
                ">", r"\gt "
            )  # the chat lets no tag of others come near a parser
            self.add(f"{opening}{latex}{closing}")
            return
        shown = escape_markdown(run.text if run.kind == "text" else text[run.start : run.end])
        shown = re.sub(r"\s+", " ", shown)
        if self._line_start:
            shown = _escape_block_start(shown.lstrip())
        if shown:
            shown = _styled(shown, run)
            self.add(f"<strong>{shown}</strong>" if self._heading else shown)

    def line_break(self, match: re.Match[str]) -> None:
        """A paragraph, a list item, a heading or, for a lone line break, a space."""
        bullet, heading, newline = match["bullet"], match["heading"], match["newline"] or ""
        if not (bullet or heading or self._heading or newline.count("\n") > 1):
            self.add(" " if newline and self.parts else "")
            return
        before = "\n" if bullet and self._in_list and not self._heading else "\n\n"
        mark = "" if not bullet else f"{bullet[:-1]}. " if bullet[0].isdigit() else "- "
        self.add((before if self.parts else "") + mark)
        self._line_start, self._in_list, self._heading = True, bool(bullet), bool(heading)


def _escape_block_start(markdown: str) -> str:
    """No list item, rule or underline begins with what is the start of a line."""
    return _BLOCK_START.sub(lambda match: f"{match[1]}&#{ord(match[2])};", markdown)


def rich_markdown(text: str, chips: Mapping[Span, str], notes: Mapping[int, str]) -> str:
    """Markdown of `text`: paragraphs, lists, tables, headings, emphasis and maths stay, all else is shown as it is.

    `chips` replace the spans that they are given for; `notes` are put in at their positions.
    """
    blocks: list[str] = []
    position = 0
    for table in find_tables(text):
        blocks.append(_part_markdown(text, Span(position, table.span.start), chips, notes))
        blocks.append(_table_markdown(text, table, chips, notes))
        position = table.span.end
    blocks.append(_part_markdown(text, Span(position, len(text)), chips, notes))
    return "\n\n".join(block for block in blocks if block.strip())


def _table_markdown(text: str, table: Table, chips: Mapping[Span, str], notes: Mapping[int, str]) -> str:
    """A table whose cells are what they would be alone: escaping leaves no pipe in them but the table's own."""
    header, *rows = [
        f"| {' | '.join(_part_markdown(text, cell, chips, notes) for cell in row)} |"
        for row in (table.header, *table.rows)
    ]
    return "\n".join([header, f"|{' --- |' * len(table.header)}", *rows])


def _part_markdown(text: str, part: Span, chips: Mapping[Span, str], notes: Mapping[int, str]) -> str:
    """The Markdown of a part of `text`, with the chips and notes that stand in it."""
    return _flow(
        text[part.start : part.end],
        {
            Span(s.start - part.start, s.end - part.start): chip
            for s, chip in chips.items()
            if part.start <= s.start < part.end
        },
        {at - part.start: note for at, note in notes.items() if part.start <= at <= part.end},
    )


def _flow(text: str, chips: Mapping[Span, str], notes: Mapping[int, str]) -> str:
    breaks = [match for match in _BREAK.finditer(text) if match.group()]
    at_break = {match.start(): match for match in breaks}
    cuts = [Span(match.start(), match.end()) for match in breaks] + [Span(at, at) for at in notes]
    waiting = sorted(notes.items())
    out = _MarkdownText()
    skip_to = 0
    for run in parse_runs(text, cuts=cuts, opaque=tuple(chips)):
        while waiting and waiting[0][0] <= run.start:
            out.add(waiting.pop(0)[1])
        marker = next((span for span in chips if span.start <= run.start < span.end), None)
        if run.start < skip_to:
            continue
        if marker is not None:
            out.add_chip(chips[marker])
            skip_to = marker.end
        elif run.kind == "text" and run.start in at_break:
            out.line_break(at_break[run.start])
            skip_to = at_break[run.start].end()
        else:
            out.add_run(text, run)
    for _, note in waiting:
        out.add(note)
    return "".join(out.parts)
