"""Citations: do the markers resolve, is each sentence cited, and do the cited abstracts say it (ALCE)?

ALCE is Gao et al. 2023 (arXiv 2305.14627, section 3), with five faults of its code not copied: an empty answer scores 0
in place of leaving the mean; text behind a line break is scored; `[1,2]` are two citations; `[0]` and what is out of
range are invalid, and count in the denominator of precision.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

from evals.cases.case import Case
from evals.scoring.score import Known, Score, empty, missing, share
from rag.domain import Answer, AnswerSentence, Paper
from rag.support import check_support
from rag.support.coverage import Idf
from rag.support.meta import needs_no_support

MOST_CITATIONS = 3
"""Citations of a sentence that ALCE looks at; those behind them are never precise."""
CREDIT = {"supported": 1.0, "partly": 0.5, "unsupported": 0.0}
"""TREC 2024 RAG's weights of sentence support."""
Entails = Callable[[Sequence[Paper], str], bool]
"""Whether papers together say a sentence: ALCE's phi."""


class Alce(NamedTuple):
    """Recall and precision of one answer's citations, each with the count that it is of."""

    recall: float
    sentences: int
    precision: float
    citations: int
    misses: tuple[str, ...]


def citation_validity(case: Case, answer: Answer, known: Known) -> Score | None:
    """Markers that resolve to an abstract that was read / markers; those that do not are taken out of the text."""
    read = {scored.paper.paper_id for scored in answer.retrieved}
    numbers = {citation.number for citation in answer.citations if citation.paper.paper_id in read}
    hits = [marker.number in numbers for marker in answer.markers] + [False] * answer.removed_markers
    return share(hits, of="markers")


def citation_coverage(case: Case, answer: Answer, known: Known) -> Score | None:
    """Sentences that claim something and have a valid citation / sentences that claim something."""
    if answer.outcome != "answered":
        return _without_text(case, answer)
    claims = factual(answer)
    misses = [f"“{sentence.text[:60]}”" for sentence in claims if not sentence.citations]
    if not claims and case.answerable:
        return Score(0.0, "the answer claims nothing")
    return share([bool(sentence.citations) for sentence in claims], of="sentences that claim something", misses=misses)


def citation_recall(case: Case, answer: Answer, known: Known) -> Score | None:
    """ALCE's citation recall: sentences that their citations together support / sentences."""
    return _alce_score(case, answer, known, lambda alce: Score(alce.recall, _reason(alce)))


def citation_precision(case: Case, answer: Answer, known: Known) -> Score | None:
    """ALCE's citation precision: citations that their sentence needs / citations."""
    return _alce_score(
        case,
        answer,
        known,
        lambda alce: Score(alce.precision, f"{alce.citations} citations" if alce.citations else "no citation"),
    )


def citation_f1(case: Case, answer: Answer, known: Known) -> Score | None:
    """The harmonic mean of ALCE's citation recall and precision of this answer."""

    def harmonic(alce: Alce) -> Score:
        total = alce.recall + alce.precision
        value = 2 * alce.recall * alce.precision / total if total else 0.0
        return Score(value, f"recall {alce.recall:.2f}, precision {alce.precision:.2f}; {_reason(alce)}")

    return _alce_score(case, answer, known, harmonic)


def support_precision(case: Case, answer: Answer, known: Known) -> Score | None:
    """Sentence support over cited sentences (TREC 2024 RAG): full 1, partial 0.5, none 0."""
    claims = [sentence for sentence in factual(answer) if sentence.citations]
    if answer.outcome == "failed":
        return _without_text(case, answer)
    return _support(claims, of="cited sentences")


def support_recall(case: Case, answer: Answer, known: Known) -> Score | None:
    """The same over all sentences that claim something."""
    if answer.outcome != "answered":
        return _without_text(case, answer)
    return _support(factual(answer), of="sentences")


