"""Follow-up questions without a model."""

import pytest

from rag.domain import Paper, ScoredPaper, Turn
from rag.followup import how_it_leans, leans_on_history, standalone_question
from tests.builders import paper

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
def test_a_question_that_says_what_it_is_about_does_not(question: str) -> None:
    assert not leans_on_history(question)


TRACES, OTHER, THIRD = paper("t", title="Memory Traces"), paper("o", title="Other"), paper("x", title="Third")


def found(*scores: tuple[Paper, float]) -> list[ScoredPaper]:
    return [ScoredPaper(held, score, {}) for held, score in scores]


@pytest.mark.parametrize(
    ("question", "best", "lean"),
    [
        ("Where do I find the code?", 0.4, "goes on"),
        ("And on which data?", 0.4, "goes on"),
        ("What does it cost?", 0.3, "goes on"),
        ("What do the authors propose?", 0.5, "goes on"),
        ("What is satisficing alignment?", 0.8, "stands alone"),
        ("Why does the clipping step of earlier average-reward algorithms make them prohibitive?", 0.5, "stands alone"),
        ("What about SITAlign?", 0.6, "stands alone"),
        ("Back to the cameras: which decoder is used?", 0.4, "returns"),
        ("Once more on the attack: which models were behind it?", 0.4, "returns"),
    ],
)
def test_how_a_question_leans_is_told_by_its_words_and_by_what_they_find(question: str, best: float, lean: str) -> None:
    history = (Turn("What are memory traces?", "Averages of observations."),)
    hits = found((OTHER, best), (TRACES, 0.1))
    assert how_it_leans(question, history, found=hits, turns=[(TRACES,)]) == lean


def test_words_that_find_the_last_paper_go_on_with_it_more_readily() -> None:
    history, question = (Turn("What are memory traces?", "Averages."),), "Are there bounds for the traces as well?"
    near = how_it_leans(question, history, found=found((TRACES, 0.5)), turns=[(TRACES,)])
    far = how_it_leans(question, history, found=found((OTHER, 0.9), (TRACES, 0.0)), turns=[(TRACES,)])
    assert (near, far) == ("goes on", "stands alone")


def test_a_german_question_leans_as_its_english_one_does() -> None:
    history = (Turn("Was sind Gedächtnisspuren?", "Averages."),)
    assert how_it_leans("Und wo ist der Code?", history, found=found((OTHER, 0.3)), turns=[(TRACES,)]) == "goes on"


def test_the_topic_of_the_last_turn_is_added() -> None:
    searched = standalone_question("What score does it get on math500?", HISTORY, lean="goes on")
    assert searched.startswith("What score does it get on math500? (")
    assert "CoLA" in searched
    assert "latent" in searched


def test_the_latest_turn_comes_first_and_old_turns_are_left_out() -> None:
    turns = [Turn(f"And why topic{i}A?", "") for i in range(5)]
    searched = standalone_question("Why is it hard?", turns, lean="goes on")
    assert searched.index("topic4A") < searched.index("topic3A")
    assert "topic2A" not in searched


def test_without_history_nothing_is_added() -> None:
    assert standalone_question("What about it?", (), lean="goes on") == "What about it?"


@pytest.mark.parametrize("question", ["What is the boiling point of ethanol?", "How tall is the Eiffel Tower?"])
def test_a_short_question_whose_subject_the_last_papers_do_not_have_stands_alone(question: str) -> None:
    history = (Turn("What are memory traces?", "Averages."),)
    hits = found((OTHER, 0.1), (TRACES, 0.1))
    assert how_it_leans(question, history, found=hits, turns=[(TRACES,)]) == "stands alone"
