"""Fusion of a dense and a keyword ranking into one, as pure functions over scores."""

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float32]


def standardize(scores: Scores) -> Scores:
    """z-scores of `scores`, shape kept; zeros where all are equal."""
    deviation = float(scores.std())
    return (scores - scores.mean()) / deviation if deviation > 0 else np.zeros_like(scores)
