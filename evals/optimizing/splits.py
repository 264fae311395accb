"""Parts of a suite, no paper's questions and no conversation in two: to tune on, to choose by, and to report."""

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

from evals.cases.case import expand
from evals.cases.schema import AnyItem
from evals.running.errors import RunError

LEAST = 3
"""Items that each part needs."""
_PARTS = 4


class Splits(NamedTuple):
    """Half of the papers and conversations to tune on, a quarter to choose the best by, a quarter to report."""

    tune: list[AnyItem]
    choose: list[AnyItem]
    report: list[AnyItem]


def split(items: Sequence[AnyItem], *, seed: int) -> Splits:
    """Assigns each item by its paper or conversation. Raises RunError where a part would be too small to tell."""
    parts = Splits([], [], [])
    clusters = sorted({expand([item])[0].cluster for item in items}, key=lambda name: _digest(name, seed))
    place = {name: number * _PARTS // len(clusters) for number, name in enumerate(clusters)}
    for item in items:
        part = place[expand([item])[0].cluster]
        (parts.tune, parts.tune, parts.choose, parts.report)[part].append(item)
    if min(map(len, parts)) < LEAST:
        raise RunError(f"{len(items)} items are too few to tune on a part of them.", fix="Take a larger suite.")
    return parts


def _digest(name: str, seed: int) -> str:
    return hashlib.sha256(f"{seed}\0{name}".encode()).hexdigest()
