"""Splits an abstract or an answer into sentences, as character spans of the text that was given."""

import re
from functools import lru_cache

from rag.domain import Span

_ABBREVIATIONS = frozenset(
    "al approx art ca cf ch conf dept dr ed eds e.g eg eq eqs equ esp et etc ex fig figs i.e ie incl jr max min mr "
    "mrs ms no nos nr op p pp prof prop ref refs resp rev sec secs sect sr st suppl tab thm univ viz vol vs w.r.t wrt "
    "i.i.d s.t a.k.a u.s".split()
)
_STARTS_NEXT = re.compile(r"""[\s]*["'“‘«(\[*_$\\{`]*[A-Z0-9À-ÞΑ-Ω\u3040-\u9fff\uac00-\ud7af]|\s*[-•–]\s""")
_LOWER_START = re.compile(r"\s+[a-z][\w-]*[A-Z]")
_TERMINATOR = re.compile(
    r"""(?:[.!?…]+["'”’»)\]}*_$]*(?=\s|\Z))"""  # Latin script: behind the closing quotes and brackets
    r"""|[。！？]["'”’」』）]*"""
    r"""|\n[ \t]*\n+|\n(?=[ \t]*(?:[-*•]|\d+[.)])[ \t])"""  # a blank line, a list item
)
_WORD_BEFORE = re.compile(r"[\w.]+\Z")
_INITIAL = re.compile(r"(?:\b[A-Z]\.\s?|\b(?:[Bb]y|and|with)\s)[A-Z]\Z")
"""A single capital behind another initial or behind "by": a name ("by J. Smith"), not "dimension D."."""


@lru_cache(maxsize=4096)
def split_sentences(text: str) -> tuple[Span, ...]:
    """The sentences of `text` in order, without surrounding white space.

    Together they hold every character of `text` that is not white space. Abbreviations ("et al.", "e.g."), decimals,
    initials and URLs do not end a sentence; a blank line and a list item do.
    """
    spans: list[Span] = []
    start = 0
    for match in _TERMINATOR.finditer(text):
        if match.group().strip() and not _ends_sentence(text, match):
            continue
        _append(spans, text, start, match.end())
        start = match.end()
    _append(spans, text, start, len(text))
    return tuple(spans)


def _ends_sentence(text: str, match: re.Match[str]) -> bool:
    rest = text[match.end() : match.end() + 60]
    if not rest.strip() or match.group()[0] in "。！？":
        return True
    if not (_STARTS_NEXT.match(rest) or _LOWER_START.match(rest)):
        return False
    if match.group()[0] != ".":
        return True
    word = _WORD_BEFORE.search(text, max(0, match.start() - 40), match.start())
    if word is None:
        return True
    last = word.group().strip(".").lower()
    if last == "etc":
        return True
    return last not in _ABBREVIATIONS and not _INITIAL.search(text, max(0, match.start() - 12), match.start())


def _append(spans: list[Span], text: str, start: int, end: int) -> None:
    part = text[start:end]
    body = part.strip()
    if body:
        offset = start + len(part) - len(part.lstrip())
        spans.append(Span(offset, offset + len(body)))
