"""Questions that take for granted what the abstract contradicts: a count, a number, a direction, another model."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rag.domain import Cite, Label, Piece, Quote, RankedSentence, Source
from rag.questions import Question, read_question
from rag.support.clashes import CLASHES
from rag.support.contradictions import find_contradictions
from rag.support.coverage import Coverage, cover, default_idf
from rag.support.text import SentenceView, view_sentence


class Correction(NamedTuple):
    """What an abstract says in place of what the question takes for granted, in one clause, and the sentence."""

    reason: str
    sentence: RankedSentence


_WINS = re.compile(
    r"\b(?:outperform|surpass|exceed|superior|better than|beats?\b|state[- ]of[- ]the[- ]art)", re.IGNORECASE
)
_LOSES = re.compile(
    r"\b(?:(?:fails?|failed|unable) to (?:beat|outperform|surpass|match|improve)|underperform\w*"
    r"|los(?:e|es|t) (?:to|against)"
    r"|worse than|inferior to|falls? (?:short|behind)|(?:does|do|did)(?: not|n['’]t)"
    r" (?:beat|outperform|surpass|improve))\b",
    re.IGNORECASE,
)
_IN_DOUBT = frozenset({"negation", "opposite"})
"""Findings that a question gives rise to by its mere wording, unless it asks why something is so."""
_WHY = re.compile(r"^\W*(?:why|how come|what makes|given that|since)\b", re.IGNORECASE)
_VERSION = re.compile(r"([A-Za-z]{3,})-?v?\d+")
_FIGURE_COVERAGE = 0.5
_LOSES_COVERAGE = 0.4


def find_correction(question: Question, source: Source) -> Correction | None:
    """What the abstract of `source` says otherwise than `question` takes for granted; None where nothing is seen."""
    if question.own:
        question = read_question(question.own)
    for find in (_by_contradiction, _by_clash, _by_figure, _by_loss, _by_version):
        correction = find(question, source)
        if correction:
            return correction
    return None


def write_correction(correction: Correction, source: Source) -> Iterator[Piece]:
    """The correction as an answer: what is otherwise, and the sentence that says so, quoted and cited."""
    yield Label(f"{correction.reason[0].upper()}{correction.reason[1:]}: ")
    yield Quote(correction.sentence.text)
    yield Cite(source.number)


def _by_contradiction(question: Question, source: Source) -> Correction | None:
    """By the checks of `rag.support`: another count, the opposite direction, names the other way round."""
    claim, views = view_sentence(question.english), _views(source)
    kinds = {
        finding.kind
        for finding in find_contradictions(cover(claim, views, idf=default_idf))
        if finding.kind not in _IN_DOUBT or _WHY.search(question.english)
    }
    for sentence, view in _in_order(source, views):
        for finding in find_contradictions(cover(claim, [view], idf=default_idf)) if kinds else ():
            if finding.kind in kinds:
                return Correction(finding.reason.replace("the cited abstract", "the abstract"), sentence)
    return None


def _by_clash(question: Question, source: Source) -> Correction | None:
    for clash in CLASHES:
        asked = clash.claimed.search(question.english)
        if not asked or clash.said.search(question.english) or clash.claimed.search(source.paper.abstract):
            continue
        for sentence in source.sentences:
            if said := clash.said.search(sentence.text):
                return Correction(f"the abstract says “{said[0]}”, which rules out “{asked[0]}”", sentence)
    return None


def _by_figure(question: Question, source: Source) -> Correction | None:
    """A percentage or decimal that the abstract does not have, where it has another of what is asked about."""
    claim, views = view_sentence(question.english), _views(source)
    told = [quantity for view in views for quantity in view.quantities]
    for quantity in claim.quantities:
        if quantity.spelled or (quantity.unit == "plain" and not quantity.decimals):
            continue
        if any(quantity.matches(other) for other in told):
            continue
        for sentence, view in _in_order(source, views):
            others = [other for other in view.quantities if other.unit == quantity.unit and not other.spelled]
            if others and _share(claim, view) >= _FIGURE_COVERAGE:
                said = " and ".join(f"“{surface}”" for surface in dict.fromkeys(other.surface for other in others))
                return Correction(f"the abstract says {said}, not “{quantity.surface}”", sentence)
    return None


def _by_loss(question: Question, source: Source) -> Correction | None:
    """A method that is said to lose where the abstract says that it wins."""
    loses = _LOSES.search(question.english)
    if not loses:
        return None
    claim = view_sentence(question.english)
    for sentence, view in _in_order(source, _views(source)):
        wins = _WINS.search(sentence.text)
        if wins and not _LOSES.search(sentence.text) and _share(claim, view) >= _LOSES_COVERAGE:
            return Correction(f"the abstract says the opposite of “{loses[0]}”", sentence)
    return None


def _by_version(question: Question, source: Source) -> Correction | None:
    """Llama-2 where the abstract has Llama-3.1 and no other. A part of a compound may be what the abstract has."""
    abstract = source.paper.abstract.lower()
    for name in question.names:
        stem = _VERSION.match(name)
        if not stem or stem[0].lower() in abstract:
            continue
        other = re.compile(
            rf"(?<!\w){re.escape(stem[1])}-?v?\d[\w.-]*\w|(?<!\w){re.escape(stem[1])}-?v?\d", re.IGNORECASE
        )
        for sentence in source.sentences:
            if said := other.search(sentence.text):
                return Correction(f"the abstract says “{said[0]}”, not “{name}”", sentence)
    return None


def _views(source: Source) -> list[SentenceView]:
    return [view_sentence(sentence.text) for sentence in source.sentences]


def _in_order(source: Source, views: Sequence[SentenceView]) -> list[tuple[RankedSentence, SentenceView]]:
    """The sentences with their views, the likeliest first."""
    return sorted(zip(source.sentences, views, strict=True), key=lambda pair: -pair[0].probability)


def _share(claim: SentenceView, view: SentenceView) -> float:
    coverage: Coverage = cover(claim, [view], idf=default_idf)
    return coverage.of(coverage.window[:1]) if coverage.window else 0.0
