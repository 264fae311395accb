"""The labels that ship: readable, each claim once, on the packaged abstracts as they are."""

import json
from pathlib import Path

import pytest

from evals.judging.labels import SupportLabel, read_labels, settled
from rag.support import check_support

ROOT = Path(__file__).parents[2]
SIZES = {"qwen2.5-coder-1.5b": 348, "qwen2.5-coder-0.5b": 61}
LABELS = {model: read_labels(ROOT / "evals" / "labels" / f"{model}.jsonl") for model in SIZES}


@pytest.mark.parametrize("model", SIZES)
def test_each_claim_is_labelled_once_and_has_its_own_id(model: str) -> None:
    claims = settled(LABELS[model])
    assert len(claims) == len(LABELS[model]) == SIZES[model]
    assert [claim.claim_id for claim, _ in claims] == [label.id for label in LABELS[model]]


@pytest.mark.parametrize("model", SIZES)
def test_the_papers_are_those_of_the_package(model: str) -> None:
    lines = (ROOT / "rag" / "data" / "icml2025_seed.jsonl").read_text("utf-8").splitlines()
    abstracts = {record["id"]: record["abstract"] for record in map(json.loads, lines)}
    assert all(abstracts[paper.id] == paper.abstract for label in LABELS[model] for paper in label.papers)


@pytest.mark.parametrize("model", SIZES)
def test_the_readme_gives_their_counts(model: str) -> None:
    words = ("supported", "partly", "unsupported")
    readme = (ROOT / "README.md").read_text("utf-8")
    assert "{} are supported, {} partly, {} not".format(*(len(_labelled(model, word)) for word in words)) in readme


@pytest.mark.parametrize(("model", "at_most"), [("qwen2.5-coder-1.5b", 3), ("qwen2.5-coder-0.5b", 2)])
def test_few_unsupported_sentences_are_shown_as_supported(model: str, at_most: int) -> None:
    assert sum(map(_is_shown_as_supported, _labelled(model, "unsupported"))) <= at_most


@pytest.mark.parametrize("model", SIZES)
def test_nearly_all_of_the_supported_sentences_are_shown_as_supported(model: str) -> None:
    supported = _labelled(model, "supported")
    assert sum(map(_is_shown_as_supported, supported)) / len(supported) >= 0.95


def _labelled(model: str, word: str) -> list[SupportLabel]:
    return [label for label in LABELS[model] if label.label == word]


def _is_shown_as_supported(label: SupportLabel) -> bool:
    abstracts, titles = [paper.abstract for paper in label.papers], [paper.title for paper in label.papers]
    return check_support(label.sentence, abstracts=abstracts, known=titles).support == "supported"
