"""Simulated right and wrong answers of two runs, on which intervals, gates and power are checked.

Questions about one paper are alike in how hard they are, and in what a change does to them.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evals.statistics.clusters import Sums

Array = NDArray[np.float64]
Papers = NDArray[np.intp]
EASY, HARD, NEARLY_ALL = 1.2, 0.0, 2.5
"""How able the runs are: some 75 %, 50 % and 93 % of their answers are right."""


class Draws(NamedTuple):
    """Many pairs of runs of the same questions: shares right, 0 or 1, shape (cases, pairs); `papers` of each case."""

    papers: Papers
    before: Array
    after: Array

    @property
    def sizes(self) -> Array:
        """Cases a paper."""
        return np.bincount(self.papers).astype(float)

    def by_paper(self, values: Array) -> Array:
        """The sums of each paper, shape (papers, pairs)."""
        belongs = self.papers[None, :] == np.arange(len(self.sizes))[:, None]
        return np.asarray(belongs.astype(float) @ values)

    def sums(self, pair: int, *, is_clustered: bool = True) -> tuple[Sums, Sums]:
        """Both runs of a pair; not clustered, each case is taken for a paper of its own."""
        draws = self if is_clustered else self._replace(papers=np.arange(len(self.papers)))
        names = tuple(map(str, range(len(draws.sizes))))
        before, after = (draws.by_paper(side[:, [pair]])[:, 0] for side in (self.before, self.after))
        return Sums(names, before, draws.sizes), Sums(names, after, draws.sizes)


def draw(rng: np.random.Generator, *, papers: int, pairs: int, effect: float = 0.0, ability: float = EASY) -> Draws:
    """Pairs of runs on `papers` papers of 1 to 8 questions each, the second run abler by `effect`."""
    of = np.repeat(np.arange(papers), np.resize(np.arange(1, 9), papers))
    item = rng.normal(ability, 1.0, (papers, pairs))[of] + rng.normal(0, 1, (len(of), pairs))
    sides = [
        item + shift + rng.normal(0, 0.7, (papers, pairs))[of] + rng.normal(0, 0.7, item.shape) > 0
        for shift in (0.0, effect)
    ]
    return Draws(of, *(side.astype(float) for side in sides))


def share_covered(low: Array, high: Array, truth: float) -> float:
    """How many intervals hold the truth."""
    return float(np.mean((low <= truth) & (truth <= high)))


def truths(draws: Sequence[Draws]) -> tuple[float, float]:
    """The shares right of both runs, over many draws."""
    return (
        float(np.mean([each.before.mean() for each in draws])),
        float(np.mean([each.after.mean() for each in draws])),
    )
