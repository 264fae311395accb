"""Filters that a question names in plain words: "papers by Yisen Wang", "in ICML 2025", "papers since 2023".

Only what the corpus can tell is taken for a filter: an author or venue that it has, and years in forms that cannot
mean the years of some data. All else stays part of the question.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple, Protocol

from rag.domain import Span
from rag.filters import FIRST_YEAR, LAST_YEAR, Filters
from rag.folding import fold, fold_name
from rag.keyword import analyze

_PAPER = r"(?:papers?|abstracts?|articles?|publications?|preprints?)"
_BY = re.compile(
    rf"\b(?:(?P<strong>(?:{_PAPER}|written|(?:co-?)?authored)\s+)(?P<lead>(?:by|from|of)\s+)"
    r"|(?P<lead_alone>(?:by|did|do|does|has|have)\s+))",
    re.IGNORECASE,
)
_OWNER = re.compile(
    rf"(?<![\w.-])(?P<name>(?:[^\W\d_][\w.-]*\s+){{0,5}}[^\W\d_][\w.-]*)(?P<owner>['’]s?)\s+{_PAPER}\b", re.IGNORECASE
)
_AND = re.compile(r"\s*(?:,\s*(?:and\s+|or\s+)?|\band\s+|\bor\s+|&\s*)", re.IGNORECASE)
_NAME_WORD = re.compile(r"\s*([^\W\d_](?:[\w-]|['’](?!s\b)|\.(?=\s+\w|\w))*)")
_MOST_NAME_WORDS = 6
_AT = re.compile(r"\b(?:in|at|from|of)\s+(?:the\s+)?", re.IGNORECASE)
_VENUE_WORD = re.compile(r"\s*([\w&](?:[\w&'’-]|\.(?=\w))*)")
_MOST_VENUE_WORDS = 10
_YEAR = r"(?<![\d.])(?:19|20)\d\d(?!\d|[.,]\d)"
_YEAR_BEHIND = re.compile(rf"\s+({_YEAR})")
_PAPERS_IN = re.compile(
    rf"\b{_PAPER}(?P<topic>\s+(?:by|at|in)\s+[^.;?!]{{1,60}}?)?"
    rf"(?P<when>\s+(?:in|of|(?:published|written)\s+in)\s+(?P<year>{_YEAR}))",
    re.IGNORECASE,
)
_PAPERS_WHEN = re.compile(
    rf"\b{_PAPER}(?P<topic>\s+(?:on|about|by|in|at)\s+[^.;?!]{{1,80}}?)?(?P<when>,?\s+(?:(?:published|written)\s+)?"
    rf"(?:(?:from|between)\s+(?P<year>{_YEAR})\s*(?:to|and|until|through|-|–)\s*(?P<last>{_YEAR})"
    rf"|(?P<word>from|since|after|before|until|up\s+to)\s+(?P<year_alone>{_YEAR})"
    r"(?P<open>\s+on(?:wards?)?\b|\s+or\s+later\b)?))",
    re.IGNORECASE,
)
_DATED_THINGS = re.compile(
    r"\b(?:data|data ?sets?|records?|events?|elections?|seasons?|news|benchmarks?|corpus|corpora|years?|period|logs?"
    r"|images?|texts?|documents?|tweets?|posts?|results?)$|\b(?:that|which|using|with|trained|collected|in)$",
    re.IGNORECASE,
)
"""Behind these, a year may be that of what the papers are about."""
_GENERIC = (
    "paper abstract article publication preprint author write wrote written publish published list show find give tell"
    " name say topic summarize summarise summary describe corpus"
)
"""Words of questions for papers as such."""


class Facts(Protocol):
    """What the corpus can tell of names. All texts are folded, see `rag.folding`."""

    @property
    def has_years(self) -> bool:
        """Whether any paper says its year."""
        ...

    def has_author(self, name: str) -> bool:
        """Whether this is the whole name of an author."""
        ...

    def has_last_name(self, word: str) -> bool:
        """Whether an author's name ends in this word."""
        ...

    def has_venue(self, venue: str) -> bool:
        """Whether this is a venue, with or without its year."""
        ...


@dataclass(frozen=True, slots=True)
class Reading:
    """The filters that a question names, and `topic`, what is left of it without their words."""

    filters: Filters
    topic: str


class _Found(NamedTuple):
    """A name in the question: its text, where the phrase begins and where the name ends."""

    text: str
    start: int
    end: int


class _Dated(NamedTuple):
    """Years in the question: the first and the last, and where they stand."""

    years: tuple[int, int]
    span: Span


def filters_in(question: str, *, facts: Callable[[], Facts]) -> Reading:
    """The filters that `question` names. `facts` is called only where a phrase may name one: it may load them."""
    facts = cache(facts)
    authors = [*_authors_behind(question, facts), *_owners(question, facts)]
    venues = list(_venues(question, facts))
    years = _years(question, venues, facts)
    filters = Filters(
        years=years.years if years else None,
        venues=tuple(dict.fromkeys(found.text for found in venues)),
        authors=tuple(dict.fromkeys(found.text for found in authors)),
    )
    spans = [Span(found.start, found.end) for found in (*authors, *venues)] + ([years.span] if years else [])
    return Reading(filters, _without(question, spans))


