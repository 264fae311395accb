"""Follow-up questions without a model."""

import pytest

from rag.domain import Turn
from rag.followup import leans_on_history, standalone_question

HISTORY = (Turn("Which paper adds latent actions to LLMs?", "CoLA adds a latent action space."),)


@pytest.mark.parametrize(
    "question",
    [
        "What score does it get?",
        "And on math500?",
        "How high does that go?",
        "Why?",
        "What about its limitations?",
        "Which of the two is better?",
        "What did earlier work rely on instead?",
        "Where did the authors test?",
    ],
)
def test_a_question_that_refers_back_leans_on_history(question: str) -> None:
    assert leans_on_history(question)


@pytest.mark.parametrize(
    "question",
    [
        "What are memory traces?",
        "Is there a paper that uses diffusion?",
        "Which papers show that reinforcement learning helps?",
        "What is SITAlign?",
    ],
)
def test_a_question_that_says_what_it_is_about_stands_alone(question: str) -> None:
    assert standalone_question(question, HISTORY) == question


def test_the_topic_of_the_last_turn_is_added() -> None:
    searched = standalone_question("What score does it get on math500?", HISTORY)
    assert searched.startswith("What score does it get on math500? (")
    assert "CoLA" in searched
    assert "latent" in searched


def test_the_latest_turn_comes_first_and_old_turns_are_left_out() -> None:
    turns = [Turn(f"And why topic{i}A?", "") for i in range(5)]
    searched = standalone_question("Why is it hard?", turns)
    assert searched.index("topic4A") < searched.index("topic3A")
    assert "topic2A" not in searched


def test_without_history_nothing_is_added() -> None:
    assert standalone_question("What about it?", ()) == "What about it?"
