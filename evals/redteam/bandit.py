"""Which operator to try next: Thompson sampling (Thompson 1933) on how often attacks that it made got through."""

import random
from collections.abc import Iterable


class Bandit:
    """Beta-Bernoulli arms with a uniform prior."""

    def __init__(self, arms: Iterable[str], *, rng: random.Random) -> None:
        self._rng = rng
        self.hits = dict.fromkeys(arms, 0)
        self.tries = dict.fromkeys(self.hits, 0)

    def choose(self) -> str:
        """The arm whose drawn rate is highest."""
        draws = {arm: self._rng.betavariate(1 + hits, 1 + self.tries[arm] - hits) for arm, hits in self.hits.items()}
        return max(draws, key=draws.__getitem__)

    def note(self, arm: str, *, is_hit: bool) -> None:
        """Takes in how one try went."""
        self.tries[arm] += 1
        self.hits[arm] += is_hit
