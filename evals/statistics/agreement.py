"""How well two agree beyond chance: Cohen's kappa with its interval, and tables of who said what."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evals.statistics.resampling import FEWEST, Interval, bounds

Array = NDArray[np.float64]


class Pair(NamedTuple):
    """What two said of one thing; things of one cluster are resampled together."""

    one: str
    other: str
    cluster: str = ""


def confusion(pairs: Sequence[Pair], *, labels: Sequence[str]) -> tuple[tuple[int, ...], ...]:
    """Counts by what the first said (rows) and the second (columns), in the order of `labels`."""
    counts = Counter((pair.one, pair.other) for pair in pairs)
    return tuple(tuple(counts[row, column] for column in labels) for row in labels)


def kappa(pairs: Sequence[Pair], *, labels: Sequence[str], seed: int = 0) -> Interval | None:
    """Cohen's kappa (1960) with a cluster-bootstrap interval; None where chance alone agrees always, or of no pair."""
    names = sorted({pair.cluster for pair in pairs})
    rows = {name: place for place, name in enumerate(names)}
    table = np.zeros((len(names), len(labels), len(labels)))
    for pair in pairs:
        table[rows[pair.cluster], labels.index(pair.one), labels.index(pair.other)] += 1
    value = float(_kappa(table.sum(axis=0)[None])[0])
    if np.isnan(value):
        return None
    if len(names) < FEWEST:
        return Interval(value, None, None)
    flat = table.reshape(len(names), -1)
    shape = (-1, len(labels), len(labels))
    low, high = bounds(lambda counts: _kappa((counts @ flat).reshape(shape))[:, None], len(names), seed=seed)
    return Interval(value, float(low[0]), float(high[0]))


def _kappa(tables: Array) -> Array:
    """Of tables of shape (n, k, k); NaN where nothing is counted or chance agrees always."""
    total = tables.sum(axis=(1, 2))
    with np.errstate(invalid="ignore", divide="ignore"):
        observed = np.trace(tables, axis1=1, axis2=2) / total
        chance = (tables.sum(axis=2) * tables.sum(axis=1)).sum(axis=1) / total**2
        return np.asarray(np.where(chance < 1, (observed - chance) / (1 - chance), np.nan))
