"""A read-only view of the served generation of one corpus."""

import json
import logging
import math
import threading
import time
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rag import generation as files
from rag.domain import Paper
from rag.embedding import Vectors
from rag.errors import CorpusError
from rag.facets import Facets
from rag.facts import Facts, facts_of
from rag.generation import Manifest
from rag.keyword import KeywordIndex
from rag.record_file import RecordFile
from rag.remote_store import ChromaServer, open_shared
from rag.store import MIN_ROWS, ChromaStore, StoreHits

logger = logging.getLogger(__name__)

_PROBES = 3
"""Rows that must find themselves before Chroma is trusted to answer."""

EXACT_CHUNKS = 20_000
"""Up to so many chunks that may be given are compared one by one, which takes some 20 ms and misses none."""
WIDEST = 1_000
"""Most chunks asked of Chroma, whose search list is as long."""
_CHUNKS_OF_SIMILAR = 4
"""Chunks that are looked through for each similar paper, since a paper may have several."""


_SERVER_REST = 30.0
"""Seconds for which a Chroma server that failed is not asked again."""


class ChunkHits(NamedTuple):
    """Chunks near a vector, as the rows of their papers (int32, shape (m,)) and cosines (float32), best first.

    A paper of several chunks may come up several times.
    """

    paper_rows: NDArray[np.int32]
    scores: NDArray[np.float32]