def judged_support(case: Case, answer: Answer, known: Known) -> Score | None:
    """Sentence support over cited sentences as a judge sees it; does not apply to runs that were not judged."""
    if known.verdicts is None:
        return None
    if answer.outcome != "answered":
        return _without_text(case, answer)
    papers = {citation.number: citation.paper.paper_id for citation in answer.citations}
    said = []
    for sentence in answer.sentences:
        cited = tuple(papers[number] for number in sentence.citations if number in papers)
        if cited:
            said.append(known.verdicts.get((sentence.text, cited)))
    given = [verdict for verdict in said if verdict is not None]
    if len(given) < len(said):
        return missing(f"the judge gave no verdict on {len(said) - len(given)} of {len(said)} sentences")
    if not given:
        return empty("no cited sentences")
    return Score(sum(CREDIT[verdict] for verdict in given) / len(given), f"{len(given)} cited sentences, by a judge")


def alce(answer: Answer, *, entails: Entails) -> Alce:
    """ALCE's recall and precision of an answer's sentences; all 0 for an answer without any."""
    papers = {citation.number: citation.paper for citation in answer.citations}
    sentences = factual(answer)
    recalled = precise = cited = 0
    misses = []
    for sentence in sentences:
        numbers = sentence.citations
        used = [papers[number] for number in numbers[:MOST_CITATIONS] if number in papers]
        in_range = len(used) == len(numbers[:MOST_CITATIONS])
        is_recalled = bool(used) and in_range and entails(used, sentence.text)
        recalled += is_recalled
        cited += len(numbers)
        if is_recalled:
            precise += sum(not _is_irrelevant(used, place, sentence.text, entails) for place in range(len(used)))
        else:
            misses.append(f"“{sentence.text[:60]}”")
    cited += answer.removed_markers
    return Alce(
        recall=recalled / len(sentences) if sentences else 0.0,
        sentences=len(sentences),
        precision=precise / cited if cited else 0.0,
        citations=cited,
        misses=tuple(misses),
    )


def factual(answer: Answer) -> list[AnswerSentence]:
    """The sentences that claim something: no headings, questions, lead-ins, or remarks on what the sources lack."""
    return [sentence for sentence in answer.sentences if not needs_no_support(sentence.text)]


def lexical_entailment(known: Known) -> Entails:
    """Phi by the words, names and numbers of the abstracts, as `rag.support` judges them."""

    def entails(papers: Sequence[Paper], sentence: str) -> bool:
        about = tuple((paper.title, paper.abstract, paper.authors, paper.year) for paper in papers)
        return _supports(known.idf, about, sentence)

    return entails


@lru_cache(maxsize=8192)
def _supports(idf: Idf, papers: tuple[tuple[str, str, tuple[str, ...], int | None], ...], sentence: str) -> bool:
    verdict = check_support(
        sentence,
        abstracts=[abstract for _, abstract, _, _ in papers],
        idf=idf,
        known=[text for title, _, authors, year in papers for text in (title, *authors, str(year or ""))],
    )
    return verdict.support == "supported"


def _is_irrelevant(used: Sequence[Paper], place: int, sentence: str, entails: Entails) -> bool:
    """Whether a citation does not support the sentence and the others do without it."""
    others = [paper for index, paper in enumerate(used) if index != place]
    return bool(others) and not entails([used[place]], sentence) and entails(others, sentence)


def _alce_score(case: Case, answer: Answer, known: Known, make: Callable[[Alce], Score]) -> Score | None:
    if answer.outcome != "answered":
        return _without_text(case, answer)
    return make(alce(answer, entails=lexical_entailment(known)))


def _without_text(case: Case, answer: Answer) -> Score | None:
    """0 for a question that has an answer and got none, also by a fault; else there is nothing to cite."""
    if answer.outcome == "failed":
        return Score(0.0, "the call failed")
    return Score(0.0, "no answer") if case.answerable else None


def _support(sentences: Sequence[AnswerSentence], *, of: str) -> Score:
    if not sentences:
        return empty(f"no {of}")
    faulty = [sentence.reason for sentence in sentences if sentence.support != "supported"]
    value = sum(CREDIT[sentence.support] for sentence in sentences) / len(sentences)
    return Score(value, f"{len(sentences)} {of}" + (f"; {'; '.join(faulty[:3])}" if faulty else ""))


def _reason(alce: Alce) -> str:
    named = f"; not supported by what it cites: {'; '.join(alce.misses[:3])}" if alce.misses else ""
    return f"{alce.sentences} sentences{named}"
