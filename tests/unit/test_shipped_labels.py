"""The labels that ship: readable, each claim once, on the packaged abstracts as they are."""

import json
from pathlib import Path

from evals.judging.labels import SupportLabel, read_labels, settled
from rag.support import check_support

ROOT = Path(__file__).parents[2]
LABELS = read_labels(ROOT / "evals" / "labels" / "qwen2.5-coder-1.5b.jsonl")


def test_each_claim_is_labelled_once_and_has_its_own_id() -> None:
    claims = settled(LABELS)
    assert len(claims) == len(LABELS) == 217
    assert [claim.claim_id for claim, _ in claims] == [label.id for label in LABELS]


def test_the_papers_are_those_of_the_package() -> None:
    lines = (ROOT / "rag" / "data" / "icml2025_seed.jsonl").read_text("utf-8").splitlines()
    abstracts = {record["id"]: record["abstract"] for record in map(json.loads, lines)}
    assert all(abstracts[paper.id] == paper.abstract for label in LABELS for paper in label.papers)


def test_the_readme_gives_their_counts() -> None:
    counts = [sum(label.label == word for label in LABELS) for word in ("supported", "partly", "unsupported")]
    readme = (ROOT / "README.md").read_text("utf-8")
    assert "{} are supported, {} partly, {} not".format(*counts) in readme


def test_the_check_shows_none_of_the_unsupported_sentences_as_supported() -> None:
    unsupported = [label for label in LABELS if label.label == "unsupported"]
    assert [label.sentence for label in unsupported if _is_shown_as_supported(label)] == []


def test_the_check_shows_nearly_all_of_the_supported_sentences_as_supported() -> None:
    supported = [label for label in LABELS if label.label == "supported"]
    assert sum(map(_is_shown_as_supported, supported)) / len(supported) >= 0.95


def _is_shown_as_supported(label: SupportLabel) -> bool:
    abstracts, titles = [paper.abstract for paper in label.papers], [paper.title for paper in label.papers]
    return check_support(label.sentence, abstracts=abstracts, known=titles).support == "supported"
