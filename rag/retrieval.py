"""Hybrid retrieval: the dense and the keyword ranking of a corpus, fused into one of papers."""

import math
from typing import TYPE_CHECKING

import numpy as np

from rag.domain import ScoredPaper
from rag.embedding import Embedder
from rag.fusion import standardize

if TYPE_CHECKING:
    from rag.corpus import Corpus

CANDIDATES = 100


class HybridRetriever:
    """Searches one corpus by vector (Chroma) and by words (BM25)."""

    def __init__(self, *, corpus: "Corpus", embedder: Embedder) -> None:
        self._corpus, self._embedder = corpus, embedder

    def search(self, query: str, *, k: int) -> tuple[ScoredPaper, ...]:
        """The `k` best papers for `query`, one entry a paper, best first; () for a query without any text."""
        if not query.strip() or k < 1 or len(self._corpus) == 0:
            return ()
        dense = self._dense(query)
        hits = self._corpus.keyword.search(query, n=CANDIDATES)
        keyword = dict(zip(hits.paper_rows.tolist(), hits.scores.tolist(), strict=True))
        rows = sorted({*dense, *keyword})
        floor = min(dense.values())
        fused = standardize(np.array([dense.get(row, floor) for row in rows], dtype=np.float32)) + standardize(
            np.array([keyword.get(row, 0.0) for row in rows], dtype=np.float32)
        )
        order = np.argsort(-fused, kind="stable")[:k]
        return tuple(self._scored(rows[i], float(fused[i]), dense, keyword) for i in order)

    def _dense(self, query: str) -> dict[int, float]:
        hits = self._corpus.nearest_chunks(self._embedder.embed([query])[0], n=CANDIDATES)
        best: dict[int, float] = {}
        for row, score in zip(hits.paper_rows.tolist(), hits.scores.tolist(), strict=True):
            best[row] = max(score, best.get(row, -1.0))
        return best

    def _scored(self, row: int, fused: float, dense: dict[int, float], keyword: dict[int, float]) -> ScoredPaper:
        stages = {"fused": fused}
        if row in dense:
            stages["dense"] = dense[row]
        if row in keyword:
            stages["keyword"] = keyword[row]
        return ScoredPaper(paper=self._corpus.paper(row), score=1 / (1 + math.exp(-fused)), stages=stages)
