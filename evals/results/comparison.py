"""Two runs compared case by case: how much better, how sure, which cases changed and why, and where."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from evals.cases.case import Case
from evals.results.loading import Results, headline
from evals.running.errors import RunError
from evals.scoring import METRICS, PRIMARIES, Metric
from evals.statistics.clusters import Observation, sum_up
from evals.statistics.resampling import Difference, holm, paired_difference
from evals.statistics.shrinkage import Shrunken, shrink

FLIPS = ("accuracy", "attack_success")
SLICED = ("accuracy", *PRIMARIES)
_SHORT, _LONG = 10, 20
"""Words up to which a question is short, and beyond which it is long."""


@dataclass(frozen=True, slots=True)
class Compared:
    """A metric in both runs, over the cases that both scored. `adjusted_p` is Holm's, of the primaries alone."""

    metric: Metric
    cases: int
    clusters: int
    before: float
    after: float
    difference: Difference
    adjusted_p: float | None


class Flip(NamedTuple):
    """A case that is right in one run only, with the reasons of both."""

    case: Case
    metric: str
    is_worse: bool
    before: str
    after: str


class Slice(NamedTuple):
    """The difference in a part of the cases: as it is, and shrunken towards that of all parts."""

    dimension: str
    name: str
    metric: str
    cases: int
    difference: Shrunken


@dataclass(frozen=True, slots=True)
class Comparison:
    """`before` and `after` are the names of the runs; `only` the cases that one of them lacks."""

    before: str
    after: str
    rows: tuple[Compared, ...]
    flips: tuple[Flip, ...]
    slices: tuple[Slice, ...]
    only: tuple[str, ...]

    def row(self, metric: str) -> Compared | None:
        """The comparison of one metric, None where it could not be compared."""
        return next((row for row in self.rows if row.metric.name == metric), None)


Pairs = list[tuple[Observation, Observation]]


def compare(before: Results, after: Results) -> Comparison:
    """How `after` differs from `before`, on the cases of both that are asked alike.

    Raises RunError where they share none.
    """
    shared = {
        case_id
        for case_id in {name for name, _ in before.scores} & {name for name, _ in after.scores}
        if before.cases[case_id].question == after.cases[case_id].question
    }
    if not shared:
        raise RunError(f"{before.name} and {after.name} share no case.", fix="Compare runs of one suite.")
    rows = [row for metric in METRICS if (row := _compared(metric, before, after, shared)) is not None]
    primaries = [row for row in rows if row.metric.name in PRIMARIES]
    adjusted = dict(zip((row.metric.name for row in primaries), holm([r.difference.p for r in primaries]), strict=True))
    every = {name for name, _ in before.scores} | {name for name, _ in after.scores}
    return Comparison(
        before.name,
        after.name,
        tuple(_with_adjusted(row, adjusted) for row in rows),
        tuple(_flips(before, after, shared)),
        tuple(_slices(before, after, shared)),
        tuple(sorted(every - shared)),
    )


def _with_adjusted(row: Compared, adjusted: Mapping[str, float]) -> Compared:
    return Compared(
        row.metric,
        row.cases,
        row.clusters,
        row.before,
        row.after,
        row.difference,
        adjusted.get(row.metric.name),
    )


def _compared(metric: Metric, before: Results, after: Results, shared: set[str]) -> Compared | None:
    """A metric over the plain cases, attacks where it is theirs; None where one run has no value of it."""

    def keep(case: Case) -> bool:
        return case.case_id in shared and (headline(case) or metric.family == "attacks")

    one, other = before.observations(metric.name, keep=keep), after.observations(metric.name, keep=keep)
    if not one or not other:
        return None
    names = sorted({item.cluster for item in (*one, *other)})
    first, second = sum_up(one, names=names), sum_up(other, names=names)
    cases = len({item.case_id for item in (*one, *other)})
    return Compared(
        metric, cases, len(names), first.mean, second.mean, paired_difference(first, second), adjusted_p=None
    )


def _pairs(metric: str, before: Results, after: Results, keep: Callable[[Case], bool]) -> Pairs:
    """The cases that both runs have a value of."""
    others = {item.case_id: item for item in after.observations(metric, keep=keep)}
    return [(item, others[item.case_id]) for item in before.observations(metric, keep=keep) if item.case_id in others]


def _flips(before: Results, after: Results, shared: set[str]) -> list[Flip]:
    """Cases that changed by half or more, the newly wrong ones first."""
    found = []
    for metric in (metric for metric in METRICS if metric.name in FLIPS):
        for one, other in _pairs(metric.name, before, after, lambda case: case.case_id in shared):
            change = other.value - one.value
            if abs(change) >= 0.5:
                reasons = [_reason(results, one.case_id, metric.name) for results in (before, after)]
                is_worse = (change < 0) == metric.is_better_high
                found.append(Flip(after.cases[one.case_id], metric.name, is_worse, *reasons))
    return sorted(found, key=lambda flip: not flip.is_worse)


def _reason(results: Results, case_id: str, metric: str) -> str:
    score = results.score(case_id, metric)
    return score.reason if score else ""


def _slices(before: Results, after: Results, shared: set[str]) -> list[Slice]:
    """Where the change helped and hurt: by kind of question, paper, category, and length of the question."""
    papers = {**before.papers, **after.papers}
    dimensions: Mapping[str, Callable[[Case], str | None]] = {
        "kind": lambda case: f"variant {case.variant}" if case.variant else case.kind,
        "paper": lambda case: papers[p].label if (p := _only_paper(case)) in papers else p,
        "category": lambda case: _category(case, papers),
        "length": _length,
    }
    found: list[Slice] = []
    for metric in SLICED:
        pairs = _pairs(metric, before, after, lambda case: case.case_id in shared)
        for dimension, name_of in dimensions.items():
            groups: dict[str, Pairs] = {}
            for pair in pairs:
                if name := name_of(after.cases[pair[0].case_id]):
                    groups.setdefault(name, []).append(pair)
            if len(groups) > 1:
                found += _shrunken(dimension, metric, groups, by_case=dimension == "paper")
    return found


def _shrunken(dimension: str, metric: str, groups: Mapping[str, Pairs], *, by_case: bool) -> list[Slice]:
    estimates = shrink([_changes(pairs, by_case=by_case) for pairs in groups.values()])
    slices = [
        Slice(dimension, name, metric, len(pairs), estimate)
        for (name, pairs), estimate in zip(groups.items(), estimates, strict=True)
    ]
    return sorted(slices, key=lambda item: item.difference.value)


def _changes(pairs: Pairs, *, by_case: bool) -> list[float]:
    """The differences that vary independently: one a cluster, or one a case where the group is a single cluster."""
    changes: dict[str, list[float]] = {}
    for one, other in pairs:
        changes.setdefault(one.case_id if by_case else one.cluster, []).append(other.value - one.value)
    return [sum(values) / len(values) for values in changes.values()]


def _only_paper(case: Case) -> str | None:
    return next(iter(case.papers)) if len(case.papers) == 1 else None


def _category(case: Case, papers: Mapping[str, object]) -> str | None:
    categories = getattr(papers.get(_only_paper(case) or ""), "categories", ())
    return str(categories[0]) if categories else None


def _length(case: Case) -> str:
    """Short, medium or long, by words; a text without spaces by pairs of characters."""
    words = max(len(case.question.split()), sum("\u3040" <= char <= "\u9fff" for char in case.question) // 2)
    return "short question" if words <= _SHORT else "long question" if words > _LONG else "medium question"
