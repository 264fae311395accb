"""Fits and measures the evidence ranker on gold questions: `python -m evals.evidence GOLD.jsonl PAPERS.jsonl`."""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evals.textmatch import matches_nugget
from rag.embedding import MiniLMEmbedder
from rag.evidence import Features, sentence_features
from rag.questions import read_question
from rag.sentences import split_sentences

Floats = NDArray[np.float64]


class Example(NamedTuple):
    """A question about one paper: its sentences' features, which of them gold quotes name, and the nuggets."""

    name: str
    kind: str
    paper: str
    sentences: tuple[str, ...]
    features: Floats
    labels: Floats
    nuggets: Sequence[Mapping[str, Any]]


def load_examples(gold: Path, papers: Path) -> list[Example]:
    """Single questions, their paraphrases, and follow-up turns in standalone form that one paper answers."""
    abstracts = {record["id"]: record["abstract"] for record in map(json.loads, papers.read_text("utf-8").splitlines())}
    embedder = MiniLMEmbedder()
    examples = []
    for item in map(json.loads, gold.read_text("utf-8").splitlines()):
        for kind, text, source in _questions(item):
            cited = {entry["paper"] for entry in source["evidence"]}
            if len(cited) != 1:
                continue
            paper = cited.pop()
            abstract = abstracts[paper]
            sentences = tuple(abstract[span.start : span.end] for span in split_sentences(abstract))
            vectors = embedder.embed([text, *sentences])
            rows = sentence_features(read_question(text), abstract, cosines=(vectors[1:] @ vectors[0]).tolist())
            quotes = [entry["quote"] for entry in source["evidence"]]
            labels = [float(any(sentence in quote for quote in quotes)) for sentence in sentences]
            examples.append(
                Example(item["id"], kind, paper, sentences, np.array(rows), np.array(labels), source["nuggets"])
            )
    return examples


def _questions(item: Mapping[str, Any]) -> list[tuple[str, str, Mapping[str, Any]]]:
    if item["type"] == "single":
        found = [("single", item["question"], item)]
        if "variants" in item:
            found.append(("paraphrase", item["variants"]["paraphrase"], item))
        return found
    if item["type"] == "followup":
        return [
            ("turn", turn["standalone"], turn) for turn in item["turns"] if turn["answerable"] and turn.get("evidence")
        ]
    return []


def fit(examples: Sequence[Example]) -> Floats:
    """Weights of the features and, last, the bias, fitted on all sentences of `examples`."""
    return fit_logistic(
        np.concatenate([example.features for example in examples]),
        np.concatenate([example.labels for example in examples]),
    )


def fit_logistic(rows: Floats, labels: Floats, *, l2: float = 0.01, steps: int = 4000, rate: float = 0.5) -> Floats:
    """Logistic regression by gradient descent on standardised features: a weight a column of `rows`, and the bias."""
    mean, deviation = rows.mean(axis=0), rows.std(axis=0) + 1e-9
    design = np.c_[(rows - mean) / deviation, np.ones(len(rows))]
    weights = np.zeros(design.shape[1])
    for _ in range(steps):
        predicted = 1 / (1 + np.exp(-design @ weights))
        weights -= rate * (design.T @ (predicted - labels) / len(labels) + l2 * np.r_[weights[:-1], 0])
    scaled = weights[:-1] / deviation
    fitted: Floats = np.r_[scaled, weights[-1] - scaled @ mean]
    return fitted


def nugget_recall(example: Example, chosen: Sequence[int]) -> float:
    """Share of the vital nuggets that the chosen sentences say; 1 where there is none."""
    text = " ".join(example.sentences[index] for index in chosen)
    vital = [nugget for nugget in example.nuggets if nugget["vital"]]
    return sum(matches_nugget(text, nugget) for nugget in vital) / len(vital) if vital else 1.0


def _best(example: Example, weights: Floats, count: int) -> list[int]:
    order: list[int] = np.argsort(-(example.features @ weights[:-1]), kind="stable").tolist()
    return order[:count]


def main() -> None:
    """Prints the fitted weights and the recall of the best 1 to 5 sentences, each paper left out of its own fit."""
    examples = load_examples(Path(sys.argv[1]), Path(sys.argv[2]))
    held_out = {
        paper: fit([example for example in examples if example.paper != paper])
        for paper in {example.paper for example in examples}
    }
    for kind in ("single", "paraphrase", "turn"):
        of_kind = [example for example in examples if example.kind == kind]
        recalls = []
        for count in range(1, 6):
            values = [
                nugget_recall(
                    example,
                    np.argsort(-(example.features @ held_out[example.paper][:-1]), kind="stable")[:count].tolist(),
                )
                for example in of_kind
            ]
            recalls.append(f"{np.mean(values):.3f}")
        print(f"{kind}: {len(of_kind)} questions, vital nugget recall of the best 1..5 sentences {' '.join(recalls)}")
    weights = fit(examples)
    print("WEIGHTS =", Features(*(round(float(value), 2) for value in weights[:-1])))
    print("BIAS =", round(float(weights[-1]), 2))


if __name__ == "__main__":
    main()
