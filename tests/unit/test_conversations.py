"""Kept conversations: named, searched, changed, deleted, kept apart, and whole after damage."""

import sqlite3
import stat
import threading
from pathlib import Path

import pytest

from rag.conversation_file import ConversationError
from rag.conversations import FILE, Begun, ConversationStore, title_of
from tests.builders import answer

QUESTION = "What are memory traces?"


@pytest.fixture
def store(tmp_path: Path) -> ConversationStore:
    return ConversationStore.open(tmp_path)


def ask(store: ConversationStore, question: str = QUESTION, *, conversation: str | None = None) -> Begun:
    begun = store.begin("ada", conversation, question, corpus="c")
    store.finish(begun.turn_id, answer(question))
    return begun


def questions(store: ConversationStore, conversation_id: str) -> list[str]:
    conversation = store.conversation("ada", conversation_id)
    assert conversation
    return [turn.question for turn in conversation.turns]


def test_a_conversation_is_named_by_its_first_question_and_kept_whole(store: ConversationStore, tmp_path: Path) -> None:
    first = ask(store)
    ask(store, "And then?", conversation=first.conversation_id)
    kept = ConversationStore.open(tmp_path).conversation("ada", first.conversation_id)
    assert kept
    assert kept.title == QUESTION
    assert [turn.answer for turn in kept.turns] == [answer(QUESTION), answer("And then?")]


def test_the_file_is_readable_by_its_user_alone(store: ConversationStore, tmp_path: Path) -> None:
    ask(store)
    assert stat.S_IMODE((tmp_path / FILE).stat().st_mode) == 0o600


def test_a_question_without_an_answer_is_kept_as_one(store: ConversationStore) -> None:
    begun = store.begin("ada", None, QUESTION, corpus="c")
    conversation = store.conversation("ada", begun.conversation_id)
    assert conversation
    assert [(turn.question, turn.answer) for turn in conversation.turns] == [(QUESTION, None)]


def test_a_question_asked_again_takes_the_place_of_its_turns(store: ConversationStore) -> None:
    first = ask(store)
    second = ask(store, "And then?", conversation=first.conversation_id)
    third = ask(store, "And after?", conversation=first.conversation_id)
    instead = (second.turn_id, third.turn_id)
    store.begin("ada", first.conversation_id, "Or what?", corpus="c", instead_of=instead)
    assert questions(store, first.conversation_id) == [QUESTION, "Or what?"]


