"""Scores summed up by cluster: what is resampled as one, since its cases are about one paper or one conversation."""

from collections.abc import Iterable, Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Observation(NamedTuple):
    """One case's score, its repeats averaged: a value with the weight that it has in a mean."""

    case_id: str
    cluster: str
    value: float
    weight: float = 1.0


class Sums(NamedTuple):
    """By cluster, shape (clusters,): sums of weight * value, and of weight. Their ratio is the mean."""

    names: tuple[str, ...]
    weighted: Array
    weight: Array

    @property
    def mean(self) -> float:
        """Raises ZeroDivisionError where there is no weight."""
        return float(self.weighted.sum()) / float(self.weight.sum())

    @property
    def pulls(self) -> Array:
        """Each cluster's pull on the mean, scaled so that their deviation / sqrt(clusters) is the mean's error."""
        return (self.weighted - self.mean * self.weight) / float(self.weight.mean())

    @property
    def error(self) -> float:
        """The standard error of the mean, between clusters."""
        return float(np.std(self.pulls, ddof=1)) / sqrt(len(self.names))


def sum_up(observations: Iterable[Observation], *, names: Sequence[str] | None = None) -> Sums:
    """The sums of each cluster, in the order of `names`, or sorted; a cluster without an observation has 0."""
    found: dict[str, list[float]] = {}
    for item in observations:
        sums = found.setdefault(item.cluster, [0.0, 0.0])
        sums[0] += item.weight * item.value
        sums[1] += item.weight
    order = tuple(sorted(found) if names is None else names)
    table = np.array([found.get(name, (0.0, 0.0)) for name in order], dtype=np.float64).reshape(-1, 2)
    return Sums(order, table[:, 0], table[:, 1])
