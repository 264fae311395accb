"""Which papers turns were about, which of them a question points at, and how they steer what is found."""

from collections.abc import Sequence

import pytest

from rag.domain import Paper, ScoredPaper, Turn
from rag.followup import leans_on_history
from rag.referents import papers_of_turns, point_at, referent
from rag.steering import PRIOR, steer
from tests.builders import paper

CAPE = paper("c", title="Cape: Private Prompts", abstract="Cape hides words. With Cape nothing leaks.")
MILS = paper("m", title="Seeing and Hearing", abstract="MILS captions. MILS needs no training.")
COLA = paper("l", title="Latent Actions", abstract="CoLA steers an LLM. CoLA halves the time of the LLM.")
ALL = (CAPE, MILS, COLA)


def find(text: str) -> list[ScoredPaper]:
    """The papers by how many of the words they hold."""
    words = set(text.lower().replace("?", "").replace(".", "").split())
    shares = [sum(word in f"{held.title} {held.abstract}".lower() for word in words) / 10 for held in ALL]
    hits = [ScoredPaper(held, share, {}) for held, share in zip(ALL, shares, strict=True)]
    return sorted(hits, key=lambda hit: -hit.score)


def ids(turns: Sequence[Sequence[Paper]]) -> list[str]:
    return ["".join(held.paper_id for held in turn) for turn in turns]


def test_a_turn_is_about_what_its_answer_names_or_what_is_nearest_to_it() -> None:
    history = [
        Turn("Which method captions?", "MILS."),
        Turn("What hides words?", "A mechanism so that nothing leaks."),
        Turn("Compare MILS and CoLA", "MILS captions, CoLA steers."),
    ]
    assert ids(papers_of_turns(history, find, leans=leans_on_history)) == ["m", "c", "ml"]


def test_a_turn_without_an_answer_of_its_own_was_about_what_the_one_before_was() -> None:
    history = [Turn("Which method captions?", "MILS."), Turn("Who pays for it?", "The abstract does not say.")]
    assert ids(papers_of_turns(history, find, leans=leans_on_history)) == ["m", "m"]


def test_a_turn_that_points_at_the_other_paper_was_about_that() -> None:
    history = [
        Turn("Compare MILS and CoLA", "MILS captions, CoLA steers."),
        Turn("Which needs no training?", "MILS."),
        Turn("And what does the other one do?", "It halves something."),
    ]
    assert ids(papers_of_turns(history, find, leans=leans_on_history)) == ["ml", "m", "l"]


@pytest.mark.parametrize(
    ("question", "turns", "meant"),
    [
        ("What does the second one need?", [(CAPE, MILS)], MILS),
        ("And behind the first?", [(CAPE, MILS), (MILS,)], CAPE),
        ("And the other one?", [(CAPE, MILS), (MILS,)], CAPE),
        ("What does the other paper say?", [(CAPE,), (COLA,)], CAPE),
        ("Back to the first one: what is it?", [(COLA,), (CAPE, MILS)], COLA),
        ("What does the third one need?", [(CAPE, MILS)], None),
        ("And the second?", [(CAPE,)], None),
        ("What does the other one need?", [(CAPE,)], None),
        ("What does it need?", [(CAPE, MILS)], None),
        ("And the first?", [], None),
    ],
)
def test_places_and_the_other_one_point_at_a_paper(
    question: str, turns: list[tuple[Paper, ...]], meant: Paper | None
) -> None:
    assert point_at(question, turns) is meant


def test_a_referent_is_called_by_its_title_and_a_name_of_its_own() -> None:
    assert referent(MILS, [Turn("What is MILS?", "It is new.")]) == "MILS Seeing and Hearing"
    assert referent(CAPE, [Turn("What is it?", "It is new.")]) == "Cape: Private Prompts"


def first(hits: Sequence[ScoredPaper]) -> str:
    return hits[0].paper.paper_id


def test_what_goes_on_stays_with_the_last_paper_and_what_stands_alone_does_not() -> None:
    hits = [ScoredPaper(CAPE, 0.4, {}), ScoredPaper(MILS, 0.2, {}), ScoredPaper(COLA, 0.1, {})]
    turns = [(COLA,), (MILS,)]
    assert first(steer(hits, lean="goes on", turns=turns, pointed=None)) == "m"
    assert first(steer(hits, lean="stands alone", turns=turns, pointed=None)) == "c"
    assert first(steer(hits, lean="goes on", turns=turns, pointed=COLA)) == "l"


def test_a_return_skips_the_last_paper_and_scores_stay_within_1() -> None:
    hits = [ScoredPaper(MILS, 0.9, {}), ScoredPaper(CAPE, 0.8, {})]
    steered = steer(hits, lean="returns", turns=[(CAPE,), (MILS,)], pointed=None)
    assert first(steered) == "c"
    assert steered[0].score == pytest.approx(min(1.0, 0.8 + PRIOR["returns"]))
