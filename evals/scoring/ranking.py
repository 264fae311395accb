"""Retrieval by paper: did the papers that hold the answer come up, and how high?"""

from collections.abc import Callable

from evals.cases.case import Case
from evals.metrics import ndcg, recall, reciprocal_rank
from evals.scoring.score import Known, Measure, Score, empty, missing, share
from rag.domain import Answer

FULL, PARTLY = 2, 1
"""Grades of `papers` and of `papers_partial`: recall and MRR count the former, nDCG both."""


def recall_at(k: int) -> Measure:
    """Relevant papers among the first `k` / relevant papers."""
    return _ranking_measure(lambda ranking, gains: recall(ranking, gains, k=k, least=FULL), k)


def ndcg_at(k: int) -> Measure:
    """nDCG@k with the gain 2^grade - 1."""
    return _ranking_measure(lambda ranking, gains: ndcg(ranking, gains, k=k), k)


def reciprocal_rank_at(k: int) -> Measure:
    """1 / rank of the first paper that holds the answer, 0 where none is among the first `k`."""
    return _ranking_measure(lambda ranking, gains: reciprocal_rank(ranking, gains, k=k, least=FULL), k)


def _ranking_measure(formula: Callable[[list[str], dict[str, int]], float], k: int) -> Measure:
    def measure(case: Case, answer: Answer, known: Known) -> Score | None:
        if not case.answerable or not case.papers:
            return None
        if lacking := _lacking(case, known):
            return lacking
        ranking = [scored.paper.paper_id for scored in answer.retrieved]
        gains = dict.fromkeys(case.papers_partial, PARTLY) | dict.fromkeys(case.papers, FULL)
        value = formula(ranking, gains)
        places = [f"{paper} at {ranking.index(paper) + 1}" for paper in sorted(case.papers) if paper in ranking]
        depth = f" of {len(ranking)} retrieved" if len(ranking) < k else ""
        return Score(value, (", ".join(places) or "no right paper retrieved") + depth)

    return measure


def set_recall(case: Case, answer: Answer, known: Known) -> Score | None:
    """Of the papers that a "which papers" question asks for, those that the answer cites."""
    return cited_recall(case, answer, known) if _asks_which(case) else None


def set_precision(case: Case, answer: Answer, known: Known) -> Score | None:
    """Of the papers that the answer to a "which papers" question cites, those that it asks for."""
    return cited_precision(case, answer, known) if _asks_which(case) else None


def cited_recall(case: Case, answer: Answer, known: Known) -> Score | None:
    """Of the papers that hold the answer, those that it cites."""
    if not case.answerable or not case.papers:
        return None
    if lacking := _lacking(case, known):
        return lacking
    cited = _cited(answer)
    wanted = sorted(case.papers)
    return share([paper in cited for paper in wanted], of="right papers", misses=[p for p in wanted if p not in cited])


def cited_precision(case: Case, answer: Answer, known: Known) -> Score | None:
    """Of the cited papers, those that hold the answer, or a part of it."""
    if not case.answerable or not case.papers:
        return None
    if case.scope == "seed" and not known.is_fully_judged:
        return empty("relevance is judged for the packaged papers only")
    if answer.outcome == "failed":
        return Score(0.0, "the call failed")
    cited = sorted(_cited(answer))
    right = case.papers | case.papers_partial
    return share([paper in right for paper in cited], of="cited papers", misses=[p for p in cited if p not in right])


def first_cited(case: Case, answer: Answer, known: Known) -> Score | None:
    """1 where the first cited paper is one that holds the answer."""
    if not case.answerable or not case.papers:
        return None
    if lacking := _lacking(case, known):
        return lacking
    first = answer.citations[0].paper.paper_id if answer.citations else None
    return Score(float(first in case.papers), f"{first} is cited first" if first else "nothing is cited")


def context_use(case: Case, answer: Answer, known: Known) -> Score | None:
    """Of the right papers that were retrieved, those that the answer cites."""
    if not case.answerable or not case.papers:
        return None
    retrieved = sorted({scored.paper.paper_id for scored in answer.retrieved} & case.papers)
    cited = _cited(answer)
    misses = [paper for paper in retrieved if paper not in cited]
    return share([paper in cited for paper in retrieved], of="right papers retrieved", misses=misses)


def _cited(answer: Answer) -> set[str]:
    """The ids of the cited papers; a failed call cites none, whatever it had written."""
    return set() if answer.outcome == "failed" else {citation.paper.paper_id for citation in answer.citations}


def _asks_which(case: Case) -> bool:
    return case.kind == "cross/which"


def _lacking(case: Case, known: Known) -> Score | None:
    absent = sorted(paper for paper in case.papers if not known.holds(paper))
    return missing(f"the corpus does not hold {', '.join(absent)}") if absent else None
