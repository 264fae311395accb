"""Whether a run may pass: it is complete, no worse than a baseline, and above its floors."""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, NamedTuple

from evals.judging.calibration import Calibration
from evals.results.comparison import Compared, Comparison
from evals.results.loading import Results
from evals.results.summary import cell_of, in_group, robustness
from evals.running.errors import RunError
from evals.scoring import JUDGED, METRICS, PRIMARIES, metric_named
from evals.statistics.resampling import FEW_CLUSTERS

Kind = Literal["complete", "regression", "floor"]
EXIT_CODES: Mapping[Kind, int] = {"complete": 2, "regression": 3, "floor": 4}
MOST_UNSCORED = 0.02
LARGEST_P = 0.1
"""Two-sided and corrected for the number of primaries: 5 % of gates fail where nothing changed, as only falls count."""
LARGEST_DROP = 0.08
"""Of fewer than FEW_CLUSTERS, where hardly any fall is sure, one beyond this is enough."""
LOSS_METRIC = "recall@5"
LOSSES = "losses"


class Rule(NamedTuple):
    """A rule that a run was held against."""

    kind: Kind
    name: str
    is_kept: bool
    told: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """All rules, and the exit code: 0, or that of the first kind that is broken."""

    rules: tuple[Rule, ...]

    @property
    def broken(self) -> tuple[Rule, ...]:
        return tuple(rule for rule in self.rules if not rule.is_kept)

    @property
    def exit_code(self) -> int:
        return min((EXIT_CODES[rule.kind] for rule in self.broken), default=0)


Floors = Mapping[str, Mapping[str, float]]
"""The least value of each metric, by group; the key "losses" has the most that a variant may lose."""


def judge(
    results: Results,
    *,
    floors: Floors,
    comparison: Comparison | None = None,
    calibration: Calibration | None = None,
) -> Verdict:
    """Holds a run against every rule. `calibration` is that of the model that judged the run.

    Raises SettingsError for a floor of an unknown metric.
    """
    rules = [*_completeness(results), *_floors(results, floors), *_judge_rules(results, floors, calibration)]
    if comparison is not None:
        rules += _regressions(comparison)
    return Verdict(tuple(sorted(rules, key=lambda rule: (rule.is_kept, EXIT_CODES[rule.kind]))))


def load_floors(path: Path | None = None) -> Floors:
    """Floors from a TOML file, citewise's own without one. Raises RunError where it is none."""
    try:
        text = path.read_text("utf-8") if path else files("evals.results").joinpath("floors.toml").read_text("utf-8")
        table: dict[str, Any] = tomllib.loads(text)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise RunError(f"{path} cannot be read as floors: {error}.", fix="Write TOML: [group], metric = 0.9") from error
    for group, values in table.items():
        if not isinstance(values, dict) or not all(isinstance(value, int | float) for value in values.values()):
            raise RunError(f"{path} [{group}] is not a table of numbers.", fix="Write TOML: [group], metric = 0.9")
    return table


def _completeness(results: Results) -> Iterator[Rule]:
    answered, planned = results.answered, results.planned
    yield Rule("complete", "all asked", answered >= planned, f"{answered} of {planned} cases were asked")
    failed = sum(results.values("failures", keep=lambda case: True))
    share = failed / answered if answered else 1.0
    yield Rule("complete", "calls", share <= MOST_UNSCORED, f"{failed:.0f} of {answered} answers failed ({share:.1%})")
    scored = lacking = 0
    worst: tuple[int, str] = (0, "")
    for metric in METRICS:
        own = sum(s.status == "missing" for s in results.unscored(metric.name, keep=lambda case: True))
        scored += len(results.values(metric.name, keep=lambda case: True))
        lacking += own
        worst = max(worst, (own, metric.name))
    share = lacking / (scored + lacking) if scored + lacking else 1.0
    told = f"{lacking} of {scored + lacking} scores are missing ({share:.1%})" + (
        f", most of {worst[1]}" if lacking else ""
    )
    yield Rule("complete", "scores", share <= MOST_UNSCORED, told)


def _floors(results: Results, floors: Floors) -> Iterator[Rule]:
    for group, values in floors.items():
        if group == LOSSES:
            continue
        for name, floor in values.items():
            metric = metric_named(name)
            cell = cell_of(results, metric, keep=in_group(group))
            if cell is None or cell.interval is None:
                yield Rule("floor", f"{name} [{group}]", True, "the run has no case of it: is the group's name right?")
                continue
            value = cell.interval.value
            is_kept = value >= floor - 1e-9 if metric.is_better_high else value <= floor + 1e-9
            side = "at least" if metric.is_better_high else "at most"
            yield Rule("floor", f"{name} [{group}]", is_kept, f"{value:.3f} of {cell.cases} cases, {side} {floor:g}")
    limits = floors.get(LOSSES, {})
    for loss in robustness(results) if limits else ():
        if loss.metric == LOSS_METRIC and loss.variant in limits:
            value, limit = 0.0 - loss.difference.value, limits[loss.variant]
            told = f"loses {value:.3f} over {loss.cases} cases, at most {limit:g}"
            yield Rule("floor", f"{LOSS_METRIC} [{loss.variant}]", value <= limit + 1e-9, told)


def _judge_rules(results: Results, floors: Floors, calibration: Calibration | None) -> Iterator[Rule]:
    """Where a floor is of what a model judged: may that model be used?"""
    if not any(JUDGED in values for values in floors.values()):
        return
    judged_by = results.about.get("judged_by")
    if judged_by is None:
        yield Rule("complete", "judge", False, "a floor needs a judge: citewise eval judge run")
    elif calibration is None:
        yield Rule("complete", "judge", False, f"{judged_by} is not calibrated: citewise eval judge calibrate")
    else:
        doubts = calibration.doubts()
        yield Rule("complete", "judge", not doubts, f"{judged_by}: {'; '.join(doubts) or 'agrees with people'}")


def _regressions(comparison: Comparison) -> Iterator[Rule]:
    for name in PRIMARIES:
        row = comparison.row(name)
        if row is not None:
            yield Rule("regression", name, not _is_regression(row), _told(row, comparison.before))


def _is_regression(row: Compared) -> bool:
    """Whether the fall is no chance; of few clusters, whether it is too large whatever the interval says."""
    sign = 1 if row.metric.is_better_high else -1
    sides = [sign * side for side in (row.difference.low, row.difference.high) if side is not None]
    is_sure = bool(sides) and max(sides) < 0 and row.adjusted_p is not None and row.adjusted_p <= LARGEST_P
    return is_sure or (row.clusters < FEW_CLUSTERS and sign * row.difference.value < -LARGEST_DROP)


def _told(row: Compared, baseline: str) -> str:
    low, high = row.difference.low, row.difference.high
    bounds = "" if low is None or high is None else f" [{low:+.3f}, {high:+.3f}]"
    few = f", of {row.clusters} papers and conversations only" if row.clusters < FEW_CLUSTERS else ""
    return f"{row.before:.3f} to {row.after:.3f}: {row.difference.value:+.3f}{bounds} against {baseline}{few}"