def asks_only_for_papers(topic: str) -> bool:
    """Whether a question without its filters has no subject: all papers that are left are what it asks for."""
    return set(analyze(topic)) <= _generic_terms()


@cache
def _generic_terms() -> frozenset[str]:
    return frozenset(analyze(_GENERIC))


def _authors_behind(question: str, facts: Callable[[], Facts]) -> Iterator[_Found]:
    """Authors behind "by", "papers of", "did" ..., and those that "and" adds to them."""
    for phrase in _BY.finditer(question):
        start = phrase.start("lead" if phrase["strong"] else "lead_alone")
        place = phrase.end()
        while found := _author_at(question, place, strong=bool(phrase["strong"]), facts=facts):
            yield found._replace(start=start)
            joint = _AND.match(question, found.end)
            if not joint:
                break
            start, place = found.end, joint.end()


def _author_at(question: str, place: int, *, strong: bool, facts: Callable[[], Facts]) -> _Found | None:
    """The longest name of an author that begins at `place`; less of it will do behind `strong` words ("papers by")."""
    words = _words_at(question, place, word=_NAME_WORD, most=_MOST_NAME_WORDS)
    if not words or (words[0].text[0].islower() and not strong):
        return None
    for count in range(len(words), 0, -1):
        name = question[words[0].start : words[count - 1].end]
        if _is_author(name, strong=strong, facts=facts):
            return _Found(name, words[0].start, words[count - 1].end)
    return None


def _owners(question: str, facts: Callable[[], Facts]) -> Iterator[_Found]:
    """Authors as in "Yisen Wang's papers": the longest name in front of the apostrophe."""
    for phrase in _OWNER.finditer(question):
        words = phrase["name"].split()
        for first in range(len(words)):
            name = " ".join(words[first:])
            if _is_author(name, strong=True, facts=facts):
                yield _Found(name, phrase.end("name") - len(name), phrase.end("owner"))
                break


def _is_author(name: str, *, strong: bool, facts: Callable[[], Facts]) -> bool:
    folded = fold_name(name)
    if " " in folded:
        return facts().has_author(folded)
    return strong and not name[0].islower() and (facts().has_author(folded) or facts().has_last_name(folded))


def _venues(question: str, facts: Callable[[], Facts]) -> Iterator[_Found]:
    """Venues behind "in", "at", "from" and "of", the longest that the corpus has."""
    for phrase in _AT.finditer(question):
        words = _words_at(question, phrase.end(), word=_VENUE_WORD, most=_MOST_VENUE_WORDS)
        if not words or not words[0].text[0].isupper():
            continue
        for count in range(len(words), 0, -1):
            venue = question[words[0].start : words[count - 1].end]
            if facts().has_venue(fold(venue)):
                yield _Found(venue, phrase.start(), words[count - 1].end)
                break


def _years(question: str, venues: Sequence[_Found], facts: Callable[[], Facts]) -> _Dated | None:
    """The years of "papers ... since 2023", or the year right behind a venue that the corpus has of other years."""
    for venue in venues:
        behind = _YEAR_BEHIND.match(question, venue.end)
        if behind and facts().has_years:
            return _Dated((int(behind[1]), int(behind[1])), Span(*behind.span()))
    for pattern in (_PAPERS_IN, _PAPERS_WHEN):
        found = pattern.search(question)
        if found and not _DATED_THINGS.search(found["topic"] or "") and facts().has_years:
            return _Dated(_years_of(found), Span(*found.span("when")))
    return None


def _years_of(found: re.Match[str]) -> tuple[int, int]:
    groups = found.groupdict()
    year = int(found["year"] or groups["year_alone"])
    if groups.get("last"):
        return min(year, int(found["last"])), max(year, int(found["last"]))
    word = (groups.get("word") or "in").lower()
    if word == "after":
        return year + 1, LAST_YEAR
    if word == "before":
        return FIRST_YEAR, year - 1
    if word == "until" or word.startswith("up"):
        return FIRST_YEAR, year
    return year, LAST_YEAR if word == "since" or groups.get("open") else year


def _words_at(question: str, place: int, *, word: re.Pattern[str], most: int) -> list[_Found]:
    """Up to `most` words in a row from `place` on."""
    words: list[_Found] = []
    while len(words) < most and (found := word.match(question, place)):
        words.append(_Found(found[1], found.start(1), found.end(1)))
        place = found.end()
    return words


def _without(question: str, spans: Sequence[Span]) -> str:
    """The question without what stands in `spans`, which may overlap."""
    dropped = {place for span in spans for place in range(span.start, span.end)}
    return " ".join("".join(char for place, char in enumerate(question) if place not in dropped).split())
