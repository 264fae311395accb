"""Whether anything retrieved bears on a question at all; if not, the corpus does not hold the answer."""

from collections.abc import Callable, Sequence
from math import exp
from typing import NamedTuple

from rag.clarifying import content_terms
from rag.domain import ScoredPaper, Source
from rag.glossary import unread_share
from rag.keyword import analyze
from rag.questions import Question


class Relevance(NamedTuple):
    """What speaks for the corpus holding an answer: cosines in -1..1, the others in 0..1."""

    paper: float
    """Best cosine of the question and a part of an abstract."""
    sentence: float
    """Best cosine of the question and a sentence."""
    coverage: float
    """Share of the question's words, weighted by rarity, that the best paper holds."""
    named: float
    """1 where a retrieved paper holds a name of the question that few papers hold."""


# Logistic regression on the gold development set and 60 questions on other subjects, asked of the 19 seed papers and of
# 1,430 ICML papers, both classes weighing the same. At this threshold the seed papers answer all single questions and 2
# of the 68 far ones; a threshold alone cannot tell questions that are near to a paper but not answered by it.
WEIGHTS = Relevance(paper=1.82, sentence=8.09, coverage=1.9, named=3.66)
BIAS = -4.73
THRESHOLD = 0.34
SMOOTHING = 1.0
"""Unknown words that each question is taken to have beside its own, so that one common word is not all of it."""


UNREAD = 0.5
"""Share of a Chinese question from which what was not understood is what it is about."""


def is_unread(question: Question) -> bool:
    """Whether a Chinese question tells its subject by characters that the glossary does not know.

    Two words that are understood, beside those that any question may have, are enough to look for it.
    """
    return unread_share(question.own or question.text) > UNREAD and len(content_terms(question.english)) < 2


def bears_on(
    question: Question, sources: Sequence[Source], *, retrieved: Sequence[ScoredPaper], idf: Callable[[str], float]
) -> bool:
    """Whether the retrieved papers bear on `question`."""
    if not sources or not question.terms or is_unread(question):
        return False
    features = relevance(question, sources, retrieved=retrieved, idf=idf)
    return 1 / (1 + exp(-BIAS - sum(w * x for w, x in zip(WEIGHTS, features, strict=True)))) >= THRESHOLD


def relevance(
    question: Question, sources: Sequence[Source], *, retrieved: Sequence[ScoredPaper], idf: Callable[[str], float]
) -> Relevance:
    """The best of the retrieved papers, by meaning, by the share of the question's rare words, and by its names."""
    weights = {term: idf(term) for term in question.terms}
    total = sum(weights.values()) + idf("") * SMOOTHING

    def covered(text: str) -> float:
        return sum(weights[term] for term in question.terms & frozenset(analyze(text))) / total

    sentences = [sentence for source in sources for sentence in source.sentences]
    return Relevance(
        paper=max((scored.stages.get("dense", 0.0) for scored in retrieved), default=0.0),
        sentence=max((sentence.cosine for sentence in sentences), default=0.0),
        coverage=max(covered(f"{source.paper.title} {source.paper.abstract}") for source in sources),
        named=float(any(source.named for source in sources)),
    )
