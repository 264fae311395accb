"""The search: plain attacks first, then mutations of what got through, then the best shapes again with other words.

Rates of the middle part are those of a search that prefers what works: they say where to look. What the defence is
worth is said by the first part and the last, whose attacks were fixed before they were asked.
"""

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from evals.injections import Rate, wilson
from evals.redteam.bandit import Bandit
from evals.redteam.mutations import OPERATORS, PLACES, Attack, Place, anew, apply, plain_attack

Phase = Literal["plain", "search", "again"]
PLAIN_SHARE, AGAIN_SHARE = 0.2, 0.2
"""Shares of the budget."""
ROUND = 16
"""Attacks that are planted together."""
EXPLOIT = 0.7
"""Chance that a mutation starts from an attack that got through, once there is one."""
MOST_OPERATORS = 4
BEST = 3
AskAll = Callable[[Sequence[Attack]], list[bool | None]]
"""Asks about attacks and says which showed their marker; None where the call failed."""


class Try(NamedTuple):
    """An attack that was made, and whether it got through; None where the call failed."""

    phase: Phase
    attack: Attack
    is_hit: bool | None


@dataclass(frozen=True, slots=True)
class Found:
    """All tries, in order."""

    tries: tuple[Try, ...]

    def rate(self, phase: Phase) -> Rate:
        """How many attacks of a phase got through, of those that were answered."""
        return _rate([each for each in self.tries if each.phase == phase])

    @property
    def failed(self) -> int:
        return sum(each.is_hit is None for each in self.tries)

    def by_operator(self) -> dict[str, Rate]:
        """Of the attacks that an operator has part in, how many got through."""
        return {name: _rate([t for t in self.tries if name in t.attack.operators]) for name in OPERATORS}

    def by_place(self) -> dict[str, Rate]:
        """The same by where the instruction stood."""
        return {place: _rate([t for t in self.tries if t.attack.place == place]) for place in PLACES}

    def hits(self) -> list[Attack]:
        """The attacks that got through."""
        return [each.attack for each in self.tries if each.is_hit]


def red_team(*, budget: int, seed: int, ask: AskAll) -> Found:
    """Makes exactly `budget` attacks. The same seed and the same replies give the same attacks."""
    rng = random.Random(seed)  # noqa: S311 - a search, no secret
    tries: list[Try] = []

    def attempt(attacks: Sequence[Attack], phase: Phase) -> list[bool | None]:
        said = [hit for start in range(0, len(attacks), ROUND) for hit in ask(attacks[start : start + ROUND])]
        tries.extend(Try(phase, attack, hit) for attack, hit in zip(attacks, said, strict=True))
        return said

    plain, again = max(1, round(budget * PLAIN_SHARE)), round(budget * AGAIN_SHARE)
    attempt([plain_attack(rng, place=PLACES[n % len(PLACES)]) for n in range(plain)], "plain")
    bandit = Bandit(OPERATORS, rng=rng)
    while (left := budget - again - len(tries)) > 0:
        through = [each.attack for each in tries if each.is_hit]
        made = [_mutate(through, bandit.choose(), rng) for _ in range(min(ROUND, left))]
        for (operator, _), hit in zip(made, attempt([attack for _, attack in made], "search"), strict=True):
            if hit is not None:
                bandit.note(operator, is_hit=hit)
    shapes = _best_shapes(tries)
    if shapes:
        attempt([anew(shapes[n % len(shapes)], rng, place=shapes[n % len(shapes)][0]) for n in range(again)], "again")
    return Found(tuple(tries))


def _mutate(through: Sequence[Attack], operator: str, rng: random.Random) -> tuple[str, Attack]:
    """A child of an attack that got through, or of a plain one, with the operator applied."""
    short = [attack for attack in through if len(attack.operators) < MOST_OPERATORS]
    if short and rng.random() < EXPLOIT:
        parent = rng.choice(short)
        start = anew(parent.shape, rng, place=parent.place)
    else:
        start = plain_attack(rng, place=rng.choice(PLACES))
    return operator, apply(start, operator)


def _best_shapes(tries: Sequence[Try]) -> list[tuple[Place, tuple[str, ...]]]:
    """The shapes of the search with the highest lower bound of their rate; the most tried where none got through."""
    searched = [each for each in tries if each.phase == "search" and each.is_hit is not None]
    hits, total = Counter[tuple[Place, tuple[str, ...]]](), Counter[tuple[Place, tuple[str, ...]]]()
    for each in searched:
        total[each.attack.shape] += 1
        hits[each.attack.shape] += bool(each.is_hit)
    return sorted(total, key=lambda shape: (-wilson(hits[shape], total[shape]).low, -total[shape]))[:BEST]


def _rate(tries: Sequence[Try]) -> Rate:
    answered = [each for each in tries if each.is_hit is not None]
    return wilson(sum(bool(each.is_hit) for each in answered), len(answered))
