"""The best of several answers of a model: a scripted endpoint plays the samples."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag.assistant import Assistant
from rag.domain import Answer, Finished, Retrieved, TextPart
from tests.contract import scripted_server as play
from tests.contract.scripted_server import ScriptedServer, scripted_server

QUESTION = "What are memory traces?"
SHORT = "Memory traces are exponential moving averages of observations [1]."
FULL = (
    "Memory traces are compact representations of the history of observations in the form of exponential moving "
    "averages, inspired by eligibility traces [1]. Sample complexity bounds are proved for offline on-policy "
    "evaluation [1]."
)
WRONG = "Memory traces cost 7 euros [1]. They were found in 1974 by nine dogs [1]."
REFUSED = "NOT IN THE SOURCES"


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with scripted_server() as running:
        yield running


class Ask:
    """Asks a model through the server, each test under a name of its own."""

    def __init__(self, server: ScriptedServer, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._server, self._home, self._monkeypatch = server, home, monkeypatch

    def assistant(self, model: str, *, samples: int, **settings: str) -> Assistant:
        values = {"base_url": self._server.base_url, "model": model, "home": str(self._home), "deadline": "6"}
        for name, value in {**values, "first_token_timeout": "1", "samples": str(samples), **settings}.items():
            self._monkeypatch.setenv(f"CITEWISE_{name.upper()}", value)
        return Assistant.open()

    def __call__(self, model: str, *, samples: int, **settings: str) -> Answer:
        return self.assistant(model, samples=samples, **settings).ask(QUESTION)


@pytest.fixture
def ask(server: ScriptedServer, seed_home: Path, monkeypatch: pytest.MonkeyPatch) -> Ask:
    return Ask(server, seed_home, monkeypatch)


def test_the_most_complete_supported_sample_is_the_answer(ask: Ask, server: ScriptedServer) -> None:
    server.script("best", SHORT, FULL, WRONG)
    answer = ask("best", samples=3)
    assert answer.outcome == "answered"
    assert "Sample complexity bounds" in answer.text
    assert "3 of 3 samples" in " ".join(answer.notes)
    assert (answer.usage.calls, server.hits["best"]) == (3, 3)
    assert answer.usage.prompt_tokens == 3 * 120
    assert all(request["temperature"] > 0 for request in server.requests)


def test_a_sample_that_says_more_but_is_not_supported_is_not_taken(ask: Ask, server: ScriptedServer) -> None:
    server.script("liar", f"{FULL} {WRONG} {WRONG}", SHORT)
    assert ask("liar", samples=2).text == SHORT


def test_where_no_sample_is_supported_the_answer_is_an_abstention(ask: Ask, server: ScriptedServer) -> None:
    server.script("wrong", WRONG, REFUSED)
    answer = ask("wrong", samples=2)
    assert (answer.outcome, answer.text, answer.citations) == ("not_in_corpus", "", ())
    assert answer.usage.calls == 2
    assert "none was supported" in answer.notes[-1]


def test_nothing_is_shown_before_the_best_is_chosen(ask: Ask, server: ScriptedServer) -> None:
    server.script("quiet", SHORT, FULL)
    events = ask.assistant("quiet", samples=2).stream(QUESTION)
    assert isinstance(next(events), Retrieved)
    shown = [event.text for event in events if isinstance(event, TextPart) and event.text]
    assert "".join(shown).startswith("Memory traces are compact")
    assert server.hits["quiet"] == 2


def test_a_sample_that_fails_is_left_out(ask: Ask, server: ScriptedServer) -> None:
    server.play("torn", play.stream("Memory traces", play.RESET), play.good_stream(SHORT))
    answer = ask("torn", samples=2)
    assert (answer.outcome, answer.text) == ("answered", SHORT)
    assert "1 of 2 samples" in answer.notes[-1]


def test_where_all_fail_the_fault_is_the_answer(ask: Ask, server: ScriptedServer) -> None:
    server.play("refusing", play.http(401, {"error": {"message": "no"}}))
    answer = ask("refusing", samples=2)
    assert answer.outcome == "failed"
    assert "key" in (answer.problem or "")


def test_the_deadline_is_shared(ask: Ask, server: ScriptedServer) -> None:
    slow = play.stream(*[part for word in SHORT.split() for part in (0.1, f"{word} ")], play.finish(), play.DONE)
    server.play("slow", play.good_stream(SHORT), slow, slow, slow)
    started = time.perf_counter()
    answer = ask("slow", samples=4, deadline="1.2")
    assert time.perf_counter() - started < 8  # the model, the corpus and at most the deadline; not four answers
    assert answer.outcome == "answered"
    assert server.hits["slow"] < 4


def test_one_sample_streams_as_ever_at_temperature_0(ask: Ask, server: ScriptedServer) -> None:
    server.script("one", SHORT)
    events = list(ask.assistant("one", samples=1).stream(QUESTION))
    assert len([event for event in events if isinstance(event, TextPart) and event.text]) > 3
    assert server.requests[-1]["temperature"] == 0
    finished = events[-1]
    assert isinstance(finished, Finished)
    assert finished.answer.notes == ()


def test_private_questions_stay_private_in_every_sample(
    ask: Ask, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.script("private", SHORT)
    assistant = ask.assistant("private", samples=3, private="1")
    assistant.ask("What are memory traces, asks Zebedee Quixote (zq@example.org)?")
    assert server.hits["private"] == 3
    assert all("zq@example.org" not in str(request) for request in server.requests)
