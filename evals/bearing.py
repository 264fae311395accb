"""Fits and measures which papers belong into a list: `python -m evals.bearing GOLD.jsonl PAPERS.jsonl`.

The questions are the "which" cases of the gold file and those of `evals/which_seed.jsonl`, whose papers were labelled
by reading the 19 seed abstracts; some of them no paper answers.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from evals.evidence import Floats, fit_logistic
from rag.bearing import LISTED, Bearing, bearing, subjects_of
from rag.domain import Paper
from rag.embedding import MiniLMEmbedder
from rag.keyword import KeywordIndex, analyze
from rag.questions import read_question
from rag.sentences import split_sentences

OWN = Path(__file__).parent / "which_seed.jsonl"


class ListQuestion(NamedTuple):
    """A question for a list, and which papers belong into it; those of `partly` are left out of fit and scores."""

    text: str
    papers: frozenset[str]
    partly: frozenset[str]


def load_questions(gold: Path) -> Iterator[ListQuestion]:
    """The questions for lists of both files."""
    for path in (gold, OWN):
        for item in map(json.loads, path.read_text("utf-8").splitlines()):
            if item.get("kind", "which") == "which":
                partly = frozenset(item.get("papers_partial") or ())
                yield ListQuestion(item["question"], frozenset(item["papers"]), partly)


def features_of(questions: Sequence[ListQuestion], papers: Path) -> tuple[Floats, Floats, Floats]:
    """Features of each pair of question and paper, whether it belongs, and the question's index: a row a pair."""
    records = [json.loads(line) for line in papers.read_text("utf-8").splitlines()]
    idf = KeywordIndex.build(Paper(r["id"], r["title"], tuple(r["authors"]), r["abstract"]) for r in records).idf
    embedder = MiniLMEmbedder()
    split = [[r["abstract"][start:end] for start, end in split_sentences(r["abstract"])] for r in records]
    terms = [[frozenset(analyze(sentence)) for sentence in sentences] for sentences in split]
    vectors = [embedder.embed(sentences) for sentences in split]
    rows, labels, groups = [], [], []
    for index, question in enumerate(questions):
        many = read_question(question.text).many
        asked = embedder.embed(subjects_of(many))
        for place, record in enumerate(records):
            if record["id"] not in question.partly:
                cosines = (asked @ vectors[place].T).max(axis=0).tolist()
                rows.append(bearing(many, title=record["title"], sentences=terms[place], cosines=cosines, idf=idf))
                labels.append(float(record["id"] in question.papers))
                groups.append(float(index))
    return np.array(rows), np.array(labels), np.array(groups)


def main() -> None:
    """Prints the weights, and precision and recall of the listed papers, each question left out of its own fit."""
    questions = list(load_questions(Path(sys.argv[1])))
    rows, labels, groups = features_of(questions, Path(sys.argv[2]))
    scores = np.zeros(len(labels))
    for group in np.unique(groups):
        weights = fit_logistic(rows[groups != group], labels[groups != group])
        scores[groups == group] = 1 / (1 + np.exp(-rows[groups == group] @ weights[:-1] - weights[-1]))
    for least in (0.2, 0.25, 0.3, LISTED, 0.4, 0.5):
        listed = scores >= least
        right = float(labels[listed].sum())
        print(f"from {least}: precision {right / listed.sum():.2f}, recall {right / labels.sum():.2f}")
    weights = fit_logistic(rows, labels)
    print("WEIGHTS =", Bearing(*(round(float(value), 2) for value in weights[:-1])))
    print("BIAS =", round(float(weights[-1]), 2))


if __name__ == "__main__":
    main()
