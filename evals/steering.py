"""Fits what tells whether a question goes on with the conversation: `python -m evals.steering GOLD.jsonl CORPUS...`.

The later turns of the gold file and of the seed suite go on with the last turn, or return. Their single questions, and
those of `evals/openers.jsonl`, asked behind the turns of conversations on other papers, do not. CORPUS names ingested
corpora that hold the seed papers.
"""

import json
import random
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from evals.evidence import Floats, fit_logistic
from rag.assistant import Assistant
from rag.domain import Turn
from rag.followup import bearings_of, leans_on_history
from rag.glossary import in_english
from rag.referents import papers_of_turns, point_at
from rag.settings import load_settings
from rag.steering import WIDE, Bearings

HERE = Path(__file__).parent
FOLDS = 10
SEED = 5


class Asked(NamedTuple):
    """A question amid a conversation. `papers` hold its answer; `group` is left out of fits as a whole."""

    question: str
    history: tuple[Turn, ...]
    papers: frozenset[str]
    group: str
    is_later: bool


def later_turns(items: Sequence[dict]) -> Iterator[Asked]:  # type: ignore[type-arg]
    """The turns behind the first of all conversations."""
    for item in items:
        history: tuple[Turn, ...] = ()
        for turn in item.get("turns", ()):
            if history:
                yield Asked(turn["user"], history, frozenset(turn["papers"]), item["id"], is_later=True)
            history = (*history, Turn(turn["user"], turn["answer"]))


def questions_elsewhere(items: Sequence[dict], turns: Sequence[Asked]) -> Iterator[Asked]:  # type: ignore[type-arg]
    """Each single question, and its paraphrase, behind two conversations on other papers."""
    draw = random.Random(SEED)  # noqa: S311
    for item in items:
        for question in (item["question"], item.get("variants", {}).get("paraphrase")):
            papers = frozenset(item["papers"])
            others = [turn.history for turn in turns if not turn.papers & papers] if question else []
            for history in draw.sample(others, k=min(2, len(others))):
                yield Asked(question, history, papers, min(papers), is_later=False)


def examples(asked: Sequence[Asked], corpus: str) -> Iterator[tuple[Bearings, bool, str]]:
    """The features of each question, whether it goes on with the last turn, and its group; returns are left out."""
    assistant = Assistant.from_settings(load_settings(corpus=corpus, writer="extractive"))
    for item in asked:
        turns = papers_of_turns(item.history, lambda text: assistant.search(text, k=8), leans=leans_on_history)
        goes_on = item.is_later and bool({paper.paper_id for paper in turns[-1]} & item.papers)
        if item.is_later and (not item.papers or (not goes_on and point_at(item.question, turns))):
            continue
        found = assistant.search(item.question, k=WIDE)
        yield bearings_of(in_english(item.question), found=found, turn=turns[-1]), goes_on, item.group


def fit(features: Floats, labels: Floats) -> Floats:
    """The weights and the bias, with the later turns repeated so that both classes weigh about the same."""
    more = np.repeat(np.flatnonzero(labels == 1), round((labels == 0).sum() / (labels == 1).sum()) - 1)
    rows = np.r_[np.arange(len(labels)), more]
    return fit_logistic(features[rows], labels[rows])


def main() -> None:
    """Prints the weights, and how well questions are told apart that are left out of the fit."""
    gold, *corpora = sys.argv[1:]
    seed = HERE / "suites" / "seed"
    paths = (Path(gold), seed / "single.jsonl", seed / "followup.jsonl")
    items = [json.loads(line) for path in paths for line in path.read_text("utf-8").splitlines()]
    openers = [json.loads(line) for line in (HERE / "openers.jsonl").read_text("utf-8").splitlines()]
    later = list(later_turns(items))
    single = [*(item for item in items if item["type"] == "single"), *openers]
    asked = [*later, *questions_elsewhere(single, later)]
    rows = [row for corpus in corpora for row in examples(asked, corpus)]
    features, labels = np.array([row[0] for row in rows]), np.array([float(row[1]) for row in rows])
    groups = np.array([row[2] for row in rows])
    scores = np.zeros(len(rows))
    for fold in range(FOLDS):
        out = np.isin(groups, sorted(set(groups))[fold::FOLDS])
        weights = fit(features[~out], labels[~out])
        scores[out] = features[out] @ weights[:-1] + weights[-1]
    told, taken = np.mean(scores[labels == 1] > 0), np.mean(scores[labels == 0] > 0)
    print(f"of those that go on {told:.3f} are told, of the others {taken:.3f} are taken for such")
    weights = fit(features, labels)
    print("WEIGHTS =", Bearings(*(round(float(value), 2) for value in weights[:-1])))
    print("BIAS =", round(float(weights[-1]), 2))


if __name__ == "__main__":
    main()
