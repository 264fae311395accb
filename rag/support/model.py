"""The logistic model of support: two probabilities from the same features."""

import math
from collections.abc import Sequence

from rag.support.features import Features
from rag.support.weights import FULL, RELATED


def probability_full(features: Features) -> float:
    """The probability that the evidence supports the whole sentence."""
    return _logistic(FULL, features)


def probability_related(features: Features) -> float:
    """The probability that the evidence supports at least a part of the sentence."""
    return _logistic(RELATED, features)


def _logistic(weights: Sequence[float], features: Features) -> float:
    """`weights` are the intercept and one weight a feature."""
    logit = weights[0] + sum(weight * value for weight, value in zip(weights[1:], features, strict=True))
    return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, logit))))
