"""Hybrid retrieval: what a corpus's vectors and words find, judged together, one entry a paper."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rag.domain import ScoredPaper
from rag.embedding import Embedder, Vectors
from rag.fusion import Scores, best_first, coverage, fuse, keyword_weight
from rag.glossary import in_english
from rag.naming import calls
from rag.reranking import RERANKED, Reranker

if TYPE_CHECKING:
    from rag.corpus import Corpus

CANDIDATES = 100
"""Chunks by vector and papers by words that are judged together; the rest cannot come into the first ten."""


CALLED = 0.2
"""What a paper's score gains, up to 1, where the query calls it by the name in its title."""
_CALLABLE = 50
"""Of the papers that words find, those whose titles are looked at: a name in a title is rare, and scores high."""


class Candidates(NamedTuple):
    """Papers that may answer a query: rows in ascending order, and their scores by stage, each of shape (m,).

    `chunk` and `keyword` are NaN where that stage did not find the paper. `sentence` is the cosine of its best
    sentence, or of its best chunk where it has no sentences. `coverage` is in 0..1, `weight` is what it counts.
    """

    rows: NDArray[np.int32]
    chunk: Scores
    sentence: Scores
    keyword: Scores
    coverage: Scores
    weight: float


class HybridRetriever:
    """Searches one corpus by vector (Chroma) and by words (BM25). Safe to use from several threads.

    `keyword_factor` multiplies what words count for, beside vectors.
    """

    def __init__(
        self, *, corpus: "Corpus", embedder: Embedder, reranker: Reranker | None = None, keyword_factor: float = 1.0
    ) -> None:
        self._corpus, self._embedder, self._reranker = corpus, embedder, reranker
        self._keyword_factor = keyword_factor

    def search(self, query: str, *, k: int, allowed: NDArray[np.bool_] | None = None) -> tuple[ScoredPaper, ...]:
        """The `k` best papers for `query`, one entry a paper, best first; () for a query without any text.

        A German or Chinese query is searched by its words in English (`rag.glossary`). With `allowed`, a flag for each
        paper of the corpus (shape (papers,)), only such papers are found.

        `score` is in 0..1 (see `rag.fusion.fuse`). `stages` has "fused", the same; "sentence", the cosine of the best
        sentence; and, where that stage found the paper, "dense", the cosine of its best chunk, "keyword", its BM25
        score, and "coverage", that score as a share of the most that the query's known terms could give. A reranker
        orders the first 20 anew, and the scores stay.
        """
        if not query.strip() or k < 1 or len(self._corpus) == 0:
            return ()
        found = self._candidates(in_english(query), n=max(CANDIDATES, 2 * k), allowed=allowed)
        if not len(found.rows):
            return ()
        # Chroma cut off the papers that only words found: none of them has a better chunk than the last it gave.
        known = found.chunk[~np.isnan(found.chunk)]
        floor = float(known.min()) if len(known) else 0.0
        chunk = np.nan_to_num(found.chunk, nan=floor)
        weight = found.weight * self._keyword_factor
        fused = fuse(chunk=chunk, sentence=found.sentence, coverage=found.coverage, weight=weight)
        called = self._called(query, found)
        fused[called] = np.minimum(fused[called] + CALLED, 1)
        fetched = max(k, RERANKED) if self._reranker else k
        papers = tuple(self._scored(found, fused, place) for place in best_first(fused, found.rows, k=fetched).tolist())
        if self._reranker:
            papers = (*self._reranker.rerank(query, papers[:RERANKED]), *papers[RERANKED:])
        return papers[:k]

    def _candidates(self, query: str, *, n: int, allowed: NDArray[np.bool_] | None) -> Candidates:
        vector = self._embedder.embed([query])[0]
        dense = self._corpus.nearest_chunks(vector, n=n, allowed=allowed)
        keyword = self._corpus.keyword.search(query, n=n, allowed=allowed)
        rows = np.union1d(dense.paper_rows, keyword.paper_rows).astype(np.int32)
        chunk = np.full(len(rows), np.nan, dtype=np.float32)
        np.fmax.at(chunk, np.searchsorted(rows, dense.paper_rows), dense.scores)
        words = np.full(len(rows), np.nan, dtype=np.float32)
        words[np.searchsorted(rows, keyword.paper_rows)] = keyword.scores
        return Candidates(
            rows=rows,
            chunk=chunk,
            sentence=self._best_sentences(vector, rows, chunk),
            keyword=words,
            coverage=coverage(np.nan_to_num(words), ceiling=keyword.ceiling),
            weight=keyword_weight(keyword.scores),
        )

    def _called(self, query: str, found: Candidates) -> NDArray[np.intp]:
        """The places of the candidates that the query calls by the name in their titles."""
        by_words = np.argsort(-found.keyword)[:_CALLABLE]  # NaN comes last
        by_words = by_words[~np.isnan(found.keyword[by_words])]
        titles = (self._corpus.paper(int(row)).title for row in found.rows[by_words])
        is_called = [calls(query, title) is not None for title in titles]
        return by_words[is_called]

    def _best_sentences(self, vector: Vectors, rows: NDArray[np.int32], chunk: Scores) -> Scores:
        """The cosine of each paper's best sentence, of its best chunk where it has no sentences."""
        starts = self._corpus.sentence_starts
        first, counts = starts[rows], starts[rows + 1] - starts[rows]
        offsets = np.concatenate([[0], np.cumsum(counts)])
        places = np.repeat(first - offsets[:-1], counts) + np.arange(offsets[-1])
        cosines = self._corpus.all_sentence_vectors[places].astype(np.float32) @ vector
        best = np.nan_to_num(chunk).copy()
        has_sentences = np.flatnonzero(counts)
        if len(has_sentences):
            best[has_sentences] = np.maximum.reduceat(cosines, offsets[has_sentences])
        return best

    def _scored(self, found: Candidates, fused: Scores, place: int) -> ScoredPaper:
        score = float(fused[place])
        stages = {"fused": score, "sentence": float(found.sentence[place])}
        if not np.isnan(found.chunk[place]):
            stages["dense"] = float(found.chunk[place])
        if not np.isnan(found.keyword[place]):
            stages |= {"keyword": float(found.keyword[place]), "coverage": float(found.coverage[place])}
        return ScoredPaper(paper=self._corpus.paper(int(found.rows[place])), score=score, stages=stages)
