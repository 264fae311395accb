"""What `power` promises, held against simulated runs of as many cases with that difference."""

import numpy as np
import pytest

from evals.results.loading import Results
from evals.results.power import Power, power_of
from evals.statistics.clusters import Sums
from evals.statistics.resampling import bounds, paired_difference
from tests.eval_builders import case, results
from tests.simulated_runs import Array, Draws, Papers, draw, truths

PAIRS = 1000
EFFECT = -0.6
CERTAIN = 3.0
"""Standard errors of a share of PAIRS that a right promise stays within."""


@pytest.fixture(scope="module")
def difference() -> float:
    """What EFFECT does to the share of right answers: some 12 points."""
    before, after = truths([draw(np.random.default_rng(seed), papers=80, pairs=4000, effect=EFFECT) for seed in (1, 2)])
    return before - after


def as_results(papers: Papers, scores: Array, name: str) -> Results:
    cases = {f"q{n}": case(case_id=f"q{n}", cluster=f"p{paper}") for n, paper in enumerate(papers)}
    return results({f"q{n}": {"nugget_recall": float(score)} for n, score in enumerate(scores)}, name=name, **cases)


def promised(draws: Draws, pair: int, *, difference: float, chance: float = 0.8) -> Power:
    one, other = (as_results(draws.papers, side[:, pair], "run") for side in (draws.before, draws.after))
    return power_of(one, metric="nugget_recall", other=other, chance=chance, differences=[difference])


def share_seen(draws: Draws) -> float:
    """How often the interval of the difference leaves out 0."""
    change, sizes = draws.by_paper(draws.after - draws.before), draws.sizes
    low, high = bounds(lambda counts: (counts @ change) / (counts @ sizes)[:, None], len(sizes), resamples=4000)
    return float(np.mean((low > 0) | (high < 0)))


def tolerance(chance: float) -> float:
    return float(CERTAIN * np.sqrt(chance * (1 - chance) / PAIRS))


@pytest.mark.parametrize("chance", [0.5, 0.8, 0.9])
def test_with_the_cases_that_it_asks_for_a_difference_is_seen_as_often_as_it_says(
    difference: float, chance: float
) -> None:
    large = draw(np.random.default_rng(3), papers=6000, pairs=1, effect=EFFECT)
    (needed,) = promised(large, 0, difference=difference, chance=chance).rows
    draws = draw(np.random.default_rng(4), papers=needed.clusters, pairs=PAIRS, effect=EFFECT)
    assert needed.cases == pytest.approx(len(draws.papers), rel=0.1)
    assert share_seen(draws) == pytest.approx(chance, abs=tolerance(chance))
    half = draw(np.random.default_rng(4), papers=needed.clusters // 2, pairs=PAIRS, effect=EFFECT)
    assert share_seen(half) < chance - 2 * tolerance(chance)


def test_the_chance_with_the_cases_of_a_run_is_that_of_runs_of_its_size(difference: float) -> None:
    draws = draw(np.random.default_rng(5), papers=40, pairs=PAIRS, effect=EFFECT)
    told = [promised(draws, pair, difference=difference).rows[0].power_now for pair in range(100)]
    assert share_seen(draws) == pytest.approx(np.mean(told), abs=tolerance(float(np.mean(told))))


def test_from_one_run_alone_it_holds_where_scores_are_as_alike_as_assumed() -> None:
    """Scores of a case in two runs that correlate by 0.5, both between papers and within one."""
    rng, papers, lost = np.random.default_rng(6), np.repeat(np.arange(60), 4), 0.05

    def alike(shape: tuple[int, ...]) -> tuple[Array, Array]:
        common, one, other = rng.normal(0, 0.1, (3, *shape))
        return common + one, common + other

    def drawn(pairs: int) -> tuple[Array, Array]:
        of_papers, of_cases = alike((60, pairs)), alike((240, pairs))
        before, after = (0.6 + paper[papers] + own for paper, own in zip(of_papers, of_cases, strict=True))
        return before, after - lost

    before, after = drawn(PAIRS)
    powers = [
        power_of(as_results(papers, before[:, pair], "run"), metric="nugget_recall", differences=[lost])
        for pair in range(100)
    ]
    told = float(np.mean([power.rows[0].power_now for power in powers]))
    names, sizes = tuple(map(str, range(60))), np.full(60, 4.0)
    seen = [
        paired_difference(
            *(Sums(names, np.bincount(papers, side[:, pair]).astype(float), sizes) for side in (before, after))
        )
        for pair in range(PAIRS // 4)
    ]
    share = float(np.mean([each.high is not None and each.high < 0 for each in seen]))
    assert share == pytest.approx(told, abs=2 * tolerance(told))
