"""Where a page is, what is kept of it, and that nothing a client sends breaks or reaches what is another's."""

import json
import logging
from pathlib import Path

import pytest

from rag.conversations import FILE, ConversationStore
from tests.builders import answer
from ui.history import list_html
from ui.keeping import Keeper, Place, from_browser, to_browser

QUESTION = "What are memory traces?"


@pytest.fixture
def keeper(tmp_path: Path) -> Keeper:
    return Keeper(ConversationStore.open(tmp_path), owner="ada")


def ask(keeper: Keeper, place: Place, question: str = QUESTION, *, turn: int) -> Place:
    place = keeper.begin(place, question, corpus="c", turn=turn)
    keeper.finish(place, answer(question))
    return place


def questions(keeper: Keeper, place: Place) -> list[str]:
    return [turn.question for turn in keeper.turns(place.conversation_id) or ()]


def test_a_place_is_the_same_when_it_comes_back() -> None:
    place = Place("abc", (1, 0, 7))
    assert Place.from_json(place.to_json()) == place


@pytest.mark.parametrize(
    "sent",
    [
        "",
        "[",
        "null",
        "[]",
        '{"conversation": 5, "turns": []}',
        '{"conversation": "a", "turns": [true]}',
        None,
        "1" * 99,
        json.dumps({"conversation": "a" * 65, "turns": []}),
        json.dumps({"conversation": "a", "turns": [1] * 1001}),
    ],
)
def test_anything_else_is_the_place_of_a_new_conversation(sent: object) -> None:
    assert Place.from_json(sent) == Place()


def test_questions_follow_each_other_and_a_retry_takes_the_place_of_what_follows_it(keeper: Keeper) -> None:
    place = ask(keeper, Place(), turn=0)
    place = ask(keeper, place, "And then?", turn=1)
    assert questions(keeper, place) == [QUESTION, "And then?"]
    place = ask(keeper, place, "Or what?", turn=1)
    assert questions(keeper, place) == [QUESTION, "Or what?"]
    place = keeper.cut(place, turn=1)
    assert questions(keeper, place) == [QUESTION]
    assert keeper.cut(place, turn=0) == Place()
    assert keeper.headings("", corpus="c") == ()


def test_another_tabs_turns_stay(keeper: Keeper) -> None:
    first = ask(keeper, Place(), turn=0)
    ask(keeper, first, "In the other tab", turn=1)
    ask(keeper, first, "In this tab", turn=1)
    assert questions(keeper, first) == [QUESTION, "In the other tab", "In this tab"]


def test_a_judgement_is_of_the_turn_that_is_shown(keeper: Keeper) -> None:
    place = ask(keeper, ask(keeper, Place(), turn=0), "And then?", turn=1)
    assert keeper.rate(place, turn=1, liked=False)
    assert not keeper.rate(place, turn=5, liked=True)
    assert [turn.liked for turn in keeper.turns(place.conversation_id) or ()] == [None, False]


def test_a_store_that_fails_costs_no_answer(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    keeper = Keeper(ConversationStore.open(tmp_path), owner="ada")
    (tmp_path / FILE).write_bytes(b"broken" * 1000)
    with caplog.at_level(logging.WARNING):
        place = ask(keeper, Place(), turn=0)
    assert place == Place("", (0,))
    assert keeper.turns("x") is None
    assert "cannot be read or written" in caplog.text


def test_nothing_is_kept_without_a_store() -> None:
    keeper = Keeper(None, owner="")
    place = ask(keeper, Place(), turn=0)
    assert not keeper.keeps
    assert place == Place("", (0,))
    assert keeper.headings("", corpus="c") == ()
    assert not keeper.rate(place, turn=0, liked=True)


def test_what_a_browser_keeps_is_read_again_and_what_it_cannot_have_kept_is_left_out() -> None:
    sent = json.loads(to_browser(QUESTION, answer(), place=Place("", (0,))))
    assert (sent["title"], sent["turn"]) == (QUESTION, 0)
    (turn,) = from_browser([{}, sent["answer"], 5, {"papers": 7}])
    assert turn.answer == answer()
    for odd in (None, "text", 5, {}, [[]]):
        assert from_browser(odd) == ()


def test_titles_in_the_list_are_shown_as_text(keeper: Keeper) -> None:
    ask(keeper, Place(), '<img src=x onerror="x"> " onclick="x', turn=0)
    shown = list_html(keeper.headings("", corpus="c"), query="")
    assert "&lt;img src=x onerror=&quot;x&quot;&gt;" in shown
    assert "<img" not in shown
    assert "&lt;b&gt;" in list_html((), query="<b>")
