"""Drafts of cases: all are in the format, hold what the abstract says, and are marked as nobody's yet."""

import json
from typing import Any

import pytest

from evals.cases.case import expand
from evals.cases.schema import ITEM
from evals.drafting.model import read_drafts
from evals.drafting.templates import draft_by_templates, name_of
from tests.builders import paper

PAPER = paper(
    "p1",
    title="Faster decoding of long texts",
    abstract="It is slow. We propose the SpecX method, which drafts tokens. It is 2.5x faster than vLLM on LongBench.",
)


def drafts(*papers: Any, known: bool = False) -> dict[str, dict[str, Any]]:
    found = list(draft_by_templates(papers, is_known=lambda word: known, seed=0))
    return {record["id"].partition("-")[0]: record for record in found}


def test_every_draft_is_in_the_format_and_unreviewed() -> None:
    found = list(draft_by_templates([PAPER, paper("p2", abstract="No name and no figure.")], is_known=bool, seed=0))
    items = [ITEM.validate_python(record) for record in found]
    assert all(item.reviewed is False for item in items)  # type: ignore[union-attr]
    assert len({case.case_id for case in expand(items)}) == len(expand(items))


def test_a_name_comes_from_the_title_or_from_where_it_is_proposed() -> None:
    assert name_of(PAPER) == "SpecX"
    assert name_of(paper("x", title="CoLA: Latent actions", abstract="We propose it.")) == "CoLA"
    assert name_of(paper("x", title="On things", abstract="We propose a method.")) is None


def test_templates_ask_for_the_name_a_missing_number_and_what_is_not_said() -> None:
    found = drafts(PAPER)
    assert found["what"]["question"] == "What is SpecX?"
    assert found["what"]["evidence"][0]["quote"] == "We propose the SpecX method, which drafts tokens."
    assert found["gap"]["question"].endswith("It is ___ faster than vLLM on LongBench.")
    assert found["gap"]["nuggets"] == [{"fact": "2.5x", "aliases": ["2.5"]}]
    assert found["near"]["answerable"] is False
    assert found["talk"]["turns"][1]["standalone"] == "How well does SpecX work?"
    assert found["far"]["kind"] == "far"
    assert "far" not in drafts(PAPER, known=True)


def test_nothing_is_asked_as_unsaid_that_the_abstract_says() -> None:
    said = paper(
        "p", title="CoLA: x", abstract="One GPU, a learning rate of 1, a grant, a licence and an hour of training time."
    )
    assert "near" not in drafts(said)


GOOD = {"question": "How much faster is SpecX?", "answer": "2.5x", "quote": "It is 2.5x faster than vLLM on LongBench."}


@pytest.mark.parametrize(
    "bad",
    [
        '{"question": "x',
        json.dumps({**GOOD, "quote": "It is 3x faster."}),
        json.dumps({**GOOD, "answer": "3x"}),
        json.dumps({**GOOD, "question": " "}),
        json.dumps({**GOOD, "answer": 2.5}),
    ],
)
def test_a_models_draft_stays_only_if_quote_and_answer_stand_in_the_abstract(bad: str) -> None:
    drafted = read_drafts(f"Here you are:\n{json.dumps(GOOD)}\n{bad}\n", paper=PAPER)
    assert drafted.dropped == 1
    (item,) = drafted.items
    assert ITEM.validate_python(item).papers == ("p1",)  # type: ignore[union-attr]
    assert item["nuggets"] == [{"fact": "2.5x", "aliases": ["2.5x"]}]
    assert item["reviewed"] is False
