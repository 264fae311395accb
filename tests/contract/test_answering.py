"""The path of a question against real parts: the packaged papers, and a scripted endpoint as the chat model."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rag.assistant import Assistant
from rag.domain import Answer, Cited, Finished, Retrieved, TextPart, Turn
from rag.errors import InputError
from tests.contract import scripted_server as play
from tests.contract.scripted_server import ScriptedServer, scripted_server

Ask = Callable[..., Answer]
QUESTION = "What are memory traces?"


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with scripted_server() as running:
        yield running


def chat_assistant(server: ScriptedServer, home: Path, monkeypatch: pytest.MonkeyPatch, model: str) -> Assistant:
    for name, value in {
        "CITEWISE_BASE_URL": server.base_url,
        "CITEWISE_MODEL": model,
        "CITEWISE_DEADLINE": "4",
        "CITEWISE_FIRST_TOKEN_TIMEOUT": "1",
        "CITEWISE_HOME": str(home),
    }.items():
        monkeypatch.setenv(name, value)
    return Assistant.open()


@pytest.fixture
def ask(server: ScriptedServer, seed_home: Path, monkeypatch: pytest.MonkeyPatch) -> Ask:
    def asked(model: str, question: str = QUESTION) -> Answer:
        return chat_assistant(server, seed_home, monkeypatch, model).ask(question)

    return asked


def test_the_chat_writer_streams_cites_and_is_checked(
    server: ScriptedServer, seed_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.script("good", "Memory traces are exponential moving averages of observations [1]. They cost 7 euros [1].")
    events = list(chat_assistant(server, seed_home, monkeypatch, "good").stream(QUESTION))
    kinds = [type(event) for event in events]
    assert kinds[0] is Retrieved
    assert kinds[-1] is Finished
    assert kinds.count(TextPart) > 3
    assert [event.number for event in events if isinstance(event, Cited)] == [1, 1]
    finished = events[-1]
    assert isinstance(finished, Finished)
    answer = finished.answer
    assert (answer.outcome, answer.writer, answer.model) == ("answered", "chat", "good")
    assert [sentence.support for sentence in answer.sentences] == ["supported", "unsupported"]
    assert answer.citations[0].paper.title == "Partially Observable Reinforcement Learning with Memory Traces"
    assert "exponential moving averages" in answer.citations[0].evidence[0].sentence
    assert answer.usage.calls == server.hits["good"] == 1
    assert answer.prompt is not None
    assert answer.prompt.startswith("answer/v1@")


def test_numbers_follow_the_reading_order_and_only_cited_papers_are_listed(ask: Ask, server: ScriptedServer) -> None:
    server.script("order", "It does this [3]. It does that [1]. Both [3]. No such source [99].")
    answer = ask("order")
    assert answer.text == "It does this [1]. It does that [2]. Both [1]. No such source."
    assert [citation.paper.paper_id for citation in answer.citations] == [
        answer.retrieved[place].paper.paper_id for place in (2, 0)
    ]
    assert answer.removed_markers == 1


def test_a_model_that_is_not_served_is_a_failure_that_names_it(ask: Ask) -> None:
    assert "unserved" in (ask("unserved").problem or "")


@pytest.mark.parametrize(
    ("name", "responses", "problem", "requests"),
    [
        ("refused", [play.http(401, {"error": {"message": "no"}})], "key", 1),
        ("busy", [play.http(429, {"error": {"message": "slow down"}})], "busy", 3),
        ("broken", [play.http(500, {"error": {"message": "oops"}})], "failed", 3),
        ("silent", [play.stream(play.FOREVER)], "answer", 3),
        ("not-sse", [play.stream(b"data: {not json}\n\n")], "protocol", 1),
        ("empty", [play.stream(play.finish(), play.DONE)], "no text", 2),
    ],
)
def test_each_fault_is_a_failed_answer_with_its_own_message(
    ask: Ask, server: ScriptedServer, name: str, responses: list[play.Response], problem: str, requests: int
) -> None:
    server.play(name, *responses)
    answer = ask(name)
    assert answer.outcome == "failed"
    assert problem in (answer.problem or "").lower()
    assert answer.fix
    assert answer.retrieved
    assert server.hits[name] <= requests


def test_the_faults_have_different_messages(ask: Ask, server: ScriptedServer) -> None:
    server.play("a", play.http(401, {"error": {"message": "no"}}))
    server.play("b", play.http(500, {"error": {"message": "no"}}))
    server.play("c", play.stream(b"data: {\n\n"))
    assert len({ask(name).problem for name in "abc"}) == 3


def test_a_cut_stream_keeps_what_had_come_and_its_citations(ask: Ask, server: ScriptedServer) -> None:
    server.play("cut", play.stream("Memory traces decay [1]. They al", play.RESET))
    answer = ask("cut")
    assert answer.outcome == "failed"
    assert answer.text.startswith("Memory traces decay [1]. They al")
    assert answer.citations[0].number == 1


def test_a_model_that_says_not_in_the_sources_ends_as_not_in_corpus(ask: Ask, server: ScriptedServer) -> None:
    server.script("honest", "NOT IN THE SOURCES")
    answer = ask("honest")
    assert (answer.outcome, answer.text, answer.citations) == ("not_in_corpus", "", ())
    assert answer.retrieved


def test_a_question_that_nothing_bears_on_makes_no_call(ask: Ask, server: ScriptedServer) -> None:
    server.script("unused", "Water boils [1].")
    assert ask("unused", "What is the boiling point of ethanol?").outcome == "not_in_corpus"
    assert server.hits["unused"] == 0


def test_earlier_turns_are_sent_and_what_was_searched_is_told(
    server: ScriptedServer, seed_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.script("chat", "It scores 42.4 [1].")
    history = [Turn("Which paper adds latent actions to LLMs?", "CoLA does.")]
    answer = chat_assistant(server, seed_home, monkeypatch, "chat").ask(
        "What does it score on math500?", history=history
    )
    assert "CoLA" in answer.searched
    assert [message["role"] for message in server.requests[-1]["messages"]] == ["system", "user", "assistant", "user"]


def test_closing_the_stream_ends_the_request(
    server: ScriptedServer, seed_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.play("slow", play.stream("Memory traces ", play.FOREVER))
    events = chat_assistant(server, seed_home, monkeypatch, "slow").stream(QUESTION)
    assert any(isinstance(event, TextPart) for event in events)
    events.close()  # type: ignore[attr-defined]
    assert list(events) == []


def test_the_extractive_answer_quotes_word_for_word(assistant: Assistant) -> None:
    answer = assistant.ask("By how much does SITAlign beat the multi-objective decoding baseline on PKU-SafeRLHF?")
    assert answer.outcome == "answered"
    assert "22.3%" in answer.text
    assert answer.citations[0].paper.title.startswith("Bounded Rationality for LLMs")
    for sentence in answer.sentences:
        assert any(sentence.text in answer.citations[number - 1].paper.abstract for number in sentence.citations)
        assert sentence.support == "supported"


def test_markers_stand_where_the_answer_says(assistant: Assistant) -> None:
    answer = assistant.ask(QUESTION)
    assert [answer.text[m.span.start : m.span.end] for m in answer.markers] == [f"[{m.number}]" for m in answer.markers]
    assert answer.markers


@pytest.mark.parametrize("question", ["hello", "thanks!", "Who won Wimbledon in 2024?", "???", "the of and"])
def test_a_question_beside_the_corpus_is_not_in_it_and_cites_nothing(assistant: Assistant, question: str) -> None:
    answer = assistant.ask(question)
    assert (answer.outcome, answer.citations) == ("not_in_corpus", ())


@pytest.mark.parametrize("question", ["", "  \n", "x" * 4001])
def test_an_empty_or_huge_question_is_an_error(assistant: Assistant, question: str) -> None:
    with pytest.raises(InputError):
        assistant.ask(question)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(question=st.text(min_size=1, max_size=300).filter(str.strip))
def test_any_question_ends_in_an_outcome(assistant: Assistant, question: str) -> None:
    assert assistant.ask(question).outcome in {"answered", "not_in_corpus", "needs_detail"}


def test_example_questions_are_answered_from_the_corpus(assistant: Assistant) -> None:
    questions = assistant.example_questions(n=4)
    assert len(questions) == 4
    assert {assistant.ask(question).outcome for question in questions} == {"answered"}


def test_a_sentence_without_a_citation_gets_one_that_can_be_verified_and_this_is_said(
    ask: Ask, server: ScriptedServer
) -> None:
    server.script("uncited", "Memory traces are moving averages of the history of observations. Cats like fish.")
    answer = ask("uncited")
    assert [bool(sentence.citations) for sentence in answer.sentences] == [True, False]
    assert answer.citations[0].paper.title.endswith("Memory Traces")
    assert answer.sentences[1].support == "unsupported"
    assert "added" in answer.notes[0]
