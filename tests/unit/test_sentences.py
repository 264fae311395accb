"""Sentences of abstracts and answers, as spans."""

import json
from pathlib import Path

import pytest

from rag.sentences import split_sentences


def parts(text: str) -> list[str]:
    return [text[span.start : span.end] for span in split_sentences(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("We beat it by 22.3% on average. It holds.", ["We beat it by 22.3% on average.", "It holds."]),
        ("See Smith et al. for more. Done.", ["See Smith et al. for more.", "Done."]),
        ("We use tools (e.g. LLMs) here. Next.", ["We use tools (e.g. LLMs) here.", "Next."]),
        ("Work by J. Smith is old. Ours is new.", ["Work by J. Smith is old.", "Ours is new."]),
        ("Code: https://a.b/c.d. More text.", ["Code: https://a.b/c.d.", "More text."]),
        ('He said "it works." Then he left.', ['He said "it works."', "Then he left."]),
        ("**Bold.** Next one.", ["**Bold.**", "Next one."]),
        ("It ends in dimension D. We then stop.", ["It ends in dimension D.", "We then stop."]),
        ("Intro:\n- first item\n- second item", ["Intro:", "- first item", "- second item"]),
        ("One\n\nTwo", ["One", "Two"]),
        ("这是第一句。这是第二句。", ["这是第一句。", "这是第二句。"]),
        ("vMF comes first. vMF-exp comes second.", ["vMF comes first.", "vMF-exp comes second."]),
        ("", []),
        (" \n ", []),
    ],
)
def test_splits_where_a_reader_would(text: str, expected: list[str]) -> None:
    assert parts(text) == expected


def test_a_long_run_of_closing_marks_takes_no_long_time() -> None:
    assert parts("A." + "}$" * 5000 + "x") == ["A." + "}$" * 5000 + "x"]


def test_every_gold_quote_begins_and_ends_at_sentence_bounds(shared_data: Path) -> None:
    abstracts = {
        record["id"]: record["abstract"]
        for record in map(json.loads, (shared_data / "icml2025_seed.jsonl").read_text("utf-8").splitlines())
    }
    checked = 0
    for item in map(json.loads, (shared_data / "gold_dev.jsonl").read_text("utf-8").splitlines()):
        for quote in item.get("evidence", []):
            abstract = abstracts[quote["paper"]]
            start = abstract.index(quote["quote"])
            spans = split_sentences(abstract)
            assert start in {span.start for span in spans}
            assert start + len(quote["quote"]) in {span.end for span in spans}
            checked += 1
    assert checked > 100
