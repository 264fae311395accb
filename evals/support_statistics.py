"""Logistic regression and the statistics of a classifier, in numpy: what the support check is fitted and judged by."""

from collections import defaultdict
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
L2, STEPS, SAMPLES = 10.0, 30, 2000


def fit(features: Array, truth: Array, weights: Array) -> Array:
    """Logistic regression by Newton's method, L2 penalty on standardised features; the intercept comes first."""
    mean, deviation = features.mean(axis=0), features.std(axis=0) + 1e-9
    inputs = np.c_[np.ones(len(features)), (features - mean) / deviation]
    penalty = np.diag([0.0] + [L2] * features.shape[1])
    beta = np.zeros(inputs.shape[1])
    for _ in range(STEPS):
        p = 1 / (1 + np.exp(-inputs @ beta))
        gradient = inputs.T @ (weights * (truth - p)) - penalty @ beta
        hessian = (inputs * (weights * p * (1 - p))[:, None]).T @ inputs + penalty
        beta = beta + np.linalg.solve(hessian, gradient)
    slopes = beta[1:] / deviation
    return np.concatenate([[beta[0] - slopes @ mean], slopes])


def predict(beta: Array, features: Array) -> Array:
    """Probabilities, shape (n,), of rows of features (n, f) by weights (1 + f,)."""
    return np.asarray(1 / (1 + np.exp(-(beta[0] + features @ beta[1:]))))


def best_threshold(truth: Array, scores: Array, *, sets: NDArray[np.str_]) -> float:
    """The threshold of the highest balanced accuracy, averaged over the data sets that the examples are of."""
    candidates = np.quantile(scores, np.linspace(0.02, 0.98, 97))
    masks = [sets == name for name in np.unique(sets)]

    def quality(threshold: float) -> float:
        decided = (scores >= threshold).astype(np.float64)
        return float(np.mean([balanced_accuracy(truth[mask], decided[mask]) for mask in masks]))

    return float(max(candidates, key=quality))


def balanced_accuracy(truth: Array, decided: Array) -> float:
    """Mean of the share of true examples decided 1 and of false ones decided 0."""
    return float((decided[truth == 1].mean() + 1 - decided[truth == 0].mean()) / 2)


def roc_auc(truth: Array, scores: Array) -> float:
    """The chance that a true example scores higher than a false one; ties count half."""
    _, inverse, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    positives = int(truth.sum())
    negatives = len(truth) - positives
    return float((ranks[truth == 1].sum() - positives * (positives + 1) / 2) / (positives * negatives))


def interval(
    statistic: Callable[[Array, Array], float], truth: Array, values: Array, groups: Sequence[str], *, seed: int = 0
) -> str:
    """The statistic and, in brackets, the 95 % percentile interval over bootstrap samples of groups."""
    rows: dict[str, list[int]] = defaultdict(list)
    for row, group in enumerate(groups):
        rows[group].append(row)
    blocks = [np.array(block) for block in rows.values()]
    rng = np.random.default_rng(seed)
    samples = []
    for _ in range(SAMPLES):
        chosen = np.concatenate([blocks[block] for block in rng.integers(0, len(blocks), len(blocks))])
        if 0 < truth[chosen].sum() < len(chosen):
            samples.append(statistic(truth[chosen], values[chosen]))
    low, high = np.percentile(samples, [2.5, 97.5])
    return f"{statistic(truth, values):.3f} [{low:.3f}-{high:.3f}]"
