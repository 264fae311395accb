"""Which sentences of an abstract bear on a question: a small ranker over words, meaning and what is asked for."""

import re
from collections.abc import Sequence
from functools import lru_cache
from math import exp, log
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rag.bearing import bearing, probability, subjects_of
from rag.domain import RankedSentence, ScoredPaper, Source, Span
from rag.keyword import analyze
from rag.naming import calls
from rag.questions import ASKS, Question, read_question
from rag.sentences import split_sentences

if TYPE_CHECKING:
    from rag.corpus import Corpus
    from rag.embedding import Embedder


class Features(NamedTuple):
    """What the ranker sees of a sentence, each in 0..1 (`cosine` in -1..1)."""

    cosine: float
    coverage: float
    problem: float
    method: float
    result: float
    evaluation: float
    theory: float
    availability: float
    number: float
    expansion: float
    definition: float
    opening: float


# Logistic regression on the sentences of 91 questions of the gold development set (its single questions, their
# paraphrases and its follow-ups in standalone form) against its gold quotes; `python -m evals.evidence` fits it anew.
WEIGHTS = Features(
    cosine=1.45,
    coverage=3.42,
    problem=1.75,
    method=1.33,
    result=1.06,
    evaluation=2.34,
    theory=0.39,
    availability=2.68,
    number=1.56,
    expansion=3.58,
    definition=1.41,
    opening=-1.17,
)
BIAS = -4.33

LONGEST_ACRONYM = 3
DISTINCTIVE_PAPERS = 2
DISTINCTIVE_SHARE = 0.001
"""A name that at most this many papers, or this share of them, hold tells which paper is meant."""

_INTRODUCES = re.compile(r"\b(?:introduc|propos|present|develop|call|term|name|study|defin)\w*", re.IGNORECASE)
_REFERS_BACK = re.compile(r"^\W*(?:[\w\s-]{0,40},\s*)?(?:this|these|it|they|such)\b", re.IGNORECASE)
_IS = re.compile(r"\b(?:is|are|refers? to|denotes?)\b|:")


class _Abstract(NamedTuple):
    spans: tuple[Span, ...]
    texts: tuple[str, ...]
    terms: tuple[frozenset[str], ...]


@lru_cache(maxsize=4096)
def _read_abstract(abstract: str) -> _Abstract:
    spans = split_sentences(abstract)
    texts = tuple(abstract[span.start : span.end] for span in spans)
    return _Abstract(spans, texts, tuple(frozenset(analyze(text)) for text in texts))


def find_evidence(
    question: Question, papers: Sequence[ScoredPaper], *, corpus: "Corpus", embedder: "Embedder"
) -> tuple[Source, ...]:
    """The retrieved papers as numbered sources, their sentences ranked by how likely they hold what is asked.

    Where a list is asked for, a sentence's cosine is that to the list's subject, or to the part of it that is nearest.
    Where the conversation adds to the user's own words, a sentence's probability is the mean of both readings: what was
    added tells the paper, and what is asked of it only the own words do.
    """
    subjects = subjects_of(question.many)
    own = read_question(question.own) if question.own not in ("", question.text) else None
    own_vectors = embedder.embed(own.texts) if own else None
    vectors = embedder.embed([*question.texts, *subjects])
    asked, listed = vectors[: len(question.texts)], vectors[len(question.texts) :]
    distinctive = {name for name in question.names if _is_distinctive(name, corpus)}
    sources = []
    for number, scored in enumerate(papers, start=1):
        row = corpus.row_of(scored.paper.paper_id)
        if row is None:
            raise ValueError(f"retrieved paper {scored.paper.paper_id} is not in corpus {corpus.name}")
        paper, sentence_vectors = scored.paper, corpus.sentence_vectors(row).T
        text = f"{paper.title} {paper.abstract}"
        terms = set(analyze(text))
        named = frozenset(name for name in distinctive if set(analyze(name)) <= terms)
        named |= frozenset(filter(None, [calls(question.text, paper.title)]))
        sentences = rank_sentences(question, paper.abstract, cosines=asked @ sentence_vectors)
        if own and own_vectors is not None:
            sentences = _mean(sentences, rank_sentences(own, paper.abstract, cosines=own_vectors @ sentence_vectors))
        bears = 1.0 if question.lists else None
        if subjects and question.lists:
            nearest = (listed @ sentence_vectors).max(axis=0).tolist()
            sentences = tuple(s._replace(cosine=cosine) for s, cosine in zip(sentences, nearest, strict=True))
            read = _read_abstract(paper.abstract)
            bears = probability(
                bearing(question.many, title=paper.title, sentences=read.terms, cosines=nearest, idf=corpus.keyword.idf)
            )
        sources.append(Source(number, paper, sentences, scored.score, named, bears))
    return tuple(sources)


