"""Whether anything retrieved bears on a question at all; if not, the corpus does not hold the answer."""

from collections.abc import Callable, Sequence
from math import exp
from typing import NamedTuple

from rag.domain import ScoredPaper, Source
from rag.keyword import analyze
from rag.questions import Question


class Relevance(NamedTuple):
    """What speaks for the corpus holding an answer, each in 0..1 (`cosine` in -1..1)."""

    cosine: float
    sentence: float
    coverage: float
    named: float


# Logistic regression; see `relevance`.
WEIGHTS = Relevance(0, 0, 0, 0)
BIAS = 1.0
THRESHOLD = 0.5


def bears_on(
    question: Question, sources: Sequence[Source], *, retrieved: Sequence[ScoredPaper], idf: Callable[[str], float]
) -> bool:
    """Whether the retrieved papers bear on `question`."""
    if not sources or not question.terms:
        return False
    features = relevance(question, sources, retrieved=retrieved, idf=idf)
    return 1 / (1 + exp(-BIAS - sum(w * x for w, x in zip(WEIGHTS, features, strict=True)))) >= THRESHOLD


def relevance(
    question: Question, sources: Sequence[Source], *, retrieved: Sequence[ScoredPaper], idf: Callable[[str], float]
) -> Relevance:
    """The best of the retrieved papers, by meaning, by the share of the question's rare words, and by its names."""
    weights = {term: idf(term) for term in question.terms}
    total = sum(weights.values()) or 1.0
    coverage = 0.0
    for source in sources:
        terms = set(analyze(f"{source.paper.title} {source.paper.abstract}"))
        coverage = max(coverage, sum(weights[term] for term in question.terms & terms) / total)
    return Relevance(
        cosine=max((scored.stages.get("dense", 0.0) for scored in retrieved), default=0.0),
        sentence=max((sentence.probability for source in sources for sentence in source.sentences), default=0.0),
        coverage=coverage,
        named=float(any(source.named for source in sources)),
    )
