"""The table of a run: each metric over all cases and over each group, with intervals and what could not be scored."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from evals.cases.case import STANDALONE
from evals.results.loading import Keep, Results, groups_of, headline
from evals.scoring import METRICS, Metric
from evals.statistics.clusters import Observation, sum_up
from evals.statistics.resampling import Difference, Interval, mean_interval, paired_difference

ALL = "all"
ROBUST = ("nugget_recall", "accuracy", "recall@5", "citation_f1")
"""The metrics whose loss under another wording is told."""


class Quantiles(NamedTuple):
    """The median and the 95th percentile of a time, in milliseconds."""

    p50: float
    p95: float


@dataclass(frozen=True, slots=True)
class Cell:
    """A metric over a group. `cases` have a value; `interval` is None where none has.

    `empty` and `missing` count scores without a value by their reasons: nothing of the kind in the answer, and lacking.
    """

    cases: int
    interval: Interval | None
    quantiles: Quantiles | None
    empty: Mapping[str, int]
    missing: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Row:
    """A metric over all cases and each group; groups that it does not apply to are absent."""

    metric: Metric
    cells: Mapping[str, Cell]


class Robustness(NamedTuple):
    """What another wording costs: the mean difference to the plain questions, and the case that lost most."""

    variant: str
    metric: str
    cases: int
    clusters: int
    difference: Difference
    worst_case: str
    worst: float


@dataclass(frozen=True, slots=True)
class Summary:
    """All figures of a run. `counts` has cases a group, in order; `failed` answers whose call failed."""

    groups: tuple[str, ...]
    counts: Mapping[str, int]
    rows: tuple[Row, ...]
    robustness: tuple[Robustness, ...]
    failed: int


def summarise(results: Results) -> Summary:
    """The summary of a run."""
    asked = {case_id for case_id, _ in results.scores}
    cases = [case for case_id, case in results.cases.items() if case_id in asked]
    groups = (ALL, *groups_of(cases))
    counts = Counter(case.group for case in cases) | Counter({ALL: sum(map(headline, cases))})
    rows = []
    for metric in METRICS:
        cells = {group: cell for group in groups if (cell := cell_of(results, metric, keep=in_group(group)))}
        if cells:
            rows.append(Row(metric, cells))
    failed = sum((each["failures"].value or 0) > 0 for each in results.scores.values() if "failures" in each)
    return Summary(groups, counts, tuple(rows), tuple(robustness(results)), failed)


def in_group(group: str) -> Keep:
    """Which cases a group has; "all" has those that are neither variants nor attacks."""
    return headline if group == ALL else lambda case: case.group == group


def cell_of(results: Results, metric: Metric, *, keep: Keep) -> Cell | None:
    """The figures of a metric over the cases that `keep` takes; None where it applies to none of them."""
    observations = results.observations(metric.name, keep=keep)
    unscored = results.unscored(metric.name, keep=keep)
    if not observations and not unscored:
        return None
    sums = sum_up(observations)
    quantiles = None
    if metric.unit == "milliseconds" and observations:
        p50, p95 = np.quantile(results.values(metric.name, keep=keep), [0.5, 0.95]).tolist()
        quantiles = Quantiles(p50, p95)
    return Cell(
        cases=len(observations),
        interval=mean_interval(sums, is_share=metric.unit == "share") if observations else None,
        quantiles=quantiles,
        empty=Counter(score.reason for score in unscored if score.status == "empty"),
        missing=Counter(score.reason for score in unscored if score.status == "missing"),
    )


def robustness(results: Results) -> list[Robustness]:
    """The losses of every variant, and of follow-up turns as they are asked against their standalone form."""
    found = []
    for variant in dict.fromkeys(case.variant for case in results.cases.values() if case.variant):
        for metric in ROBUST:
            own = _by_case(results, metric, variant)
            plain = {item.case_id: item for item in results.observations(metric, keep=headline)}
            pairs = [(plain[clean], item) for clean, item in own.items() if clean in plain]
            if variant == STANDALONE:  # the turn is what is to be as good as its standalone form
                pairs = [(item, turn) for turn, item in pairs]
            if pairs:
                found.append(_loss("follow-up" if variant == STANDALONE else variant, metric, pairs))
    return found


def _by_case(results: Results, metric: str, variant: str) -> dict[str, Observation]:
    """The observations of a variant by the case that each is compared with."""
    observed = results.observations(metric, keep=lambda case: case.variant == variant)
    return {str(results.cases[item.case_id].clean): item for item in observed}


def _loss(variant: str, metric: str, pairs: list[tuple[Observation, Observation]]) -> Robustness:
    before = sum_up(one for one, _ in pairs)
    after = sum_up(other._replace(cluster=one.cluster) for one, other in pairs)
    worst = min(pairs, key=lambda pair: pair[1].value - pair[0].value)
    change = worst[1].value - worst[0].value
    difference = paired_difference(before, after)
    return Robustness(variant, metric, len(pairs), len(before.names), difference, worst[1].case_id, change)