class Corpus:
    """The papers of a corpus with all that is stored about them. Rows count papers from 0.

    `folder` is the folder of the generation; it stays readable when a newer one is published. With a `server`, that is
    asked for what is near, and the Chroma in the folder is not opened. Safe to use from several threads.
    """

    def __init__(self, folder: Path, *, name: str, manifest: Manifest, server: ChromaServer | None = None) -> None:
        self.folder, self.name, self.manifest, self.server = folder, name, manifest, server
        self.paper_ids: Sequence[str] = json.loads((folder / files.IDS).read_bytes())
        self._records = RecordFile(folder / files.RECORDS, offsets=_load(folder / files.OFFSETS))
        self._chunk_papers: NDArray[np.int32] = _load(folder / files.CHUNKS)[:, 0]
        self.sentence_starts: NDArray[np.int64] = _load(folder / files.SENTENCE_STARTS)
        self.all_sentence_vectors: NDArray[np.float16] = _load(folder / files.SENTENCE_VECTORS)
        self._title_vectors: NDArray[np.float16] = _load(folder / files.TITLE_VECTORS)
        self._vectors: Vectors = _load(folder / files.VECTORS)
        self._store_lock = threading.Lock()
        self._try_again = math.inf

    def __len__(self) -> int:
        return len(self.paper_ids)

    def paper(self, row: int) -> Paper:
        """The paper of `row`, read from disk."""
        return self._records.paper(row)

    def row_of(self, paper_id: str) -> int | None:
        """The row of a paper, None where there is no paper of that id."""
        return self._rows.get(paper_id)

    @cached_property
    def keyword(self) -> KeywordIndex:
        """The BM25 index, loaded when first asked for."""
        return KeywordIndex.load(self.folder / files.KEYWORD)

    def sentence_vectors(self, row: int) -> Vectors:
        """Vectors of a paper's sentences (float32, shape (sentences, dimension)), as `split_sentences` orders them."""
        start, end = self.sentence_starts[row : row + 2]
        return self.all_sentence_vectors[start:end].astype(np.float32)

    def title_vector(self, row: int) -> Vectors:
        """The vector of a paper's title (float32, shape (dimension,)), zeros where it has none."""
        vector: Vectors = self._title_vectors[row].astype(np.float32)
        return vector

    def paper_vector(self, row: int) -> Vectors:
        """The vector of a whole paper (float32, shape (dimension,), of length 1): the mean of those of its chunks."""
        first, end = np.searchsorted(self._chunk_papers, [row, row + 1])
        mean: Vectors = self._vectors[first:end].mean(axis=0)
        return mean / np.linalg.norm(mean)

    def similar(self, row: int, *, n: int) -> tuple[int, ...]:
        """The rows of the `n` papers whose best chunk is nearest to the paper of `row`, nearest first."""
        chunks = self.nearest_chunks(self.paper_vector(row), n=_CHUNKS_OF_SIMILAR * (n + 1))
        rows = dict.fromkeys(chunks.paper_rows.tolist())
        rows.pop(row, None)
        return tuple(rows)[:n]

    @cached_property
    def facets(self) -> Facets:
        """What papers are filtered by, loaded when first asked for."""
        return Facets.load(self.folder / files.FACETS)

    @cached_property
    def facts(self) -> Facts:
        """How many papers there are by year, venue and category."""
        return facts_of(self.facets, self.paper)

    def nearest_chunks(self, vector: Vectors, *, n: int, allowed: NDArray[np.bool_] | None = None) -> ChunkHits:
        """The `n` chunks of highest cosine to `vector` (float32, shape (dimension,), of length 1).

        Chroma finds them. Where it fails, all chunks are compared one by one: the same answer, slower. With `allowed`,
        a flag for each paper, only chunks of such papers are given, `n` of them where there are as many.
        """
        if allowed is not None:
            return self._nearest_allowed(vector, np.flatnonzero(allowed[self._chunk_papers]), n=n)
        n = min(n, len(self._chunk_papers))
        if n <= 0:
            return ChunkHits(np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.float32))
        hits = self._search_store(vector, n=n) or nearest_exact(self._vectors, vector, n=n)
        return ChunkHits(self._chunk_papers[hits.rows], hits.scores)

    def _nearest_allowed(self, vector: Vectors, chunks: NDArray[np.intp], *, n: int) -> ChunkHits:
        """The same among `chunks`, rows in ascending order: Chroma's where enough of a wider search are of them."""
        n = min(n, len(chunks))
        if n <= 0:
            return ChunkHits(np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.float32))
        if len(chunks) > EXACT_CHUNKS:
            wider = min(len(self._chunk_papers), WIDEST, 2 * n * len(self._chunk_papers) // len(chunks))
            hits = self._search_store(vector, n=wider)
            if hits is not None:
                kept = np.flatnonzero(np.isin(hits.rows, chunks))[:n]
                if len(kept) == n:
                    return ChunkHits(self._chunk_papers[hits.rows[kept]], hits.scores[kept])
        hits = nearest_exact(self._vectors[chunks], vector, n=n)
        return ChunkHits(self._chunk_papers[chunks[hits.rows]], hits.scores)

    def close(self) -> None:
        """Lets go of the vector index; other parts are freed with the object."""
        with self._store_lock:
            store = self.__dict__.pop("_store", None)
        if store is not None:
            store.close()

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {paper_id: row for row, paper_id in enumerate(self.paper_ids)}

    def _search_store(self, vector: Vectors, *, n: int) -> StoreHits | None:
        """What Chroma finds; None where it cannot be used, which is logged. A server is tried again later."""
        try:
            with self._store_lock:
                if time.monotonic() >= self._try_again:
                    self._try_again = math.inf
                    self.__dict__.pop("_store", None)
                store = self._store
            return store.nearest(vector, n=n) if store is not None else None
        except CorpusError as error:
            logger.warning("%s All chunks are searched one by one instead.", error.problem)
            with self._store_lock:
                self.__dict__["_store"] = None
                if self.server is not None:
                    self._try_again = time.monotonic() + _SERVER_REST
            return None

    @cached_property
    def _store(self) -> ChromaStore | None:
        """Chroma, once it has found a few rows by their own vectors; None for a corpus that is too small for it."""
        if len(self._vectors) < MIN_ROWS:
            return None
        if self.server is not None:
            store = open_shared(self.server, self.manifest)
        else:
            store = ChromaStore.open(self.folder / files.CHROMA)
        probes = np.linspace(0, len(self._vectors) - 1, _PROBES, dtype=int).tolist()
        store.verify_self_hits(self._vectors, sorted(set(probes)))
        return store


def nearest_exact(vectors: Vectors, vector: Vectors, *, n: int) -> StoreHits:
    """The `n` rows of `vectors` (unit, float32) of highest cosine to the unit `vector`, best first; compares all."""
    scores = vectors @ vector
    best = np.argpartition(-scores, n - 1)[:n]
    order = best[np.argsort(-scores[best], kind="stable")]
    return StoreHits(order.astype(np.int32), scores[order].astype(np.float32))


def _load(path: Path) -> NDArray[Any]:
    """The array in `path`, mapped into memory: only what is used is read."""
    array: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    return array
