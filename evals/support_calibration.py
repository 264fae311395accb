"""Fits the support check's model and measures the check: `python -m evals.support_calibration [--write]`.

The model's figures are cross-validated in ten folds that never split a document. Intervals are 95 % percentiles of
2,000 bootstrap samples of documents. The made sentences of every other ICML abstract train; those of the rest are the
test of the whole check.
"""

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from evals.support_data import Dataset, load_scifact, load_wice, make_icml
from evals.support_statistics import Array, balanced_accuracy, best_threshold, fit, interval, predict, roc_auc
from rag.support.check import check_support
from rag.support.contradictions import find_contradictions, find_missing
from rag.support.coverage import cover
from rag.support.features import Features, measure
from rag.support.text import view_sentence

Head = Literal["full", "related"]
FOLDS, SEED = 10, 0
WEIGHTS = Path(__file__).resolve().parents[1] / "rag" / "support" / "weights.json"
DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
SUPPORTED_FROM = 0.5
"""More likely than not. Balanced accuracy alone would take 0.35, and show more unsupported sentences as supported."""
RULED = frozenset({"negated", "opposite", "exchanged numbers", "exchanged sides", "name of the other cited"})
"""Kinds whose words are all in the abstract: rules catch them, and the model is not trained on them."""


class Measured:
    """All examples that train a head: features (n, f), truth (n,), weights that make each data set count alike."""

    def __init__(self, datasets: Sequence[Dataset], features: Sequence[Array], *, head: Head) -> None:
        rows, truth, weights, groups, names = [], [], [], [], []
        for dataset, matrix in zip(datasets, features, strict=True):
            used = [
                (row, label, example.group)
                for row, example in zip(matrix, dataset.examples, strict=True)
                if example.kind not in RULED
                and (label := example.full if head == "full" else example.related) is not None
            ]
            rows += [row for row, _, _ in used]
            truth += [float(label) for _, label, _ in used]
            groups += [group for _, _, group in used]
            weights += [1000.0 / len(used)] * len(used)
            names += [dataset.name] * len(used)
        self.features, self.truth, self.weights = np.array(rows), np.array(truth), np.array(weights)
        self.groups, self.names = np.array(groups), np.array(names)

    def out_of_fold(self) -> tuple[Array, Array]:
        """Scores by models that did not see the document, and decisions by thresholds of the other folds."""
        folds = _folds(self.groups)
        scores, decided = np.zeros(len(self.truth)), np.zeros(len(self.truth))
        for fold in range(FOLDS):
            train, test = folds != fold, folds == fold
            beta = fit(self.features[train], self.truth[train], self.weights[train])
            scores[test] = predict(beta, self.features[test])
            decided[test] = scores[test] >= self._threshold(beta, train)
        return scores, decided

    def fitted(self) -> tuple[Array, float]:
        """The weights on all examples, intercept first, and the threshold that decides best."""
        beta = fit(self.features, self.truth, self.weights)
        return beta, self._threshold(beta, np.ones(len(self.truth), dtype=bool))

    def _threshold(self, beta: Array, rows: NDArray[np.bool_]) -> float:
        return best_threshold(self.truth[rows], predict(beta, self.features[rows]), sets=self.names[rows])


def features_of(dataset: Dataset) -> Array:
    """Shape (examples, features)."""
    rows = []
    for example in dataset.examples:
        coverage = cover(view_sentence(example.claim), example.sentences, idf=dataset.idf)
        findings = find_missing(coverage) + find_contradictions(coverage)
        rows.append(measure(coverage, findings))
    return np.array(rows)


def _folds(groups: NDArray[np.str_]) -> NDArray[np.int64]:
    names = sorted(set(groups.tolist()))
    order = np.random.default_rng(SEED).permutation(len(names)) % FOLDS
    fold = dict(zip(names, order.tolist(), strict=True))
    return np.array([fold[group] for group in groups.tolist()])


def report_model(measured: Measured, *, head: Head, datasets: Sequence[Dataset]) -> None:
    scores, decided = measured.out_of_fold()
    window = measured.features[:, Features._fields.index("window")]
    for dataset in datasets:
        own = measured.names == dataset.name
        truth, groups = measured.truth[own], measured.groups[own].tolist()
        auc = interval(roc_auc, truth, scores[own], groups)
        accuracy = interval(balanced_accuracy, truth, decided[own], groups)
        baseline = roc_auc(truth, window[own])
        print(
            f"{head:8} {dataset.name:16} n={own.sum():5} AUC {auc} BAcc {accuracy} (word recall alone: {baseline:.3f})"
        )


def report_check(dataset: Dataset) -> None:
    """The verdicts of the whole check by kind of made sentence, and its time."""
    verdicts: dict[str, Counter[str]] = {}
    started = perf_counter()
    for example in dataset.examples:
        verdict = check_support(example.claim, abstracts=example.abstracts, idf=dataset.idf)
        verdicts.setdefault(example.kind, Counter())[verdict.support] += 1
    milliseconds = 1000 * (perf_counter() - started) / len(dataset.examples)
    print(f"\nThe whole check on {dataset.name}: {milliseconds:.2f} ms a sentence")
    for kind, counts in verdicts.items():
        total = counts.total()
        shares = "  ".join(f"{name} {counts[name] / total:6.1%}" for name in ("supported", "partly", "unsupported"))
        print(f"{kind:24} n={total:5}  {shares}")


def _halves(dataset: Dataset) -> tuple[Dataset, Dataset]:
    """Every other abstract each."""
    order = {group: place for place, group in enumerate(dict.fromkeys(e.group for e in dataset.examples))}
    train, test = (
        tuple(example for example in dataset.examples if order[example.group] % 2 == half) for half in (0, 1)
    )
    return Dataset(dataset.name, train, dataset.idf), Dataset(f"{dataset.name} (held out)", test, dataset.idf)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA, help="the folder with grounding/ and icml2025_all.jsonl.gz")
    parser.add_argument("--write", action="store_true", help="store the fitted model, which the check then uses")
    arguments = parser.parse_args()
    made, held_out = _halves(make_icml(arguments.data, seed=SEED))
    datasets = [load_wice(arguments.data), load_scifact(arguments.data), made]
    features = [features_of(dataset) for dataset in datasets]
    fitted: dict[Head, tuple[Array, float]] = {}
    heads: tuple[Head, ...] = ("full", "related")
    for head in heads:
        measured = Measured(datasets, features, head=head)
        report_model(measured, head=head, datasets=datasets)
        fitted[head] = measured.fitted()
    if arguments.write:
        names = ("intercept", *Features._fields)
        stored: dict[str, object] = {
            "made_by": "python -m evals.support_calibration --write",
            "trained_on": {dataset.name: len(dataset.examples) for dataset in datasets},
            **{head: dict(zip(names, np.round(beta, 4).tolist(), strict=True)) for head, (beta, _) in fitted.items()},
            "supported_from": SUPPORTED_FROM,
            "related_from": round(fitted["related"][1], 3),
        }
        WEIGHTS.write_text(json.dumps(stored, indent=2) + "\n", encoding="utf-8")
    report_check(held_out)


if __name__ == "__main__":
    main()
