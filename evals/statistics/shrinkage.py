"""Estimates of many small groups, drawn towards their common mean so that the smallest do not shout."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

_Z95 = 1.959964


class Shrunken(NamedTuple):
    """A group's estimate as it is, and shrunken with the 95 % interval of the latter."""

    raw: float
    value: float
    low: float
    high: float


def shrink(groups: Sequence[Sequence[float]]) -> list[Shrunken]:
    """Empirical Bayes estimates of the groups' means from their values, one a cluster (Efron and Morris 1975).

    Within groups one variance is pooled, as groups of two or three cannot tell their own; the variance between groups
    is DerSimonian and Laird's (1986, equation 9). The interval is normal and adds what is not known of the common mean.
    Groups must not be empty.
    """
    means = np.array([np.mean(values) for values in groups])
    sizes = np.array([len(values) for values in groups], dtype=np.float64)
    squares = sum(float(((np.asarray(values) - mean) ** 2).sum()) for values, mean in zip(groups, means, strict=True))
    pooled = squares / max(float(sizes.sum()) - len(groups), 1.0)
    errors = pooled / sizes
    if pooled == 0.0:
        return [Shrunken(float(mean), float(mean), float(mean), float(mean)) for mean in means]
    between = _between(means, errors)
    precision = 1 / (errors + between)
    common, common_error = float((precision * means).sum() / precision.sum()), float(1 / precision.sum())
    trust = between / (between + errors)
    values = common + trust * (means - common)
    half = _Z95 * np.sqrt(trust * errors + (1 - trust) ** 2 * common_error)
    return [
        Shrunken(float(raw), float(value), float(value - width), float(value + width))
        for raw, value, width in zip(means, values, half, strict=True)
    ]


def _between(means: np.ndarray, errors: np.ndarray) -> float:
    """The variance of the groups' true means, at least 0."""
    weights = 1 / errors
    total = float(weights.sum())
    common = float((weights * means).sum()) / total
    heterogeneity = float((weights * (means - common) ** 2).sum())
    scale = total - float((weights**2).sum()) / total
    return max(0.0, (heterogeneity - (len(means) - 1)) / scale) if scale > 0 else 0.0
