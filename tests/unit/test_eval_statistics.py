"""Clustered intervals, sign-flip tests, Holm, shrinkage: against closed forms, and their coverage by simulation."""

import math

import numpy as np
import pytest

from evals.report.numbers import caution
from evals.statistics.clusters import Observation, Sums, sum_up
from evals.statistics.resampling import (
    FEW_CLUSTERS,
    bounds,
    holm,
    mean_interval,
    paired_difference,
    sign_flip_p,
    student_t,
)
from evals.statistics.shrinkage import shrink
from tests.simulated_runs import EASY, HARD, NEARLY_ALL, Draws, draw, share_covered, truths


def sums(*values: float, weight: float = 1.0) -> Sums:
    """A cluster a value."""
    return sum_up(Observation(f"c{n:03}", f"c{n:03}", value, weight) for n, value in enumerate(values))


def test_the_mean_weighs_values_and_clusters_keep_their_order() -> None:
    items = [Observation("a", "x", 1.0, 2.0), Observation("b", "x", 0.0), Observation("c", "w", 1.0)]
    found = sum_up(items)
    assert found.names == ("w", "x")
    assert found.mean == pytest.approx(3 / 4)
    assert sum_up(items, names=["x", "v", "w"]).weight.tolist() == [3, 0, 1]


def test_an_interval_is_as_wide_as_students_for_many_clusters() -> None:
    values = np.random.default_rng(1).normal(0.5, 0.1, 60)
    found = mean_interval(sums(*values))
    half = student_t(0.975, 59) * values.std(ddof=1) / math.sqrt(60)
    assert found.low == pytest.approx(found.value - half, abs=half / 8)
    assert found.high == pytest.approx(found.value + half, abs=half / 8)


