"""How long each stage of a question takes, measured where the retriever itself calls it."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from rag.corpus import ChunkHits, Corpus
from rag.embedding import Embedder, Vectors
from rag.evidence import find_evidence
from rag.keyword import KeywordIndex
from rag.questions import read_question
from rag.retrieval import HybridRetriever

STAGES = ("embed", "dense", "keyword", "fusion", "search", "evidence", "whole")
"""The parts of a hybrid search, `search` as a whole, the ranking of sentences, and all of it: what retrieval costs."""
_Result = TypeVar("_Result")


class StagedSearch:
    """Searches as the product does and writes down what each stage took. Not to be used from several threads."""

    def __init__(self, *, corpus: Corpus, embedder: Embedder, k: int) -> None:
        self._corpus, self._embedder, self._k = corpus, embedder, k
        self._calls: dict[str, list[float]] = defaultdict(list)
        timed = cast(Corpus, _TimedCorpus(corpus, self._timed))
        self._retriever = HybridRetriever(corpus=timed, embedder=_TimedEmbedder(embedder, self._timed))
        self.milliseconds: dict[str, list[float]] = {stage: [] for stage in STAGES}

    def __call__(self, query: str) -> None:
        """Finds the papers and ranks their sentences."""
        self._calls.clear()
        start = perf_counter()
        papers = self._retriever.search(query, k=self._k)
        found = perf_counter()
        find_evidence(read_question(query), papers, corpus=self._corpus, embedder=self._embedder)
        end = perf_counter()
        parts = {stage: sum(self._calls[stage]) for stage in ("embed", "dense", "keyword")}
        search = (found - start) * 1000
        whole = {"fusion": search - sum(parts.values()), "search": search}
        whole |= {"evidence": (end - found) * 1000, "whole": (end - start) * 1000}
        for stage, milliseconds in (parts | whole).items():
            self.milliseconds[stage].append(milliseconds)

    def forget(self) -> None:
        """Drops what was written down so far, to warm up by."""
        for milliseconds in self.milliseconds.values():
            milliseconds.clear()

    def _timed(self, stage: str, call: Callable[[], _Result]) -> _Result:
        start = perf_counter()
        result = call()
        self._calls[stage].append((perf_counter() - start) * 1000)
        return result


_Timed = Callable[[str, Callable[[], Any]], Any]


class _TimedEmbedder:
    """An embedder whose calls are timed."""

    def __init__(self, embedder: Embedder, timed: _Timed) -> None:
        self._embedder, self._timed = embedder, timed
        self.model_id, self.batch_size = embedder.model_id, embedder.batch_size

    @property
    def dimension(self) -> int:
        return self._embedder.dimension

    def embed(self, texts: Sequence[str], *, on_batch: Callable[[int], object] | None = None) -> Vectors:
        vectors: Vectors = self._timed("embed", lambda: self._embedder.embed(texts, on_batch=on_batch))
        return vectors


class _TimedCorpus:
    """A corpus whose two searches are timed; all else is the corpus's own."""

    def __init__(self, corpus: Corpus, timed: _Timed) -> None:
        self._corpus, self._timed = corpus, timed
        self.keyword = _TimedKeyword(corpus.keyword, timed)

    def __len__(self) -> int:
        return len(self._corpus)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._corpus, name)

    def nearest_chunks(self, vector: Vectors, *, n: int, allowed: NDArray[np.bool_] | None = None) -> ChunkHits:
        hits: ChunkHits = self._timed("dense", lambda: self._corpus.nearest_chunks(vector, n=n, allowed=allowed))
        return hits


class _TimedKeyword:
    """A keyword index whose searches are timed."""

    def __init__(self, index: KeywordIndex, timed: _Timed) -> None:
        self._index, self._timed = index, timed

    def search(self, query: str, **options: Any) -> Any:
        return self._timed("keyword", lambda: self._index.search(query, **options))
