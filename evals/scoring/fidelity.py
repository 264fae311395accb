"""What an answer takes from the abstracts word for word: quotations, numbers, names and addresses."""

import re
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import Literal, NamedTuple

from evals.cases.case import Case
from evals.scoring.score import Known, Measure, Score, empty, share
from rag.domain import Answer, AnswerSentence, Paper
from rag.support.text import SentenceView, view_sentence, view_sentences
from rag.textnorm import contains_verbatim, match_form, quotations

Found = Literal["exact", "normalised", "near", "misattributed", "nowhere"]
NEAR = 0.95
"""Least similarity of a near quotation: 2 * matching characters / all characters of both (difflib's ratio)."""
_URL = re.compile(r"https?://[^\s<>()\[\]]+[^\s<>()\[\].,;:!?'\"]")


class QuoteCheck(NamedTuple):
    """A quoted passage and where it was found, the first that holds of: word for word in a cited abstract, there but
    for typesetting, there nearly, in another retrieved abstract, nowhere."""

    quote: str
    found: Found


def check_quotes(answer: Answer) -> list[QuoteCheck]:
    """The quotations of four words and more. Every sentence of the extractive writer is one."""
    return [
        QuoteCheck(quote, _find(quote, cited=[p.abstract for p in papers], others=_others(answer, papers)))
        for sentence, papers in _with_papers(answer)
        for quote in ([sentence.text] if answer.writer == "extractive" else quotations(sentence.text))
    ]


def quote_accuracy(*levels: Found) -> Measure:
    """The share of quotations that were found at one of `levels`."""

    def measure(case: Case, answer: Answer, known: Known) -> Score | None:
        checks = check_quotes(answer)
        misses = [f"“{check.quote[:60]}” is {check.found}" for check in checks if check.found not in levels]
        return share([check.found in levels for check in checks], of="quotations", misses=misses)

    return measure


def number_precision(case: Case, answer: Answer, known: Known) -> Score | None:
    """Numbers of the answer that stand in an abstract that their sentence cites / numbers."""
    return _precision(answer, of="numbers", read=_numbers)


def name_precision(case: Case, answer: Answer, known: Known) -> Score | None:
    """The same for names (CamelCase, ALL CAPS, with figures) and web addresses; titles and authors count too."""
    return _precision(answer, of="names", read=_names)


Check = tuple[str, bool]


def _precision(
    answer: Answer, *, of: str, read: Callable[[AnswerSentence, Sequence[Paper]], Iterator[Check]]
) -> Score | None:
    if answer.outcome == "failed":
        return empty("the call failed")
    checks = [check for sentence, papers in _with_papers(answer) for check in read(sentence, papers)]
    return share([ok for _, ok in checks], of=of, misses=[surface for surface, ok in checks if not ok])


def _numbers(sentence: AnswerSentence, papers: Sequence[Paper]) -> Iterator[Check]:
    given = [quantity for view in _views(papers) for quantity in view.quantities]
    for quantity in view_sentence(_URL.sub("", sentence.text)).quantities:
        if not quantity.spelled:
            yield quantity.surface, any(quantity.matches(other) for other in given)


def _names(sentence: AnswerSentence, papers: Sequence[Paper]) -> Iterator[Check]:
    given = {token.surface.removesuffix("s").lower() for view in _views(papers) for token in view.tokens}
    terms = {term for view in _views(papers) for term in view.terms}
    for token in view_sentence(_URL.sub("", sentence.text)).tokens:
        if token.is_name:
            yield token.surface, token.surface.removesuffix("s").lower() in given or token.terms[0] in terms
    for url in _URL.findall(sentence.text):
        yield url, any(url in paper.abstract or url == paper.url for paper in papers)


def _views(papers: Sequence[Paper]) -> list[SentenceView]:
    """Everything that is known of the papers, analysed."""
    about = [view_sentence(" . ".join((paper.title, *paper.authors, str(paper.year or "")))) for paper in papers]
    return about + [view for paper in papers for view in view_sentences(paper.abstract)]


def _with_papers(answer: Answer) -> Iterator[tuple[AnswerSentence, list[Paper]]]:
    papers = {citation.number: citation.paper for citation in answer.citations}
    for sentence in answer.sentences:
        yield sentence, [papers[number] for number in sentence.citations if number in papers]


def _others(answer: Answer, cited: Sequence[Paper]) -> list[str]:
    known = {paper.paper_id for paper in cited}
    return [scored.paper.abstract for scored in answer.retrieved if scored.paper.paper_id not in known]


def _find(quote: str, *, cited: Sequence[str], others: Sequence[str]) -> Found:
    if any(quote in abstract for abstract in cited):
        return "exact"
    if any(contains_verbatim(abstract, quote=quote) for abstract in cited):
        return "normalised"
    if any(similarity(quote, abstract) >= NEAR for abstract in cited):
        return "near"
    return "misattributed" if any(contains_verbatim(text, quote=quote) for text in others) else "nowhere"


def similarity(quote: str, text: str) -> float:
    """How like `quote` its best place in `text` is, 0..1: the passage of its length around the longest match."""
    wanted, given = match_form(quote), match_form(text)
    if not wanted or not given:
        return 0.0
    match = SequenceMatcher(None, wanted, given, autojunk=False).find_longest_match()
    start = max(0, match.b - match.a)
    return SequenceMatcher(None, wanted, given[start : start + len(wanted)], autojunk=False).ratio()
