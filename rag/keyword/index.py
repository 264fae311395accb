"""The keyword index: bm25s over the fields of papers, built once and then memory-mapped."""

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rag.domain import Paper
from rag.keyword.analysis import analyze
from rag.keyword.fuzzy import FuzzyTerms

if TYPE_CHECKING:
    import bm25s

K1, B = 1.2, 0.75
"""BM25's usual constants; k1 of .9 to 1.5 and b of .4 to .75 moved SciFact train claims by less than .005 nDCG@10."""
TITLE_REPEATS = 2
"""A title's term counts as often; 1 to 3 on SciFact, Cranfield and CSFCube: flat from 2."""
AUTHOR_WEIGHT = 0.5
"""A name in the question finds its papers, and an author called Bell does not beat a paper on Bell inequalities."""
_TEXT, _AUTHORS, _FUZZY = "text", "authors", "fuzzy"


class KeywordHits(NamedTuple):
    """Papers that share a term with the query: rows int32 (m,), BM25 scores float32 (m,) > 0, best first.

    `ceiling` is what no text can exceed: the sum of the idf of the query's known terms, each as often as it is asked.
    Only a paper that has a term in its text and among its authors could come above it.
    """

    paper_rows: NDArray[np.int32]
    scores: NDArray[np.float32]
    ceiling: float


class KeywordIndex:
    """BM25 over papers; a row is a paper's place in the sequence that the index was built from."""

    def __init__(self, *, text: "bm25s.BM25", authors: "bm25s.BM25", fuzzy: FuzzyTerms) -> None:
        self._text, self._authors, self._fuzzy = text, authors, fuzzy

    @classmethod
    def build(cls, papers: Iterable[Paper]) -> "KeywordIndex":
        """Index `papers`: title and abstract as one text in which the title's terms count more, authors apart."""
        text_terms, author_terms = _FieldBuilder(), _FieldBuilder()
        for paper in papers:
            text_terms.add(analyze(paper.title) * TITLE_REPEATS + analyze(paper.abstract))
            author_terms.add(analyze(" ".join(paper.authors)))
        text, authors = text_terms.finish(), author_terms.finish()
        fuzzy = FuzzyTerms.build(text.vocab_dict, authors.vocab_dict)
        return cls(text=text, authors=authors, fuzzy=fuzzy)

    def save(self, folder: Path) -> None:
        """Write the index into `folder`, which is made if missing."""
        self._text.save(folder / _TEXT, show_progress=False)
        self._authors.save(folder / _AUTHORS, show_progress=False)
        self._fuzzy.save(folder / _FUZZY)

    @classmethod
    def load(cls, folder: Path) -> "KeywordIndex":
        """Open a saved index; its postings stay on disk and are mapped into memory."""
        import bm25s

        text = bm25s.BM25.load(folder / _TEXT, mmap=True, show_progress=False)
        authors = bm25s.BM25.load(folder / _AUTHORS, mmap=True, show_progress=False)
        fuzzy = FuzzyTerms.load(folder / _FUZZY, text.vocab_dict, authors.vocab_dict)
        return cls(text=text, authors=authors, fuzzy=fuzzy)

    def search(self, query: str, *, n: int, allowed: NDArray[np.bool_] | None = None) -> KeywordHits:
        """The `n` best papers for `query`; fewer where fewer share a term with it. Equal scores: lower row first.

        A term that no paper has is looked up as the known term next to it, for less than that term's own weight. With
        `allowed`, a flag for each paper, only such papers are given; their scores are the same.
        """
        terms = analyze(query)
        scores = self._score(terms)
        ceiling = sum(map(self._most, terms))
        for term, weight in self._fuzzy.near(terms):
            scores += weight * self._score([term])
            ceiling += weight * self._most(term)
        if allowed is not None:
            scores = np.where(allowed, scores, np.float32(0))
        return _best(scores, n=n, ceiling=ceiling)

    def _score(self, terms: Sequence[str]) -> NDArray[np.float32]:
        return _scores(self._text, terms) + AUTHOR_WEIGHT * _scores(self._authors, terms)

    def _most(self, term: str) -> float:
        """What a paper gets for `term` at most, by its text or by its authors; 0 for an unknown one."""
        text = self.idf(term) if term in self._text.vocab_dict else 0.0
        return max(text, AUTHOR_WEIGHT * _idf(self._authors, term) if term in self._authors.vocab_dict else 0.0)

    def idf(self, term: str) -> float:
        """Inverse document frequency of an analysed term in title and abstract, as BM25 counts it (natural log).

        ln(1 + (N - df + 0.5) / (df + 0.5)): Robertson and Zaragoza 2009, in Lucene's form that is never negative. A
        term that no paper has gets the most that a term of this corpus could have (df = 0).
        """
        return _idf(self._text, term)


class _FieldBuilder:
    """Collects the terms of one field, paper by paper, as numbers."""

    def __init__(self) -> None:
        self._vocabulary: dict[str, int] = {"": 0}
        self._papers: list[list[int]] = []

    def add(self, terms: Sequence[str]) -> None:
        numbers = [self._vocabulary.setdefault(term, len(self._vocabulary)) for term in terms]
        self._papers.append(numbers or [0])  # bm25s cannot index a text without terms: "" stands in for it

    def finish(self) -> "bm25s.BM25":
        import bm25s

        index = bm25s.BM25(k1=K1, b=B, method="lucene", csc_backend="numpy")
        index.index((self._papers or [[0]], self._vocabulary), show_progress=False)
        return index


def _idf(index: "bm25s.BM25", term: str) -> float:
    number, starts = index.vocab_dict.get(term), index.scores["indptr"]
    frequency = 0 if number is None else int(starts[number + 1] - starts[number])
    return math.log(1 + (index.scores["num_docs"] - frequency + 0.5) / (frequency + 0.5))


def _scores(index: "bm25s.BM25", terms: Sequence[str]) -> NDArray[np.float32]:
    scores: NDArray[np.float32] = index.get_scores_from_ids(index.get_tokens_ids(list(terms)))
    return scores


def _best(scores: NDArray[np.float32], *, n: int, ceiling: float) -> KeywordHits:
    rows = np.flatnonzero(scores > 0)
    if len(rows) > n > 0:
        least = np.partition(scores[rows], len(rows) - n)[len(rows) - n]
        rows = rows[scores[rows] >= least]
    order = np.argsort(-scores[rows], kind="stable")[: max(n, 0)]
    return KeywordHits(rows[order].astype(np.int32), scores[rows[order]].astype(np.float32), ceiling)