def test_two_tabs_of_one_conversation_lose_no_turn(store: ConversationStore) -> None:
    first = ask(store)
    threads = [
        threading.Thread(target=ask, args=(store, f"q{n}"), kwargs={"conversation": first.conversation_id})
        for n in range(12)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(questions(store, first.conversation_id)) == sorted([QUESTION, *(f"q{n}" for n in range(12))])


def test_nobody_sees_or_changes_what_is_anothers(store: ConversationStore) -> None:
    begun = ask(store)
    assert store.conversation("bob", begun.conversation_id) is None
    assert store.headings("bob") == ()
    store.rename("bob", begun.conversation_id, "mine")
    store.delete("bob", begun.conversation_id)
    store.drop("bob", begun.conversation_id, [begun.turn_id])
    store.rate("bob", begun.turn_id, True)
    added = store.begin("bob", begun.conversation_id, "Mine?", corpus="c")
    assert added.conversation_id != begun.conversation_id
    conversation = store.conversation("ada", begun.conversation_id)
    assert conversation
    assert (conversation.title, len(conversation.turns)) == (QUESTION, 1)
    assert store.feedback() == ()


def test_conversations_are_searched_by_title_question_and_answer_whatever_the_case(store: ConversationStore) -> None:
    first = ask(store)
    ask(store, "Überhaupt 100%_?", conversation=first.conversation_id)
    ask(store, "Something else entirely")
    assert [heading.title for heading in store.headings("ada")] == ["Something else entirely", QUESTION]
    for query in ("MEMORY", "uberhaupt 100", "moving averages of"):
        assert first.conversation_id in {heading.conversation_id for heading in store.headings("ada", query=query)}
    assert store.headings("ada", query="no such words") == ()
    assert store.headings("ada", corpus="other") == ()


def test_a_conversation_is_renamed_deleted_and_brought_back(store: ConversationStore, tmp_path: Path) -> None:
    begun = ask(store)
    store.rename("ada", begun.conversation_id, "  Traces \n of memory ")
    store.rename("ada", begun.conversation_id, "   ")
    assert [heading.title for heading in store.headings("ada")] == ["Traces of memory"]
    store.delete("ada", begun.conversation_id)
    assert store.headings("ada") == ()
    store.restore("ada", begun.conversation_id)
    assert len(store.headings("ada")) == 1
    store.delete("ada", begun.conversation_id)
    reopened = ConversationStore.open(tmp_path)
    reopened.restore("ada", begun.conversation_id)
    assert reopened.headings("ada") == ()


def test_a_conversation_whose_last_turn_is_taken_back_goes(store: ConversationStore) -> None:
    begun = ask(store)
    store.drop("ada", begun.conversation_id, [begun.turn_id])
    assert store.conversation("ada", begun.conversation_id) is None


def test_a_judgement_keeps_what_a_test_case_needs(store: ConversationStore) -> None:
    first = ask(store)
    begun = store.begin("ada", first.conversation_id, "And then?", corpus="c")
    store.finish(begun.turn_id, answer("And then?", prompt="answer/v1 abc"))
    store.rate("ada", begun.turn_id, True)
    store.rate("ada", begun.turn_id, False)
    store.drop("ada", first.conversation_id, [first.turn_id, begun.turn_id])
    (judged,) = store.feedback(corpus="c")
    assert not judged.liked
    assert (judged.question, judged.earlier, judged.prompt) == ("And then?", (QUESTION,), "answer/v1 abc")
    assert judged.answer == answer("And then?", prompt="answer/v1 abc")
    store.rate("ada", begun.turn_id, None)
    assert store.feedback() == ()


@pytest.mark.parametrize("damage", [b"not a database, by far" * 50, b"SQLite format 3\x00" + b"\xff" * 4000])
def test_a_damaged_file_is_set_aside_with_a_message(tmp_path: Path, damage: bytes) -> None:
    (tmp_path / FILE).write_bytes(damage)
    store = ConversationStore.open(tmp_path)
    assert store.notice
    (aside,) = tmp_path.glob("conversations-unreadable-*.sqlite3")
    assert aside.name in store.notice
    assert aside.read_bytes() == damage
    ask(store)
    assert ConversationStore.open(tmp_path).notice is None


def test_a_file_of_a_newer_version_is_kept_and_not_written_to(tmp_path: Path) -> None:
    database = sqlite3.connect(tmp_path / FILE)
    database.execute("PRAGMA user_version = 99")
    database.close()
    store = ConversationStore.open(tmp_path)
    assert store.notice
    assert "newer citewise" in store.notice


def test_a_file_that_may_not_be_used_is_an_error_and_stays(tmp_path: Path) -> None:
    (tmp_path / FILE).mkdir()
    with pytest.raises(ConversationError, match="cannot be read or written"):
        ConversationStore.open(tmp_path)
    assert (tmp_path / FILE).is_dir()


def test_a_damaged_answer_costs_its_turn_alone(store: ConversationStore, tmp_path: Path) -> None:
    first = ask(store)
    second = ask(store, "And then?", conversation=first.conversation_id)
    database = sqlite3.connect(tmp_path / FILE)
    database.execute("UPDATE turns SET answer = '{' WHERE turn_id = ?", (first.turn_id,))
    database.commit()
    database.close()
    conversation = store.conversation("ada", first.conversation_id)
    assert conversation
    assert [turn.answer is None for turn in conversation.turns] == [True, False]
    assert second.turn_id == conversation.turns[1].turn_id


def test_a_lone_surrogate_and_a_long_question_can_be_kept(store: ConversationStore) -> None:
    begun = ask(store, "odd \ud800 " + "long " * 100)
    conversation = store.conversation("ada", begun.conversation_id)
    assert conversation
    assert "\ufffd" in conversation.title
    assert len(title_of("x" * 500)) == 120
