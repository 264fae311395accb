"""What one bracketed piece of a model's text says: which sources it cites, a placeholder, or nothing of the kind."""

import re
import unicodedata
from typing import NamedTuple

MAX_MARKER = 40
"""Longest text between a marker's brackets, in characters; it bounds what a stream has to hold back."""

_SOURCE_WORD = (
    r"(?:sources?|src|references?|refs?\.?|papers?|abstracts?|documents?|docs?|citations?|cites?|cited|passages?|"
    r"quellen?|s)"
)
_ROUND_WORDS = (
    *("see", "cf", "from", "per", "via", "sources", "src", "references", "refs", "papers", "abstracts", "documents"),
    *("docs", "citations", "cites", "cited", "passages", "quellen"),
)
_LEAD_IN = re.compile(
    rf"(?:(?:see|cf\.?|from|per|via)\s+)?{_SOURCE_WORD}\s*(?:no\.?|nr\.?|number)?\s*[:#.]?\s*(?=[\d\^\[])"
)
_ITEM = re.compile(
    rf"(?:{_SOURCE_WORD}\s*[:#.]?\s*)?[\^#]*(?P<first>0|[1-9]\d{{0,5}})\^?"
    rf"(?:\s*(?:-|–|—|−|~|\.\.|to|bis)\s*(?:{_SOURCE_WORD}\s*)?[\^#]*(?P<last>0|[1-9]\d{{0,5}})\^?)?"
)
_BETWEEN = re.compile(r"\s*(?:[,;/&+|]\s*(?:and\b)?|\band\b|\bor\b|\bund\b|\s)\s*")
_PLACEHOLDER = re.compile(
    r"(?:(?:insert|add|include|put|your|provide|needs?|missing|source|paper)\s+(?:\w+\s+)*?)?"
    r"(?:citations?|references?|refs?\.?|cite|sources?|source\s+(?:number|n|id))"
    r"(?:\s+(?:needed|here|missing|required|number|n|id|to\s+be\s+added))*|\?+|number|n|needs?\s+citation"
)
_AUTHOR_YEAR = re.compile(r"\w[^\[\]]*\bet al\b[^\[\]]*\d{4}[a-z]?")
_FILE_SEARCH = re.compile(r"\d+:\d+")
_INTERVAL_WORD = re.compile(r"(?:\b(?:interval|range|ci|between|values?\s+in|scaled\s+to)|∈|\\in)\s*\Z", re.IGNORECASE)
_INDEXED = re.compile(
    r"(?:(?<![\w'’])[A-Za-z]|[A-Za-z0-9]_[A-Za-z0-9]+|[A-Za-z]\w*\.[A-Za-z]\w*|\b(?:arr|array|args|argv|buf|vec|xs|ys)|\w\[\d+\])\Z"
)
_ENUMERATES = re.compile(
    r"(?:\b(?:eqs?|equations?|steps?|theorems?|lemmas?|tables?|figs?|figures?|sections?|cases?|parts?|propert\w+|"
    r"assumptions?|conditions?|stages?|phases?|options?|items?|in|of|by|from|to|with|than|and|or|are|is)\.?|[,:;])\s*\Z",
    re.IGNORECASE,
)


class MarkerReading(NamedTuple):
    """The given sources that a marker cites, in its order, and whether it also (or only) names something else."""

    sources: tuple[int, ...]
    unknown: bool


def read_marker(content: str, *, sources: int, before: str) -> MarkerReading | None:
    """What `content`, the text between square brackets, cites out of the sources 1..`sources`.

    `before` is the text in front of the bracket (its last characters do). None where the bracket is no marker: an array
    index (`x[0]`), an interval (`[0, 1]`), other bracketed text. A placeholder (`[citation needed]`) is unknown.
    """
    text = unicodedata.normalize("NFKC", content).strip().lower()
    if _INDEXED.search(before):
        return None
    text, dagger, _ = text.partition("†")
    if dagger and _FILE_SEARCH.fullmatch(text.strip()):
        return MarkerReading((), unknown=True)
    numbers = _read_numbers(text, sources=sources)
    if numbers is not None:
        is_interval = not numbers.lone and (numbers.starts_at_zero or _INTERVAL_WORD.search(before))
        return None if is_interval else numbers.reading
    if text == "n" and re.search(r"(?:\bin|∈|\\in)\s*\Z", before):
        return None
    if _PLACEHOLDER.fullmatch(text) or _AUTHOR_YEAR.fullmatch(text):
        return MarkerReading((), unknown=True)
    return None


def read_round_marker(content: str, *, sources: int, before: str, after: str) -> MarkerReading | None:
    """What `content`, the text between round brackets, cites: `(Source 1)` anywhere, `(1)` only at a clause's end.

    `after` is the character behind the bracket, "" at the end of the text. Bare numbers are a marker only if all of
    them are given sources and they enumerate nothing: not "(1) first", "Eq. (1)", "f(1)" or "(2024)".
    """
    text = unicodedata.normalize("NFKC", content).strip().lower()
    numbers = _read_numbers(text, sources=sources)
    if numbers is None:
        return None
    if not text[:1].isdigit():
        return numbers.reading
    ends_clause = after == "" or after in ".,;!?\n。，；"
    if numbers.reading.unknown or not ends_clause or not before[-1:].isspace() or _ENUMERATES.search(before):
        return None
    return numbers.reading if re.search(r"\w\W{0,3}\Z", before) else None


def may_be_marker(content: str) -> bool:
    """Whether text behind an open bracket may go on to be a marker: it begins with a number or a source word."""
    text = unicodedata.normalize("NFKC", content).lstrip().lower()
    word = re.match(r"[a-z]*", text)[0]  # type: ignore[index]  # matches any text
    if not word:
        return re.fullmatch(r"[\^#\d\s,;/&–—-]*(?:a(?:nd?)?|o(?:r)?)?[\^#\d\s,;/&–—-]*", text) is not None
    return any(known.startswith(word) for known in _ROUND_WORDS)


class _Numbers(NamedTuple):
    reading: MarkerReading
    lone: bool
    starts_at_zero: bool


def _read_numbers(text: str, *, sources: int) -> _Numbers | None:
    """Reads "1", "^1", "1, 2", "1-3", "sources 1 and 2", "source 1: title"; None where it is something else."""
    lead_in = _LEAD_IN.match(text)
    position = lead_in.end() if lead_in else 0
    cited: dict[int, None] = {}
    unknown, count, starts_at_zero = False, 0, False
    while item := _ITEM.match(text, position):
        first, last = int(item["first"]), int(item["last"] or item["first"])
        starts_at_zero = starts_at_zero or (count == 0 and first == 0)
        count += 1 if item["last"] is None else 2
        named = (
            range(max(first, 1), min(last, sources) + 1)
            if first <= last
            else [n for n in (first, last) if 1 <= n <= sources]
        )
        cited.update(dict.fromkeys(named))
        unknown = unknown or not (1 <= first <= sources and 1 <= last <= sources)
        position = item.end()
        separator = _BETWEEN.match(text, position)
        if separator is None:
            break
        position = separator.end()
    has_title = lead_in is not None and text[position : position + 1] in {":", ",", "-", "–"}
    if count == 0 or (position < len(text) and not has_title):
        return None
    return _Numbers(MarkerReading(tuple(cited), unknown), lone=count == 1, starts_at_zero=starts_at_zero)
