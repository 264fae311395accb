"""The second look of a local model, asked through a scripted server: it can make a verdict stricter, and no more."""

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from rag.confirming import CHOICES, LEAST, ConfirmingJudge, read_probability
from rag.domain import AnswerSentence, Citation, Paper, Span, Support, Usage
from rag.judging import apply_verdicts, judge_support
from rag.llm import ChatModel, Endpoint
from rag.prompting import load_prompt
from rag.settings import Settings
from rag.wiring import build_judge
from tests.builders import answer, paper
from tests.contract import scripted_server as play
from tests.contract.scripted_server import ScriptedServer, scripted_server

ABSTRACT = "Memory traces are averages of what was observed. They need little memory."
PAPER = paper("p1", title="Memory Traces", abstract=ABSTRACT)
EVIDENCE = Span(0, ABSTRACT.index(" They"))


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with scripted_server() as server:
        yield server


def said(yes: float, *, word: str = "Yes") -> play.Response:
    """A reply of one word, with the probability of "Yes" against "No", each written in two ways."""
    tokens = {" yes": yes / 4, "Yes": 3 * yes / 4, "No": 1 - yes, "Maybe": 0.2}
    likely = [{"token": token, "logprob": math.log(p)} for token, p in tokens.items()]
    choice: dict[str, Any] = {"index": 0, "delta": {"content": word}, "finish_reason": None}
    choice["logprobs"] = {"content": [{"token": word, "logprob": -0.1, "top_logprobs": likely}]}
    return play.stream({"choices": [choice]}, play.finish("length"), play.usage(), play.DONE)


def judge_at(server: ScriptedServer) -> ConfirmingJudge:
    endpoint = Endpoint(base_url=server.base_url, model="local", choices=CHOICES, max_output_tokens=1, deadline=4)
    return ConfirmingJudge(model=ChatModel(endpoint), prompt=load_prompt("confirm", "v1"))


def judged(server: ScriptedServer, support: Support) -> AnswerSentence:
    sentence = AnswerSentence("Traces average the observations.", (1,), support, "by words", ((EVIDENCE,),))
    shown = answer(sentences=(sentence,), citations=(Citation(1, PAPER, ()),))
    generator = judge_support(shown, judge=judge_at(server), until=math.inf)
    while True:
        try:
            next(generator)
        except StopIteration as stop:
            verdicts, _ = stop.value
            return apply_verdicts(shown, verdicts).sentences[0]


@pytest.mark.parametrize(
    ("before", "yes", "after"),
    [
        ("supported", LEAST + 0.01, "supported"),
        ("supported", LEAST - 0.01, "partly"),
        ("partly", 0.99, "partly"),
        ("unsupported", 0.99, "unsupported"),
    ],
)
def test_a_doubt_makes_a_verdict_stricter_and_a_yes_changes_nothing(
    server: ScriptedServer, before: Support, yes: float, after: Support
) -> None:
    server.play("local", said(yes))
    assert judged(server, before).support == after
    assert server.hits["local"] == (before == "supported"), "only what the words support is asked"


def test_the_model_reads_the_title_the_evidence_and_the_sentence_and_answers_in_one_token(
    server: ScriptedServer,
) -> None:
    server.play("local", said(0.9))
    judged(server, "supported")
    request = server.requests[-1]
    assert (request["max_tokens"], request["logprobs"], request["temperature"]) == (1, True, 0.0)
    text = request["messages"][-1]["content"]
    assert "Premise: Memory Traces. Memory traces are averages of what was observed.\n" in text
    assert "little memory" not in text
    assert "Hypothesis: Traces average the observations." in text


@pytest.mark.parametrize(("word", "support"), [("Yes", "supported"), ("No.", "partly")])
def test_a_server_without_probabilities_is_taken_by_its_word(
    server: ScriptedServer, word: str, support: Support
) -> None:
    refusal = play.http(400, {"error": {"message": "logprobs is not supported by this server"}})
    server.play("local", refusal, play.stream(word, play.finish("length"), play.DONE))
    assert judged(server, "supported").support == support
    assert ["logprobs" in request for request in server.requests] == [True, False]


@pytest.mark.parametrize(
    ("size", "settings", "is_asked"),
    [
        (2_000_000_000, {}, True),
        (2_000_000_000, {"self_check": False}, False),
        (1000, {}, False),
        (2_000_000_000, {"writer": "extractive"}, False),
    ],
)
def test_a_local_model_is_asked_unless_it_is_weak_or_the_settings_say_no(
    tmp_path: Path, size: int, settings: dict[str, Any], is_asked: bool
) -> None:
    path = tmp_path / "model.gguf"
    with path.open("wb") as file:
        file.write(b"GGUF")
        file.truncate(size)  # a sparse file
    built = build_judge(Settings(home=tmp_path, model_file=str(path), **{"writer": "local", **settings}))
    assert isinstance(built, ConfirmingJudge) == is_asked


def test_usage_is_told(server: ScriptedServer) -> None:
    server.play("local", said(0.9))
    papers: Mapping[int, Paper] = {1: PAPER}
    sentence = AnswerSentence("Traces average it.", (1,), "supported", "", ((EVIDENCE,),))
    items = list(judge_at(server).judge([sentence], papers=papers, until=math.inf))
    assert [item.calls for item in items if isinstance(item, Usage)] == [1]


@pytest.mark.parametrize(("reply", "sure"), [("0.8731", 0.8731), (" yes.", 1.0), ("No", 0.0), ("", 0.0)])
def test_what_is_no_yes_confirms_nothing(reply: str, sure: float) -> None:
    assert read_probability(reply) == sure
