"""How many cases it takes to see a difference, from a run's own variance between papers and conversations."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, sqrt
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from evals.results.loading import Results, headline
from evals.running.errors import RunError
from evals.scoring import metric_named
from evals.statistics.clusters import sum_up

DIFFERENCES = (0.02, 0.03, 0.05, 0.08, 0.10, 0.15)
CORRELATION = 0.5
"""Assumed between the two runs' scores of a case where only one run is given."""
_ALPHA = 0.05


class Needed(NamedTuple):
    """What a true difference takes: cases, clusters, and the chance to see it with those of the run."""

    difference: float
    cases: int
    clusters: int
    power_now: float


@dataclass(frozen=True, slots=True)
class Power:
    """The table of a metric. `half_width` is of a 95 % interval of a difference with the run's own cases.

    `is_paired`: the variance is that of two runs' differences; else it is one run's, with an assumed correlation.
    """

    metric: str
    cases: int
    clusters: int
    half_width: float
    is_paired: bool
    rows: tuple[Needed, ...]


def power_of(
    run: Results,
    *,
    metric: str,
    other: Results | None = None,
    chance: float = 0.8,
    differences: Sequence[float] = DIFFERENCES,
    correlation: float = CORRELATION,
) -> Power:
    """Cases needed to see each difference with that chance, two-sided at 5 %, by the normal approximation.

    With `other`, the variance is that of the paired differences between the runs; without, twice the run's own, less
    what `correlation` takes away. Raises RunError where too few cases have the metric.
    """
    metric_named(metric)
    first = run.observations(metric, keep=headline)
    second = other.observations(metric, keep=headline) if other else []
    names = sorted({item.cluster for item in first} | {item.cluster for item in second})
    if len(names) < 3:
        raise RunError(f"{run.name} has {metric} of {len(names)} papers only.", fix="Take a larger run.")
    cases = len({item.case_id for item in (*first, *second)})
    spread = sum_up(first, names=names).pulls
    if other:
        spread = sum_up(second, names=names).pulls - spread
        deviation = float(np.std(spread, ddof=1))
    else:
        deviation = float(np.std(spread, ddof=1)) * sqrt(2 * (1 - correlation))
    error = deviation / sqrt(len(names))
    z = NormalDist().inv_cdf(1 - _ALPHA / 2)
    rows = [
        _needed(difference, deviation, error, z=z, chance=chance, cases=cases, clusters=len(names))
        for difference in differences
    ]
    return Power(metric, cases, len(names), z * error, other is not None, tuple(rows))


def _needed(
    difference: float, deviation: float, error: float, *, z: float, chance: float, cases: int, clusters: int
) -> Needed:
    wanted = ((z + NormalDist().inv_cdf(chance)) * deviation / difference) ** 2
    needed = max(3, ceil(wanted))
    power = NormalDist().cdf(difference / error - z) if error else 1.0
    return Needed(difference, ceil(needed * cases / clusters), needed, power)
