"""What a gate calls a regression: seldom what chance does, mostly what is one, and of few cases any large fall."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

import numpy as np
import pytest

from evals.results.comparison import Compared, Comparison
from evals.results.gate import Verdict, judge
from evals.scoring import PRIMARIES, metric_named
from evals.statistics.resampling import Difference, holm, paired_difference
from tests.eval_builders import results
from tests.simulated_runs import draw

GATES, RESAMPLES = 1000, 1000


def gated(*rows: Compared) -> Verdict:
    comparison = Comparison("before", "after", rows, (), (), ())
    return judge(results({"a": {"accuracy": 1.0, "failures": 0.0}}), floors={}, comparison=comparison)


def row(metric: str, difference: Difference, *, clusters: int, p: float) -> Compared:
    return Compared(metric_named(metric), clusters, clusters, 0.9, 0.9 + difference.value, difference, p)


def simulated(
    *,
    papers: int,
    effects: Mapping[str, float] | None = None,
    is_clustered: bool = True,
    is_corrected: bool = True,
) -> Iterator[Verdict]:
    """Gates of the primary metrics between two runs that differ by chance and by `effects`."""
    rng = np.random.default_rng(0)
    draws = [draw(rng, papers=papers, pairs=GATES, effect=(effects or {}).get(name, 0.0)) for name in PRIMARIES]
    for gate in range(GATES):
        pairs = [each.sums(gate, is_clustered=is_clustered) for each in draws]
        found = [paired_difference(*pair, resamples=RESAMPLES, seed=gate % 5) for pair in pairs]
        raw = [each.p for each in found]
        rows = zip(PRIMARIES, found, holm(raw) if is_corrected else raw, strict=True)
        yield gated(*(row(name, difference, clusters=papers, p=p) for name, difference, p in rows))


def share_passed(verdicts: Iterable[Verdict]) -> float:
    return sum(verdict.exit_code == 0 for verdict in verdicts) / GATES


@pytest.mark.parametrize("papers", [20, 45])
def test_where_nothing_changed_19_of_20_gates_pass(papers: int) -> None:
    assert 0.95 <= share_passed(simulated(papers=papers)) < 1


@pytest.mark.parametrize(("is_clustered", "is_corrected"), [(True, False), (False, True)])
def test_without_the_correction_or_the_papers_they_would_not(*, is_clustered: bool, is_corrected: bool) -> None:
    verdicts = simulated(papers=45, is_clustered=is_clustered, is_corrected=is_corrected)
    assert share_passed(verdicts) < 0.93


def test_a_planted_regression_fails_the_gate_by_its_name() -> None:
    verdicts = list(simulated(papers=45, effects={"citation_f1": -1.2}))
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


def test_a_floor_of_a_group_without_cases_is_told_and_not_passed_over() -> None:
    floors = {"all": {"accuracy": 0.5}, "singel": {"accuracy": 0.5}}
    verdict = judge(results({"a": {"accuracy": 1.0, "failures": 0.0}}), floors=floors)
    told = {rule.name: rule.told for rule in verdict.rules if rule.kind == "floor"}
    assert told["accuracy [singel]"] == "the run has no case of it: is the group's name right?"
    assert told["accuracy [all]"].startswith("1.000 of 1 cases")
