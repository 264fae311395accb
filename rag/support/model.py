"""The logistic model of support: two probabilities from the same features, by weights that a script in evals fitted."""

import json
import math
from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

from rag.support.features import Features


class Model(NamedTuple):
    """Weights of the two probabilities (the intercept, then one a feature) and the probabilities that decide."""

    full: tuple[float, ...]
    related: tuple[float, ...]
    supported_from: float
    related_from: float


@lru_cache(maxsize=1)
def load_model() -> Model:
    """The fitted model in `weights.json`, which says where it comes from."""
    stored = json.loads(files("rag.support").joinpath("weights.json").read_text("utf-8"))
    names = ("intercept", *Features._fields)
    full, related = (tuple(float(stored[head][name]) for name in names) for head in ("full", "related"))
    return Model(full, related, stored["supported_from"], stored["related_from"])


def probability(weights: Sequence[float], features: Features) -> float:
    """The logistic function of the intercept and the weighted features."""
    logit = weights[0] + sum(weight * value for weight, value in zip(weights[1:], features, strict=True))
    return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, logit))))