def _mean(one: Sequence[RankedSentence], other: Sequence[RankedSentence]) -> tuple[RankedSentence, ...]:
    """The sentences of `one` with the mean probability of both rankings."""
    pairs = zip(one, other, strict=True)
    return tuple(a._replace(probability=(a.probability + b.probability) / 2) for a, b in pairs)


def _is_distinctive(name: str, corpus: "Corpus") -> bool:
    """Whether at most a few papers hold `name`, judged by the rarest of its terms. RL and GPU are fields, not names."""
    if len(name) <= LONGEST_ACRONYM and name.isupper():
        return False
    papers = len(corpus)
    few = max(DISTINCTIVE_PAPERS, papers * DISTINCTIVE_SHARE)
    least = log(1 + (papers - few + 0.5) / (few + 0.5))  # the idf of a term that `few` papers hold
    return max((corpus.keyword.idf(term) for term in analyze(name)), default=0.0) >= least - 1e-9


def rank_sentences(question: Question, abstract: str, *, cosines: NDArray[np.float32]) -> tuple[RankedSentence, ...]:
    """The sentences of `abstract` in their order, each with its probability of holding what `question` asks.

    `cosines` has a row for each of `question.texts` and a column for each sentence, in the order of `split_sentences`.
    What answers a part of a compound question answers the question.
    """
    read = _read_abstract(abstract)
    best = [0.0] * len(read.texts)
    for row, asked in zip(cosines.tolist(), (question, *question.parts), strict=True):
        for index, features in enumerate(sentence_features(asked, abstract, cosines=row)):
            best[index] = max(best[index], _probability(features))
    whole = cosines[0].tolist()
    return tuple(RankedSentence(*parts) for parts in zip(read.spans, read.texts, best, whole, strict=True))


def _probability(features: Features) -> float:
    return 1 / (1 + exp(-BIAS - sum(weight * value for weight, value in zip(WEIGHTS, features, strict=True))))


def sentence_features(question: Question, abstract: str, *, cosines: Sequence[float]) -> tuple[Features, ...]:
    """The ranker's features of each sentence of `abstract`."""
    read = _read_abstract(abstract)
    weights = _term_weights(question, read)
    total = sum(weights.values()) or 1.0
    return tuple(
        Features(
            cosine=float(cosines[index]),
            coverage=sum(weights[term] for term in question.terms & read.terms[index]) / total,
            expansion=float(question.expands and any(_expands(name, text) for name in question.names)),
            definition=float(_defines(question, read, index)),
            opening=float(index == 0),
            **{
                name: float(name in question.asks and ask.sentence.search(text) is not None)
                for name, ask in ASKS.items()
            },
        )
        for index, text in enumerate(read.texts)
    )


def _term_weights(question: Question, read: _Abstract) -> dict[str, float]:
    """Inverse document frequency within the abstract (a document is a sentence; the formula is BM25's).

    A term of one sentence tells most; the name of the abstract's own method, which most of them hold, tells nothing.
    """
    count = len(read.terms)
    found = {term: sum(term in terms for terms in read.terms) for term in question.terms}
    return {term: log(1 + (count - n + 0.5) / (n + 0.5)) if n else 0.0 for term, n in found.items()}


def _expands(name: str, sentence: str) -> bool:
    """Whether the sentence spells `name` out: "Long Name (NAME)" or "NAME: Long Name"."""
    escaped = re.escape(name)
    return bool(
        re.search(rf"\w\W+\({escaped}s?\b", sentence)
        or re.search(rf"\b{escaped}\*{{0,2}}(?::|,? (?:which )?stands for|\s—)\s*\W*[A-Z]", sentence)
    )


def _defines(question: Question, read: _Abstract, index: int) -> bool:
    """Whether the sentence introduces what the question wants defined, or refers back to a sentence that does."""
    wanted = question.defines
    if not wanted:
        return False
    if wanted <= read.terms[index]:
        return bool(_INTRODUCES.search(read.texts[index]) or _IS.search(read.texts[index]))
    before = index - 1
    return (
        before >= 0
        and wanted <= read.terms[before]
        and _INTRODUCES.search(read.texts[before]) is not None
        and _REFERS_BACK.search(read.texts[index]) is not None
    )
