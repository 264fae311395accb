"""Reads the inline markup of abstracts and answers (Markdown emphasis, LaTeX text commands, maths) as styled runs."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from rag.domain import Span

RunKind = Literal["text", "math", "display"]


@dataclass(frozen=True, slots=True)
class Run:
    """Characters start..end of a text that look alike. `text` is what is shown: without the markup's own characters."""

    start: int
    end: int
    text: str
    kind: RunKind = "text"
    styles: frozenset[str] = frozenset()
    """Of "strong", "em" and "code"."""


_MARKUP = re.compile(
    r"""
    (?<!\\)\$\$(?P<display>[^$]{1,600})\$\$
  | \\\[(?P<bracket>(?:(?!\n[ \t]*\n).){1,600}?)\\\]
  | \\\((?P<paren>(?:(?!\n[ \t]*\n).){1,400}?)\\\)
  | (?<![\\$])(?:(?<!\w)|(?=\$[\\^_{<>=]))\$(?![\s$])
    (?P<dollar>(?:\\.|(?!\n[ \t]*\n)[^$\\]){0,399}?(?:\\.|[^\s$\\]))\$(?!\$)
  | \\(?P<command>emph|textit|textbf|texttt|textsc|textrm|underline|url|href\{[^{}\s]{1,300}\})
    \{(?P<argument>(?:[^{}\n]|\{[^{}\n]{0,100}\}){0,400})\}
  | \{\\(?P<switch>em|it|bf|tt)[ ](?P<switched>(?:[^{}\n]|\{[^{}\n]{0,100}\}){1,400})\}
  | \\(?P<accent>["'`^~=.])\{?(?P<letter>[A-Za-z])\}?
  | \\(?P<escaped>[$%&_\#{}])
  | (?<![\w*\\])\*\*(?=[\w\\"'“‘$(])(?P<strong>(?:(?!\*\*)[^\n]){1,300}?)(?<=\S)\*\*(?!\*)
  | (?<![\w*\\])\*(?=[\w\\"“$])(?P<star>[^*\n]{1,300}?)(?<=[\w.!?"”%)$])\*(?![\w*])
  | (?<![\w\\])_(?=[A-Za-z"“])(?P<underscore>[^_\n]{1,300}?)(?<=[\w.!?"”%)])_(?!\w)
  | (?<![`\\])`(?P<code>[^`\n]{1,200})`(?!`)
    """,
    re.VERBOSE | re.DOTALL,
)
_STYLE = {
    "emph": "em",
    "textit": "em",
    "textbf": "strong",
    "texttt": "code",
    "strong": "strong",
    "star": "em",
    "underscore": "em",
    "code": "code",
    "em": "em",
    "it": "em",
    "bf": "strong",
    "tt": "code",
}
_COMBINING = {'"': "\u0308", "'": "\u0301", "`": "\u0300", "^": "\u0302", "~": "\u0303", "=": "\u0304", ".": "\u0307"}
_AMOUNT = re.compile(r"[\d.,]+(?:\s*(?:k|K|M|B|bn|million|billion))?\s+[A-Za-z]{2,}|[^()]*\((?![^()]*\))")
"""Between two dollar signs: an amount and then a word, or an open bracket that never closes: a price, no maths."""
_DEEPEST = 6


def parse_runs(text: str, *, cuts: Sequence[Span] = (), opaque: Sequence[Span] = ()) -> list[Run]:
    """The runs of `text` in order. What is no well-formed markup is text, and every character of it is kept.

    A run never crosses a boundary of `cuts` (maths excepted, which has no parts). Nothing that overlaps `opaque`
    (an answer's citation markers) is taken for maths.
    """
    points = sorted({point for span in (*cuts, *opaque) for point in span})
    runs: list[Run] = []
    for run in _parse(text, Span(0, len(text)), frozenset(), opaque, 0):
        runs.extend(_split(run, points) if run.kind == "text" else [run])
    return runs


def _parse(text: str, within: Span, styles: frozenset[str], opaque: Sequence[Span], depth: int) -> Iterator[Run]:
    position = searched = within.start
    while depth < _DEEPEST and (match := _MARKUP.search(text, searched, within.end)):
        runs = list(_markup(text, match, styles, opaque, depth))
        searched = match.end() if runs else match.start() + 1
        if runs:
            yield from _plain(text, position, match.start(), styles)
            yield from runs
            position = match.end()
    yield from _plain(text, position, within.end, styles)


def _markup(
    text: str, match: re.Match[str], styles: frozenset[str], opaque: Sequence[Span], depth: int
) -> Iterator[Run]:
    """The runs of one piece of markup; none where it turns out to be plain text."""
    group = match.lastgroup or ""
    if group in {"display", "bracket", "paren", "dollar"}:
        if _is_maths(match, group) and not _overlaps(match, opaque):
            kind: RunKind = "display" if group in {"display", "bracket"} else "math"
            yield Run(match.start(), match.end(), match[group].strip(), kind, styles)
    elif group == "escaped":
        yield Run(match.start(), match.end(), match[group], "text", styles)
    elif group == "letter":
        accented = unicodedata.normalize("NFC", match["letter"] + _COMBINING[match["accent"]])
        yield Run(match.start(), match.end(), accented, "text", styles)
    else:
        style = _STYLE.get(match["command"] or match["switch"] or group)
        body = Span(*match.span(group))
        if style == "code":
            yield from _plain(text, body.start, body.end, styles | {style})
        else:
            yield from _parse(text, body, styles | {style} if style else styles, opaque, depth + 1)


def _is_maths(match: re.Match[str], group: str) -> bool:
    latex = match[group]
    braces = latex.replace("\\{", "").replace("\\}", "")
    if braces.count("{") != braces.count("}") or not latex.strip():
        return False
    if group != "dollar" or not latex[0].isdigit():
        return True
    return not (_AMOUNT.match(latex) or match.string[match.end() : match.end() + 1].isdigit())


def _overlaps(match: re.Match[str], spans: Sequence[Span]) -> bool:
    return any(span.start < match.end() and match.start() < span.end for span in spans)


def _plain(text: str, start: int, end: int, styles: frozenset[str]) -> Iterator[Run]:
    if start < end:
        yield Run(start, end, text[start:end], "text", styles)


def _split(run: Run, points: Sequence[int]) -> Iterator[Run]:
    """The parts of a text run between `points`; an escaped character, shown shorter than it is, stays whole."""
    if len(run.text) != run.end - run.start:
        yield run
        return
    inside = [point for point in points if run.start < point < run.end]
    for start, end in zip([run.start, *inside], [*inside, run.end], strict=True):
        yield replace(run, start=start, end=end, text=run.text[start - run.start : end - run.start])