def test_cases_of_one_cluster_count_as_one() -> None:
    apart = mean_interval(sum_up(Observation(str(n), str(n), float(n % 2)) for n in range(60)))
    together = mean_interval(sum_up(Observation(str(n), str(n // 6 % 10), float(n // 6 % 2)) for n in range(60)))
    assert apart.low is not None
    assert together.low is not None
    assert together.value - together.low > 2 * (apart.value - apart.low)


def test_no_failure_in_n_clusters_is_bounded_by_the_rule_of_three() -> None:
    assert mean_interval(sums(*[1.0] * 30), is_share=True) == pytest.approx((1.0, 0.9, 1.0))
    assert mean_interval(sums(*[0.0] * 30), is_share=True) == pytest.approx((0.0, 0.0, 0.1))
    assert mean_interval(sums(*[1.0] * 30)) == pytest.approx((1.0, 1.0, 1.0))


def test_too_few_clusters_get_no_interval() -> None:
    assert mean_interval(sums(0.0, 1.0), is_share=True) == (0.5, None, None)
    assert mean_interval(sums(0.0, 1.0, 2.0, 3.0)) == (1.5, None, None)
    assert paired_difference(sums(0.0, 1.0, 0.0, 1.0), sums(1.0, 1.0, 1.0, 1.0))[:3] == (0.5, None, None)


def test_a_share_of_clusters_of_one_case_has_wilsons_interval() -> None:
    found = mean_interval(sums(*[1.0] * 81, *[0.0] * 19), is_share=True)
    t2 = student_t(0.975, 99) ** 2 / 99  # the variance is estimated: 99 of 100 cases count
    half = math.sqrt(t2 * 0.81 * 0.19 + t2**2 / 4)
    assert found == pytest.approx((0.81, (0.81 + t2 / 2 - half) / (1 + t2), (0.81 + t2 / 2 + half) / (1 + t2)))
    same = mean_interval(sums(*[0.5] * 9), is_share=True)
    assert same == (0.5, 0.5, 0.5)


def test_a_paired_difference_is_surer_than_two_means() -> None:
    rng = np.random.default_rng(2)
    hard = rng.uniform(0, 1, 40)
    before, after = sums(*hard), sums(*(hard + 0.05 + rng.normal(0, 0.02, 40)))
    found = paired_difference(before, after)
    assert found.low is not None
    assert found.low > 0.03
    assert found.p < 0.001
    assert mean_interval(before).low < found.low + before.mean < mean_interval(after).high  # type: ignore[operator]


def test_comparing_a_run_with_itself_is_no_difference() -> None:
    same = sums(0.2, 0.4, 0.6, 0.9, 1.0)
    assert paired_difference(same, same) == (0.0, 0.0, 0.0, 1.0)


def test_the_sign_flip_p_value_is_that_of_all_flips() -> None:
    # Differences 1, 1, 1, 1, 1: of 32 sign patterns 2 are as extreme.
    p = sign_flip_p(sums(*[0.0] * 5), sums(*[1.0] * 5), resamples=20_000)
    assert p == pytest.approx(2 / 32, abs=0.006)


def test_different_clusters_cannot_be_compared() -> None:
    with pytest.raises(ValueError, match="the same"):
        paired_difference(sums(1.0), sum_up([Observation("z", "z", 1.0)]))


def test_holm_steps_down_and_never_falls() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == (1.0, 1.0)
    assert holm([]) == ()


@pytest.mark.parametrize(("degrees", "quantile"), [(1, 12.706), (2, 4.303), (4, 2.776), (10, 2.228), (60, 2.000)])
def test_students_t_is_that_of_the_tables(degrees: int, quantile: float) -> None:
    assert student_t(0.975, degrees) == pytest.approx(quantile, rel=0.005)


PAIRS = 1000


def compared(papers: int, effect: float, ability: float = EASY) -> tuple[Draws, float]:
    """Simulated comparisons, and the true difference."""
    draws = draw(np.random.default_rng(0), papers=papers, pairs=PAIRS, effect=effect, ability=ability)
    before, after = truths(
        [
            draw(np.random.default_rng(seed), papers=papers, pairs=4000, effect=effect, ability=ability)
            for seed in (1, 2)
        ]
    )
    return draws, after - before if effect else 0.0


def intervals(draws: Draws) -> tuple[np.ndarray, np.ndarray]:
    """The bounds of each pair's difference."""
    change, sizes = draws.by_paper(draws.after - draws.before), draws.sizes
    return bounds(lambda counts: (counts @ change) / (counts @ sizes)[:, None], len(sizes))


@pytest.mark.parametrize(("papers", "effect"), [(10, 0.0), (15, 0.0), (30, 0.0), (45, 0.0), (30, -1.2), (45, -1.2)])
def test_intervals_of_1000_simulated_comparisons_cover_the_truth_in_95_percent(papers: int, effect: float) -> None:
    draws, truth = compared(papers, effect)
    low, high = intervals(draws)
    assert 0.93 <= share_covered(low, high, truth) <= 0.97
    seen = float(np.mean(high < 0))
    assert seen <= 0.035 if effect == 0 else seen >= 0.9


@pytest.mark.parametrize(("papers", "effect"), [(10, 0.0), (30, 0.0), (45, 0.0), (30, -0.8)])
def test_resampling_cases_instead_of_papers_would_not(papers: int, effect: float) -> None:
    draws, truth = compared(papers, effect)
    low, high = intervals(draws._replace(papers=np.arange(len(draws.papers))))
    assert share_covered(low, high, truth) < 0.90


@pytest.mark.parametrize(("papers", "effect", "ability"), [(5, -0.8, EASY), (10, -0.8, NEARLY_ALL)])
def test_of_few_papers_intervals_are_too_narrow_and_said_to_be(papers: int, effect: float, ability: float) -> None:
    draws, truth = compared(papers, effect, ability)
    assert 0.80 <= share_covered(*intervals(draws), truth) < 0.94
    assert f"({papers} the fewest)" in caution([papers, 45])
    assert caution([FEW_CLUSTERS, 45]) == ""


@pytest.mark.parametrize("ability", [EASY, HARD, NEARLY_ALL])
@pytest.mark.parametrize("papers", [5, 10, 15, 30])
def test_intervals_of_shares_cover_the_truth_with_few_papers_and_near_1(papers: int, ability: float) -> None:
    draws = draw(np.random.default_rng(0), papers=papers, pairs=PAIRS, ability=ability)
    truth, _ = truths([draw(np.random.default_rng(1), papers=papers, pairs=4000, ability=ability)])

    def covered(*, is_clustered: bool) -> float:
        found = [mean_interval(draws.sums(pair, is_clustered=is_clustered)[0], is_share=True) for pair in range(PAIRS)]
        low, high = (np.array(sides, dtype=float) for sides in list(zip(*found, strict=True))[1:])
        return share_covered(low, high, truth)

    assert 0.92 <= covered(is_clustered=True) <= 0.99
    if papers >= 10:
        assert covered(is_clustered=False) < covered(is_clustered=True) - 0.04


def test_small_groups_are_drawn_in_and_large_ones_are_not() -> None:
    rng = np.random.default_rng(3)
    groups = [list(rng.normal(0.0, 0.3, 40)), list(rng.normal(0.02, 0.3, 40)), [0.9], [-0.6, -0.9]]
    large, _, one, two = shrink(groups)
    assert abs(large.value - large.raw) < 0.1
    assert abs(one.value) < 0.75 * abs(one.raw)
    assert abs(two.value - two.raw) < abs(one.value - one.raw)  # two say more than one
    assert all(each.low < each.value < each.high for each in (large, one, two))


def test_groups_that_differ_by_chance_only_all_get_the_common_mean() -> None:
    found = shrink([[0.0, 1.0, 0.0, 1.0], [1.0, 0.0], [0.0, 1.0, 1.0, 0.0]])
    assert [each.value for each in found] == pytest.approx([0.5] * 3)
    assert [each.value for each in shrink([[0.0, 0.0], [0.0]])] == [0.0, 0.0]
