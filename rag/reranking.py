"""Reranking: the first papers of a search put in a better order by a slower look at each of them."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rag.blob_cache import BlobCache, digest
from rag.chunking import chunk_abstract, text_to_embed
from rag.domain import Paper, ScoredPaper
from rag.embedding import Vectors

RERANKED = 20
"""Papers that a reranker looks at: of those below, hardly one belongs among the first ten."""
WEIGHT = 0.5
"""What MaxSim counts beside the fused score's 1, both as z-scores."""


class Reranker(Protocol):
    """Anything that puts papers in a better order. `name` is the stage under which it may leave a score."""

    name: str

    def rerank(self, query: str, papers: Sequence[ScoredPaper]) -> tuple[ScoredPaper, ...]:
        """The papers, best first; `score` stays what it was, since refusals and evidence are judged by it."""
        ...


class TokenModel(Protocol):
    """A model that gives a vector for every token. `model_id` names it."""

    model_id: str
    dimension: int

    def token_states(self, texts: Sequence[str]) -> list[Vectors]:
        """One array a text, float32, shape (tokens, dimension), rows of length 1."""
        ...


class MaxSimReranker:
    """Late interaction (Khattab and Zaharia 2020, https://arxiv.org/abs/2004.12832, section 3.2) of token states.

    A paper's MaxSim is the mean over the query's tokens of the highest cosine to a token of the paper. It is added to
    the fused score as a z-score over the papers at hand. The states of a paper are kept in `path` once they were
    needed, a byte a number: some 80 kB a paper. Safe to use from several threads.
    """

    name = "maxsim"

    def __init__(self, *, model: TokenModel, path: Path) -> None:
        self._model, self._cache = model, BlobCache(path, model_id=model.model_id)

    def rerank(self, query: str, papers: Sequence[ScoredPaper]) -> tuple[ScoredPaper, ...]:
        """See `Reranker.rerank`. Leaves the stage "maxsim"."""
        if len(papers) < 2:
            return tuple(papers)
        asked = self._model.token_states([query])[0]
        maxsim = max_similarities(asked, self._states_of([scored.paper for scored in papers]))
        fused = np.array([scored.score for scored in papers], dtype=np.float32)
        order = np.argsort(-(z_scores(fused) + WEIGHT * z_scores(maxsim)), kind="stable")
        return tuple(with_stage(papers[place], self.name, float(maxsim[place])) for place in order.tolist())

    def _states_of(self, papers: Sequence[Paper]) -> list[Vectors]:
        """The token states of each paper, as they come back from a byte a number, whether or not they were kept."""
        texts = [[text_to_embed(paper, chunk) for chunk in chunk_abstract(paper)] for paper in papers]
        keys = [digest("\n".join(of_paper)) for of_paper in texts]
        packed = self._cache.read(keys)
        missing = {key: of_paper for key, of_paper in zip(keys, texts, strict=True) if key not in packed}
        if missing:
            states = iter(self._model.token_states([text for of_paper in missing.values() for text in of_paper]))
            fresh = {key: pack(np.concatenate([next(states) for _ in missing[key]])) for key in missing}
            self._cache.write(fresh)
            packed |= fresh
        return [unpack(packed[key], dimension=self._model.dimension) for key in keys]


def with_stage(scored: ScoredPaper, stage: str, value: float) -> ScoredPaper:
    """The paper with one more stage's score."""
    return replace(scored, stages={**scored.stages, stage: value})


def max_similarities(query: Vectors, papers: Sequence[Vectors]) -> NDArray[np.float32]:
    """For each of `papers`, the mean over the rows of `query` of the highest dot product with one of its rows.

    0 for a paper without rows, and for all where the query has none.
    """
    found = np.zeros(len(papers), dtype=np.float32)
    having = [place for place, rows in enumerate(papers) if len(rows)]
    if len(query) and having:
        products = query @ np.concatenate([papers[place] for place in having]).T  # one product: few waits for cores
        starts = np.cumsum([0, *(len(papers[place]) for place in having[:-1])])
        found[having] = np.maximum.reduceat(products, starts, axis=1).mean(axis=0)
    return found


def z_scores(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """`values` less their mean, by their standard deviation; zeros where all are equal."""
    spread = values.std()
    scaled: NDArray[np.float32] = (values - values.mean()) / spread if spread > 0 else np.zeros_like(values)
    return scaled


def pack(states: Vectors) -> bytes:
    """Rows of length 1 as a byte a number, scaled row by row so that the largest is 127; lengths are not kept."""
    largest = np.abs(states).max(axis=1, keepdims=True)
    packed: NDArray[np.int8] = np.rint(states * (127 / largest)).astype(np.int8)
    return packed.tobytes()


def unpack(packed: bytes, *, dimension: int) -> Vectors:
    """The rows of `pack`, of length 1 again; a cosine with them is off by less than .01."""
    rows = np.frombuffer(packed, dtype=np.int8).reshape(-1, dimension).astype(np.float32)
    unit: Vectors = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit
