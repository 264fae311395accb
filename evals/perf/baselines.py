"""What a corpus's searches are compared with: the same vectors, searched by their libraries alone."""

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rag.corpus import Corpus, nearest_exact
from rag.embedding import Vectors
from rag.generation import CHROMA, VECTORS
from rag.store import COLLECTION, open_client

Search = Callable[[Vectors], NDArray[np.int32]]
"""From a query's vector to the rows of its nearest chunks, best first."""
_TIE = 1e-6
"""Cosines that differ by less are equal: either row may be given."""


class Recall(NamedTuple):
    """The share of the exact nearest chunks that the vector index finds, among the first 10 and all that are asked."""

    at_10: float
    asked: int
    at_asked: float


@contextmanager
def raw_chroma(corpus: Corpus, *, n: int, scratch: Path) -> Iterator[Search]:
    """Chroma's own query, asked for `n` chunks, on a copy of the corpus's index: no two clients may share one."""
    folder = scratch / CHROMA
    shutil.copytree(corpus.folder / CHROMA, folder)
    client = open_client(folder)
    collection = client.get_collection(COLLECTION, embedding_function=None)

    def search(vector: Vectors) -> NDArray[np.int32]:
        found = collection.query(query_embeddings=vector[None, :], n_results=n, include=["distances"])
        return np.array(found["ids"][0], dtype=np.int32)

    try:
        yield search
    finally:
        client.close()  # type: ignore[attr-defined]


def exact_numpy(corpus: Corpus, *, n: int) -> Search:
    """Every chunk's vector compared with the query's, in memory."""
    vectors = np.load(corpus.folder / VECTORS, allow_pickle=False)
    return lambda vector: nearest_exact(vectors, vector, n=n).rows


def recall_of(index: Search, exact: Search, *, corpus: Corpus, queries: Sequence[Vectors]) -> Recall:
    """How much of what `exact` finds `index` finds too, over `queries`. Rows of equal cosine count for each other."""
    vectors = np.load(corpus.folder / VECTORS, mmap_mode="r", allow_pickle=False)
    shares, asked = [], 0
    for query in queries:
        found, expected = index(query), exact(query)
        asked = len(expected)
        shares.append([_share(found[:n], expected[:n], vectors, query) for n in (10, asked)])
    at_10, at_asked = np.mean(shares, axis=0).tolist()
    return Recall(at_10, asked, at_asked)


def _share(found: NDArray[np.int32], expected: NDArray[np.int32], vectors: Vectors, query: Vectors) -> float:
    least = float(vectors[expected[-1]] @ query) - _TIE
    good = np.unique(found[vectors[found] @ query >= least])
    return min(len(good), len(expected)) / len(expected)
