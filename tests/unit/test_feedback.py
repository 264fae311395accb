"""Likes and dislikes as drafts of cases, and what they say of retrieval."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from evals.feedback import LEAST_WEIGHT, propose_factor, to_items, weight_of
from rag.cli import app
from rag.conversations import ConversationStore, Feedback
from rag.domain import Answer
from tests.builders import answer

DAY = 86_400.0
NOW = 1_000 * DAY


def judged(liked: bool, *, days: float = 0.0, number: int = 1, given: Answer | None = None) -> Feedback:
    return Feedback(number, liked, "c", "What is it?", (), given or answer(), None, NOW - days * DAY)


def test_a_judgement_counts_half_after_each_half_life() -> None:
    weights = [weight_of(judged(True, days=days), now=NOW, half_life=90) for days in (0, 90, 180, -5)]
    assert weights == pytest.approx([1, 0.5, 0.25, 1])


def test_a_liked_answer_becomes_a_case_with_its_papers_and_a_liked_refusal_one_without() -> None:
    refused = replace(answer(), outcome="not_in_corpus", citations=(), sentences=())
    liked, refusal = to_items([judged(True), judged(True, number=2, given=refused)])
    assert (liked["type"], liked["papers"], liked["reviewed"]) == ("single", ["p1"], False)
    assert (refusal["type"], refusal["answerable"]) == ("unanswerable", False)


def test_a_disliked_answer_forbids_what_it_said() -> None:
    (disliked,) = to_items([judged(False)])
    assert disliked["forbid"] == [answer().sentences[0].text]
    assert "papers" not in disliked


def rank(question: str, factor: float) -> Sequence[str]:
    """The cited paper comes first where words count for more."""
    return ["p1", "x"] if factor > 1 else ["x", "y", "z", "p1"]


def test_likes_speak_for_what_ranks_their_papers_higher_and_dislikes_against_it() -> None:
    many = 2 * int(LEAST_WEIGHT)
    liked = propose_factor([judged(True)] * many, rank=rank, now=NOW)
    assert liked.factor > 1
    assert propose_factor([judged(False)] * many, rank=rank, now=NOW).factor == 1
    mixed = [judged(True, days=900)] * many + [judged(False)] * many
    assert propose_factor(mixed, rank=rank, now=NOW).factor == 1, "old likes do not outweigh fresh dislikes"


def test_few_or_old_judgements_change_nothing() -> None:
    few = propose_factor([judged(True)] * int(LEAST_WEIGHT - 1), rank=rank, now=NOW)
    old = propose_factor([judged(True, days=365)] * 40, rank=rank, now=NOW)
    assert (few.factor, few.tried, old.factor, old.tried) == (1, (), 1, ())
    assert "are needed" in few.reason


def run(*arguments: str, home: Path) -> str:
    done = CliRunner().invoke(app, ["eval", "feedback", *arguments, "--home", str(home)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def test_the_command_lists_exports_and_deletes(tmp_path: Path) -> None:
    store = ConversationStore.open(tmp_path)
    for liked in (True, False):
        turn = store.begin("ada", None, "What are memory traces?", corpus="c").turn_id
        store.finish(turn, answer())
        store.rate("ada", turn, liked)
    assert run("list", home=tmp_path).count("memory traces") == 2
    run("export", str(tmp_path / "cases.jsonl"), home=tmp_path)
    lines = (tmp_path / "cases.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(line)["kind"] for line in lines] == ["liked", "disliked"]
    linted = CliRunner().invoke(app, ["eval", "lint", str(tmp_path / "cases.jsonl")])
    assert linted.exit_code == 0, linted.output
    first, second = store.feedback()
    run("delete", str(first.feedback_id), home=tmp_path)
    assert store.feedback() == (second,)
    run("delete", "--all", home=tmp_path)
    assert store.feedback() == ()


def test_an_id_that_is_not_there_deletes_nothing(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["eval", "feedback", "delete", "7", "--home", str(tmp_path)])
    assert done.exit_code != 0
