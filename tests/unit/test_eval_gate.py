"""What a gate calls a regression: seldom what chance does, mostly what is one, and of few cases any large fall."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
import pytest

from evals.results.comparison import Compared, Comparison
from evals.results.gate import Verdict, judge
from evals.scoring import PRIMARIES, metric_named
from evals.statistics.clusters import Sums
from evals.statistics.resampling import Difference, holm, paired_difference
from tests.eval_builders import results

GATES, RESAMPLES = 1000, 1000


def gated(*rows: Compared) -> Verdict:
    comparison = Comparison("before", "after", rows, (), (), ())
    return judge(results({"a": {"accuracy": 1.0, "failures": 0.0}}), floors={}, comparison=comparison)


def row(metric: str, difference: Difference, *, clusters: int, p: float) -> Compared:
    return Compared(metric_named(metric), clusters, clusters, 0.9, 0.9 + difference.value, difference, p)


def sides(rng: np.random.Generator, *, clusters: int, effect: float) -> tuple[Sums, Sums]:
    """Right and wrong answers of two runs, 1 to 8 cases a cluster, alike within it and from run to run."""
    cases = rng.integers(1, 9, clusters)
    of = np.repeat(np.arange(clusters), cases)
    item = rng.normal(1.2, 1.0, clusters)[of] + rng.normal(0, 1, len(of))
    names = tuple(map(str, range(clusters)))
    before, after = (item + shift + rng.normal(0, 0.7, len(of)) > 0 for shift in (0.0, effect))
    one, other = (np.bincount(of, right, clusters) for right in (before, after))
    return Sums(names, one, cases.astype(float)), Sums(names, other, cases.astype(float))


def simulated(*, clusters: int, effects: Mapping[str, float]) -> Iterator[Verdict]:
    """Gates of the primary metrics between two runs that differ by chance and by `effects`."""
    rng = np.random.default_rng(0)
    for gate in range(GATES):
        pairs = [sides(rng, clusters=clusters, effect=effects.get(name, 0.0)) for name in PRIMARIES]
        found = [paired_difference(*pair, resamples=RESAMPLES, seed=gate % 5) for pair in pairs]
        adjusted = holm([each.p for each in found])
        rows = zip(PRIMARIES, found, adjusted, strict=True)
        yield gated(*(row(name, difference, clusters=clusters, p=p) for name, difference, p in rows))


@pytest.mark.parametrize("clusters", [20, 45])
def test_where_nothing_changed_19_of_20_gates_pass(clusters: int) -> None:
    verdicts = list(simulated(clusters=clusters, effects={}))
    assert 0.95 <= sum(verdict.exit_code == 0 for verdict in verdicts) / GATES < 1


def test_a_planted_regression_fails_the_gate_by_its_name() -> None:
    verdicts = list(simulated(clusters=45, effects={"citation_f1": -0.8}))
    named = [[rule.name for rule in verdict.broken] for verdict in verdicts]
    assert sum("citation_f1" in each for each in named) / GATES > 0.95
    assert sum(each != ["citation_f1"] for each in named) / GATES < 0.1
    assert {verdict.exit_code for verdict in verdicts} <= {0, 3}


def test_a_fall_that_correction_leaves_to_chance_is_none() -> None:
    fall = row("recall@5", Difference(-0.03, -0.055, -0.005, 0.03), clusters=45, p=0.12)
    assert gated(fall).exit_code == 0
    assert gated(replace(fall, adjusted_p=0.09)).exit_code == 3
    rise = replace(fall, difference=Difference(0.03, 0.005, 0.055, 0.001), adjusted_p=0.001)
    assert gated(rise).exit_code == 0


def test_of_few_cases_a_large_fall_is_enough() -> None:
    unsure = row("nugget_recall", Difference(-0.25, -0.6, 0.1, 0.5), clusters=4, p=1.0)
    assert gated(unsure).exit_code == 3
    assert gated(replace(unsure, clusters=20)).exit_code == 0
    assert gated(replace(unsure, difference=Difference(-0.07, -0.2, 0.1, 0.5))).exit_code == 0
