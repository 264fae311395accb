"""Follow-ups restated, answers revised or cut, prompts shortened: a scripted endpoint plays the model."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from rag.assistant import Assistant
from rag.cli import app
from rag.domain import Answer, Finished, Retrieved, TextPart, Turn
from tests.contract import scripted_server as play
from tests.contract.scripted_server import ScriptedServer, scripted_server

QUESTION = "What are memory traces?"
GOOD = "Memory traces are exponential moving averages of observations [1]."
BAD = f"{GOOD} They cost 7 euros [1]."
HISTORY = (Turn("Which paper adds latent actions to LLMs?", "CoLA does."),)
FOLLOW_UP = "What does it score on math500?"
RESTATED = "What does CoLA score on math500?"
SCORE = "CoLA with RL achieves a score of 42.4 on the math500 benchmark [1]."


class Chat:
    """Asks through the scripted server, each test under a model name of its own."""

    def __init__(self, server: ScriptedServer, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.server, self._home, self._monkeypatch = server, home, monkeypatch

    def configure(self, model: str, **settings: str) -> None:
        values = {"base_url": self.server.base_url, "model": model, "home": str(self._home), "deadline": "4"}
        for name, value in {**values, "first_token_timeout": "1", **settings}.items():
            self._monkeypatch.setenv(f"CITEWISE_{name.upper()}", value)

    def assistant(self, model: str, **settings: str) -> Assistant:
        self.configure(model, **settings)
        return Assistant.open()

    def ask(self, model: str, question: str = QUESTION, history: tuple[Turn, ...] = (), **settings: str) -> Answer:
        return self.assistant(model, **settings).ask(question, history=history)

    def prompt(self, number: int = -1) -> str:
        """The last message of a request."""
        return str(self.server.requests[number]["messages"][-1]["content"])


@pytest.fixture
def chat(seed_home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Chat]:
    with scripted_server() as server:
        yield Chat(server, seed_home, monkeypatch)


def test_a_follow_up_is_restated_searched_and_asked(chat: Chat) -> None:
    chat.server.script("restating", RESTATED, SCORE)
    answer = chat.ask("restating", FOLLOW_UP, HISTORY)
    assert answer.searched == RESTATED
    assert answer.question == FOLLOW_UP
    assert (answer.usage.calls, answer.usage.prompt_tokens) == (2, 240)
    assert "Assistant: CoLA does." in chat.prompt(0)
    assert chat.server.requests[0]["max_tokens"] == 60
    assert chat.prompt().endswith(f"Question: {RESTATED}")
    assert answer.citations[0].paper.title.startswith("Controlling Large Language Model with Latent Action")


def test_a_question_that_stands_alone_is_not_restated(chat: Chat) -> None:
    chat.server.script("alone", GOOD)
    assert chat.ask("alone", QUESTION, HISTORY).searched == QUESTION
    assert chat.server.hits["alone"] == 1


def test_the_setting_keeps_the_model_out_of_it(chat: Chat) -> None:
    chat.server.script("unasked", SCORE)
    assert chat.ask("unasked", FOLLOW_UP, HISTORY, rewrite="0").searched.startswith(f"{FOLLOW_UP} (")
    assert chat.server.hits["unasked"] == 1


@pytest.mark.parametrize(
    "response",
    [
        play.http(401, {"error": {"message": "no"}}),
        play.stream(play.FOREVER),
        play.stream("What does Co", play.RESET),
        play.good_stream("It scores 42.4 [1]."),
        play.good_stream("What " + "very " * 80 + "?"),
    ],
    ids=["refused", "silent", "cut", "an answer", "long"],
)
def test_without_a_usable_restatement_the_last_turns_words_are_searched(chat: Chat, response: play.Response) -> None:
    retries = (response,) * (2 if response[-1] == play.FOREVER else 1)  # 1 s each, of the 4/3 s that there are
    chat.server.play("failing", *retries, play.good_stream(SCORE))
    answer = chat.ask("failing", FOLLOW_UP, HISTORY)
    assert answer.outcome == "answered"
    assert answer.searched.startswith(f"{FOLLOW_UP} (")


def test_while_the_question_is_restated_the_consumer_gets_control(chat: Chat) -> None:
    chat.server.play("slow", play.stream(0.7, RESTATED, play.finish(), play.DONE), play.good_stream(SCORE))
    events = list(chat.assistant("slow").stream(FOLLOW_UP, history=HISTORY))
    before = events[: next(place for place, event in enumerate(events) if isinstance(event, Retrieved))]
    assert len(before) >= 2
    assert set(before) == {TextPart("")}


def test_closing_while_the_question_is_restated_ends_the_request(chat: Chat) -> None:
    chat.server.play("hanging", play.stream(play.FOREVER))
    events = chat.assistant("hanging").stream(FOLLOW_UP, history=HISTORY)
    assert next(iter(events)) == TextPart("")
    events.close()  # type: ignore[attr-defined]
    assert list(events) == []


def test_an_answer_is_revised_where_that_helps(chat: Chat) -> None:
    chat.server.script("improving", BAD, GOOD)
    events = list(chat.assistant("improving", revise="1").stream(QUESTION))
    shown = "".join(event.text for event in events if isinstance(event, TextPart))
    assert "7 euros" in shown
    assert shown.count("moving averages") == 1
    finished = events[-1]
    assert isinstance(finished, Finished)
    answer = finished.answer
    assert [sentence.support for sentence in answer.sentences] == ["supported"]
    assert (answer.usage.calls, answer.usage.prompt_tokens) == (2, 240)
    assert any("revised (revise/v1@" in note for note in answer.notes)
    assert "They cost 7 euros [1]." in chat.prompt()
    assert "- “They cost 7 euros.”: 7 is not in the cited abstract" in chat.prompt()


def test_the_terminal_withdraws_what_was_revised_and_nothing_else(chat: Chat) -> None:
    chat.server.script("terminal", BAD, GOOD)
    chat.configure("terminal", revise="1")
    shown = CliRunner().invoke(app, ["ask", QUESTION]).stdout
    assert shown.index("7 euros") < shown.index("The text above is withdrawn") < shown.rindex("moving averages of")
    chat.configure("terminal", revise="0")
    assert "withdrawn" not in CliRunner().invoke(app, ["ask", QUESTION]).stdout


def test_a_number_that_is_in_no_cited_abstract_is_sent_back(chat: Chat) -> None:
    wrong = (
        "SITAlign outperforms the state-of-the-art multi-objective decoding strategy by a margin of 22.3% and 9.8% [1]."
    )
    chat.server.script("number", wrong, wrong.replace(" and 9.8%", ""))
    answer = chat.ask("number", "By how much does SITAlign beat the baseline on PKU-SafeRLHF?", revise="1")
    assert "9.8" not in answer.text
    assert chat.server.hits["number"] == 2


@pytest.mark.parametrize(
    "second",
    [BAD, "They cost 7 euros [1]. Cats like fish [1].", "NOT IN THE SOURCES", "The sources do not mention it."],
)
def test_a_revision_that_does_no_better_is_left(chat: Chat, second: str) -> None:
    chat.server.script("stubborn", BAD, second)
    answer = chat.ask("stubborn", revise="2")
    assert (answer.outcome, answer.text) == ("answered", BAD)
    assert answer.usage.calls == chat.server.hits["stubborn"] == 2
    assert any("did no better" in note for note in answer.notes)


def test_nothing_supported_and_nothing_left_is_not_in_the_corpus(chat: Chat) -> None:
    chat.server.script("giving-up", "They cost 7 euros [1].", "NOT IN THE SOURCES")
    answer = chat.ask("giving-up", revise="1")
    assert (answer.outcome, answer.text) == ("not_in_corpus", "")


@pytest.mark.parametrize(
    "response",
    [play.http(401, {"error": {"message": "no"}}), play.stream("Memory", play.RESET)],
    ids=["refused", "cut"],
)
def test_a_revision_that_fails_leaves_the_first_answer(chat: Chat, response: play.Response) -> None:
    chat.server.play("breaking", play.good_stream(BAD), response)
    answer = chat.ask("breaking", revise="1")
    assert (answer.outcome, answer.text) == ("answered", BAD)
    assert any("revision of the answer failed" in note for note in answer.notes)


def test_a_revision_takes_no_longer_than_what_is_left_of_the_deadline(chat: Chat) -> None:
    slow = play.good_stream(BAD, delay=0.05)
    chat.server.play("slow", slow, play.stream(*["a ", 0.3] * 40))
    answer = chat.ask("slow", revise="1", deadline="2")
    assert answer.text == BAD
    assert any("revision of the answer failed" in note and "CITEWISE_DEADLINE" in note for note in answer.notes)
    assert (answer.timings.total_ms or 0) < 3000


def test_two_rounds_are_two_calls_at_most(chat: Chat) -> None:
    worst = f"{GOOD} They cost 7 euros [1]. Cats like fish [1]."
    chat.server.script("rounds", worst, BAD, GOOD)
    answer = chat.ask("rounds", revise="2")
    assert answer.text == GOOD
    assert answer.usage.calls == 3


def test_what_is_supported_is_not_revised(chat: Chat) -> None:
    chat.server.script("right", GOOD)
    assert chat.ask("right", revise="2").usage.calls == 1


def test_unsupported_sentences_are_marked_by_default(chat: Chat) -> None:
    chat.server.script("marked", BAD)
    assert [sentence.support for sentence in chat.ask("marked").sentences] == ["supported", "unsupported"]


def test_unsupported_sentences_are_dropped_and_counted(chat: Chat) -> None:
    chat.server.script("dropped", f"They cost 7 euros [2]. {GOOD}\n\nCats like fish [3]. The end costs 8 euros.")
    answer = chat.ask("dropped", unsupported="drop")
    assert answer.text == GOOD.replace(" [1].", ". [1]")
    assert [citation.number for citation in answer.citations] == [1]
    assert answer.citations[0].evidence
    assert [sentence.support for sentence in answer.sentences] == ["supported"]
    assert "3 sentence(s)" in " ".join(answer.notes)


def test_an_answer_of_which_nothing_is_left_is_not_in_the_corpus(chat: Chat) -> None:
    chat.server.script("empty", "Here is what I found: They cost 7 euros [1].")
    answer = chat.ask("empty", unsupported="drop")
    assert (answer.outcome, answer.text, answer.citations) == ("not_in_corpus", "", ())
    assert "1 sentence(s)" in " ".join(answer.notes)


def too_long(**more: Any) -> play.Response:
    return play.http(
        400, {"error": {"code": "context_length_exceeded", "message": "This model's maximum context length", **more}}
    )


def papers_sent(request: dict[str, Any]) -> int:
    text = request["messages"][-1]["content"]
    return sum(f"\n[{number}] " in text for number in range(1, 20))


def test_a_prompt_that_is_too_long_is_shortened_once(chat: Chat) -> None:
    chat.server.play("narrow", too_long(), play.good_stream(GOOD))
    answer = chat.ask("narrow")
    assert (answer.outcome, answer.text) == ("answered", GOOD)
    assert list(map(papers_sent, chat.server.requests)) == [8, 4]
    assert answer.usage.calls == 2
    assert any("shortened from 8 papers to 4" in note for note in answer.notes)


def test_a_window_that_the_server_tells_is_kept(chat: Chat) -> None:
    error = {"type": "exceed_context_size_error", "message": "the request exceeds the available context size"}
    told = play.http(400, {"error": {**error, "code": 400, "n_prompt_tokens": 3000, "n_ctx": 1800}})
    chat.server.play("told", told, play.good_stream(GOOD))
    assert chat.ask("told").outcome == "answered"
    sent = list(map(papers_sent, chat.server.requests))
    assert sent[0] == 8
    assert 1 <= sent[1] < 4


def test_a_prompt_that_is_too_long_twice_is_a_failure(chat: Chat) -> None:
    chat.server.play("tiny", too_long())
    answer = chat.ask("tiny")
    assert answer.outcome == "failed"
    assert "context window" in (answer.problem or "")
    assert chat.server.hits["tiny"] == 2
    assert list(map(papers_sent, chat.server.requests)) == [8, 4]


def test_with_one_paper_there_is_nothing_to_shorten(chat: Chat) -> None:
    chat.server.play("single", too_long())
    assert chat.ask("single", k="1").outcome == "failed"
    assert chat.server.hits["single"] == 1


def test_the_evidence_context_is_word_for_word_and_cites_whole_abstracts(chat: Chat) -> None:
    chat.server.script("evidence", GOOD.replace("[1]", "[1] [8]"))
    answer = chat.ask("evidence", context="evidence")
    abstracts = [scored.paper.abstract for scored in answer.retrieved]
    text = chat.prompt()
    assert abstracts[0] in text
    assert abstracts[7] not in text
    shown = text.split("[8] ")[1].split("\n<<")[0].removeprefix(f"{answer.retrieved[7].paper.title}\n")
    assert "…" in shown
    assert all(part.strip() in abstracts[7] for part in shown.split("…"))
    for citation in answer.citations:
        for evidence in citation.evidence:
            assert citation.paper.abstract[evidence.span.start : evidence.span.end] == evidence.sentence


def test_the_whole_context_has_whole_abstracts(chat: Chat) -> None:
    chat.server.script("whole", GOOD)
    answer = chat.ask("whole", context_tokens="16000")
    assert all(scored.paper.abstract in chat.prompt() for scored in answer.retrieved)


def test_restating_and_answering_share_one_deadline(chat: Chat) -> None:
    trickle = play.stream(*["a ", 0.1] * 200)
    chat.server.play("hanging", trickle)
    answer = chat.ask("hanging", FOLLOW_UP, HISTORY, deadline="3")
    assert chat.server.hits["hanging"] == 2
    assert answer.outcome == "failed"
    assert "CITEWISE_DEADLINE" in (answer.problem or "")
    assert 2900 < (answer.timings.total_ms or 0) < 3900  # with a deadline each it would be 4 s
