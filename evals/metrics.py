"""Retrieval metrics as pure functions over one query's ranking, and intervals for their means.

`ranking` holds document ids, best first and each once; `gains` maps the ids of relevant documents to their grade > 0.
"""

from collections.abc import Mapping, Sequence
from math import log2
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

_BLOCK = 500
"""Resamples that are in memory at once."""


class Estimate(NamedTuple):
    """A mean with the bounds of its percentile bootstrap interval."""

    mean: float
    low: float
    high: float


def ndcg(ranking: Sequence[str], gains: Mapping[str, int], *, k: int = 10) -> float:
    """nDCG@k with the exponential gain 2^grade - 1 (Burges et al. 2005) and the discount log2(rank + 1).

    trec_eval takes the grade itself as gain; the two agree where all grades are 1. 0 where nothing is relevant.
    """
    ideal = _dcg(sorted(gains.values(), reverse=True)[:k])
    return _dcg([gains.get(document, 0) for document in ranking[:k]]) / ideal if ideal else 0.0


def recall(ranking: Sequence[str], gains: Mapping[str, int], *, k: int, least: int = 1) -> float:
    """The share of the documents of grade `least` or more that are among the first `k`; 0 where there are none."""
    relevant = {document for document, grade in gains.items() if grade >= least}
    return len(relevant.intersection(ranking[:k])) / len(relevant) if relevant else 0.0


def reciprocal_rank(ranking: Sequence[str], gains: Mapping[str, int], *, k: int = 10, least: int = 1) -> float:
    """1 / the rank of the first document of grade `least` or more, 0 where none is in the first `k`: MRR@k's term."""
    for rank, document in enumerate(ranking[:k], start=1):
        if gains.get(document, 0) >= least:
            return 1 / rank
    return 0.0


def bootstrap(values: ArrayLike, *, level: float = 0.95, resamples: int = 10_000, seed: int = 0) -> Estimate:
    """The mean of `values`, one a query, with its percentile bootstrap interval (Efron 1979); zeros where it is empty.

    For a paired comparison give it the differences.
    """
    array = np.asarray(values, dtype=np.float64)
    if not len(array):
        return Estimate(0.0, 0.0, 0.0)
    random = np.random.default_rng(seed)
    blocks = [min(_BLOCK, resamples - first) for first in range(0, resamples, _BLOCK)]
    means = np.concatenate([array[random.integers(0, len(array), (size, len(array)))].mean(axis=1) for size in blocks])
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return Estimate(float(array.mean()), float(low), float(high))


def _dcg(grades: Sequence[int]) -> float:
    return float(sum((2.0**grade - 1) / log2(rank + 1) for rank, grade in enumerate(grades, start=1)))
