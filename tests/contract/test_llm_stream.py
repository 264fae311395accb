"""Streams as servers send them, whole and broken, closing and limits, each against a real server on loopback."""

import logging
import time
from collections.abc import Iterator

import pytest

from rag.domain import Usage
from rag.errors import EndpointError
from rag.llm import ChatModel, Completion, Endpoint
from tests.contract.scripted_server import (
    DONE,
    FOREVER,
    RESET,
    Response,
    ScriptedServer,
    event,
    finish,
    good_stream,
    head,
    http,
    scripted_server,
    stream,
    text,
    usage,
)

MESSAGES = [{"role": "system", "content": "Cite."}, {"role": "user", "content": "How do traces decay?"}]
REPLY = "Memory traces decay exponentially [1]. Größe 😀 zählt."


@pytest.fixture(scope="module")
def server() -> Iterator[ScriptedServer]:
    import rag.llm.transport  # noqa: F401  takes a second, which is none of the calls' time

    with scripted_server() as running:
        yield running


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag.llm.retry.FIRST_WAIT", 0.05)
    monkeypatch.setattr("rag.llm.client.STALL_SECONDS", 0.5)
    monkeypatch.setattr("rag.llm.client.USAGE_SECONDS", 0.3)


def chat_model(server: ScriptedServer, model: str | None, **values: object) -> ChatModel:
    limits = {"deadline": 3.0, "first_token_timeout": 1.5} | values
    return ChatModel(Endpoint(base_url=server.base_url, model=model, **limits))  # type: ignore[arg-type]


def played(server: ScriptedServer, name: str, *responses: Response) -> ChatModel:
    server.play(name, *responses)
    return chat_model(server, name)


def answer(model: ChatModel) -> tuple[str, Completion]:
    *deltas, completion = model.stream(MESSAGES)
    assert isinstance(completion, Completion)
    assert all(isinstance(delta, str) for delta in deltas)
    return "".join(map(str, deltas)), completion


def broken(model: ChatModel) -> tuple[str, EndpointError]:
    """The text that came, and the error after it."""
    came: list[str] = []
    with pytest.raises(EndpointError) as caught:
        came.extend(item for item in model.stream(MESSAGES) if isinstance(item, str))
    return "".join(came), caught.value


def test_a_good_stream_is_its_text_and_its_usage(server: ScriptedServer) -> None:
    text_, completion = answer(played(server, "good", good_stream(REPLY)))
    assert text_ == REPLY
    assert completion == Completion(Usage(prompt_tokens=120, completion_tokens=len(REPLY) // 4, calls=1), "stop")
    assert server.requests[-1]["messages"] == MESSAGES
    assert server.requests[-1]["stream_options"] == {"include_usage": True}
    assert server.requests[-1]["max_tokens"] == 700


def _torn(reply: str) -> Response:
    """A good stream, cut into single bytes across events and characters."""
    start, *rest = good_stream(reply, delta_size=9)
    body = b"".join(step for step in rest if isinstance(step, bytes))
    return (start, *(bytes([byte]) for byte in body))


VARIANTS = {
    "keep-alive-comments": stream(b": ping\n\n", "Yes", b": ping\n\n", " [1].", finish(), DONE),
    "crlf": stream(event(text("Yes")).replace(b"\n", b"\r\n"), " [1].", finish(), DONE),
    "no-space": stream(event(text("Yes [1].")).replace(b"data: ", b"data:"), finish(), DONE),
    "empty-choices-first": stream({"choices": []}, {"choices": None}, "Yes", " [1].", finish(), DONE),
    "no-delta": stream({"choices": [{"index": 0}]}, "Yes", {"choices": [{"delta": None}]}, " [1].", finish(), DONE),
    "odd-events": stream(event("7"), event('"text"'), event("null"), event("[]"), "Yes [1].", finish(), DONE),
    "text-after-done": stream("Yes [1].", finish(), DONE, "more"),
    "no-done": stream("Yes [1].", finish()),
    "cut-after-finish": stream("Yes [1].", finish(), RESET),
    "junk-after-finish": stream("Yes [1].", finish(), event("{"), DONE),
    "open-after-finish": stream("Yes [1].", finish(), FOREVER),
    "finish-with-text": stream("Yes", {"choices": [{"delta": {"content": " [1]."}, "finish_reason": "stop"}]}, DONE),
    "unknown-finish": stream("Yes [1].", finish("eos_token"), DONE),
    "reasoning": stream(text(None, reasoning="Hm"), text("", reasoning_content="Hm"), "Yes [1].", finish(), DONE),
    "think-inline": stream("<thi", "nk>Hm, ", "so</thi", "nk>\n\nYes", " [1].", finish(), DONE),
    "think-unclosed": stream("Yes [1].", "<think>", "Hm", finish(), DONE),
    "content-parts": stream(
        {"choices": [{"delta": {"content": [{"type": "thinking"}, {"type": "text", "text": "Yes [1]."}]}}]}, finish()
    ),
    "json-in-place-of-a-stream": http(
        200, {"choices": [{"message": {"content": "Yes [1]."}, "finish_reason": "stop"}]}
    ),
}


@pytest.mark.parametrize("name", VARIANTS)
def test_what_servers_do_differently_changes_nothing(name: str, server: ScriptedServer) -> None:
    text_, completion = answer(played(server, name, VARIANTS[name]))
    assert text_ == "Yes [1]."
    assert completion == Completion(Usage(calls=1), "stop")


def test_bytes_may_be_torn_anywhere(server: ScriptedServer) -> None:
    assert answer(played(server, "torn", _torn(REPLY)))[0] == REPLY


def test_an_answer_that_is_complete_at_the_deadline_is_not_lost(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rag.llm.client.USAGE_SECONDS", 60)
    server.play("late", stream("Yes [1].", finish(), FOREVER))
    assert answer(chat_model(server, "late", deadline=1.0)) == ("Yes [1].", Completion(Usage(calls=1), "stop"))


def test_lone_surrogates_become_writable(server: ScriptedServer) -> None:
    halves = (
        event(f'{{"choices": [{{"delta": {{"content": "{half}"}}}}]}}') for half in (r"\ud83d", r"\ude00", r"\ud83d!")
    )
    text_, _ = answer(played(server, "surrogates", stream(*halves, finish(), DONE)))
    assert text_ == "😀\ufffd!"


def test_surrogates_in_a_question_do_not_stop_it(server: ScriptedServer) -> None:
    server.script("asked", "Yes [1].")
    list(chat_model(server, "asked").stream([{"role": "user", "content": "what is \ud83d?"}]))
    assert server.requests[-1]["messages"] == [{"role": "user", "content": "what is \ufffd?"}]


def test_an_answer_cut_at_the_token_limit_says_so(server: ScriptedServer) -> None:
    text_, completion = answer(played(server, "length", stream("Yes [1]", finish("length"), usage(9, 2), DONE)))
    assert (text_, completion.finish) == ("Yes [1]", "length")


def test_an_endless_answer_is_cut_at_64_kb(server: ScriptedServer) -> None:
    model = played(server, "endless", stream(*(["word " * 200] * 200), FOREVER))
    text_, completion = answer(model)
    assert (len(text_), completion.finish) == (65_536, "length")


def test_an_endless_line_is_not_an_answer(server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag.llm.transport.MAX_RESPONSE_BYTES", 1_000_000)
    _, error = broken(played(server, "line", stream(b"data: ", *([b"x" * 100_000] * 30), FOREVER)))
    assert error.kind == "protocol"


CHUNK_HEAD = head(200, {"Content-Type": "text/event-stream", "Transfer-Encoding": "chunked"})
HALF = event(text("Yes "))
BREAKS = {
    "cut-in-a-chunk": ((CHUNK_HEAD + b"%x\r\n" % len(HALF) + HALF + b"\r\nff\r\ndata: {", 0.05, RESET), "broke off"),
    "cut": (stream("Yes ", 0.05, RESET), "broke off"),
    "clean-end": (stream("Yes "), "ended before the answer did"),
    "done-without-finish": (stream("Yes ", DONE), "ended before the answer did"),
    "stall": (stream("Yes ", FOREVER), "nothing more came for 0.5 s"),
    "bad-json": (stream("Yes ", event('{"choices": [')), "cannot be read"),
    "bad-utf-8": (stream("Yes ", b"data: \xff\xfe\n\n"), "cannot be read"),
    "error-event": (stream("Yes ", {"error": {"message": "engine died", "code": 500}}), "reported engine died"),
    "error-finish": (stream("Yes ", finish("error")), "gave up"),
    "trickle": (stream("Yes ", *([0.3, "."] * 60)), "longer than 3 s"),
}


@pytest.mark.parametrize("name", BREAKS)
def test_a_broken_stream_keeps_its_text_and_is_not_sent_again(name: str, server: ScriptedServer) -> None:
    response, how = BREAKS[name]
    begin = time.monotonic()
    text_, error = broken(played(server, name, response))
    assert time.monotonic() - begin <= 3 + 1
    assert text_.startswith("Yes ")
    assert (error.kind, error.retryable) == ("interrupted", True)
    assert how in error.problem
    assert server.hits[name] == 1


def test_a_filter_at_the_end_keeps_the_text(server: ScriptedServer) -> None:
    text_, error = broken(played(server, "filtered", stream("Yes ", finish("content_filter"), DONE)))
    assert (text_, error.kind) == ("Yes ", "filtered")


def refusal(param: str, message: str = "Unsupported parameter") -> Response:
    return http(400, {"error": {"message": f"{message}: '{param}'", "param": param, "code": "unsupported_parameter"}})


def test_refused_parameters_are_changed_once_and_remembered(server: ScriptedServer) -> None:
    model = played(server, "reasoner", refusal("max_tokens"), refusal("temperature"), good_stream("Yes [1]."))
    assert answer(model)[1].usage.calls == 3
    assert "max_tokens" not in server.requests[-1]
    assert server.requests[-1]["max_completion_tokens"] == 700
    assert "temperature" not in server.requests[-1]
    assert answer(model)[1].usage.calls == 1


def test_a_server_that_refuses_usage_answers_without(server: ScriptedServer) -> None:
    extra = {"detail": [{"type": "extra_forbidden", "loc": ["body", "stream_options"], "msg": "Extra inputs"}]}
    model = played(server, "mistral", http(422, extra), stream("Yes [1].", finish(), DONE))
    assert answer(model) == ("Yes [1].", Completion(Usage(calls=2), "stop"))
    assert "stream_options" not in server.requests[-1]


def test_a_model_without_a_system_role_gets_its_text_from_the_user(server: ScriptedServer) -> None:
    roles = http(500, {"error": {"message": "Conversation roles must alternate user/assistant"}})
    assert answer(played(server, "gemma", roles, good_stream("Yes [1].")))[0] == "Yes [1]."
    assert server.requests[-1]["messages"] == [{"role": "user", "content": "Cite.\n\nHow do traces decay?"}]


def test_the_only_model_is_found(server: ScriptedServer) -> None:
    server.script("scripted", "Yes [1].")
    server.models = ["nomic-embed-text", "scripted"]
    model = chat_model(server, None)
    assert model.model is None
    assert answer(model)[0] == "Yes [1]."
    assert model.model == "scripted"


@pytest.mark.parametrize(
    ("listed", "kind", "told"),
    [
        (http(200, {"data": [{"id": "a"}, {"id": "b"}]}), "model_not_chosen", "one of: a, b"),
        (http(200, {"object": "list", "data": None}), "no_models", "ollama pull"),
        (http(404, {"detail": "Not Found"}), "model_not_chosen", "Set CITEWISE_MODEL"),
        (http(200, "<html>Log in</html>"), "protocol", "login page"),
        (http(401, {"error": "no"}), "key_refused", "CITEWISE_API_KEY"),
    ],
)
def test_no_model_is_guessed(listed: Response, kind: str, told: str, server: ScriptedServer) -> None:
    server.models_response = listed
    try:
        _, error = broken(chat_model(server, None))
    finally:
        server.models_response = None
    assert error.kind == kind
    assert told in error.fix


@pytest.mark.parametrize("name", ["silent", "no-token", "talking"])
def test_closing_ends_the_request_at_once(name: str, server: ScriptedServer) -> None:
    server.play("silent", (FOREVER,))
    server.play("no-token", stream(FOREVER))
    server.script("talking", REPLY * 9, delay=0.05)
    deltas = chat_model(server, name).stream(MESSAGES)
    while not server.hits[name]:
        assert isinstance(next(deltas), str)
    begin = time.monotonic()
    deltas.close()  # type: ignore[attr-defined]
    assert time.monotonic() - begin < 0.5
    while not server.left[name] and time.monotonic() - begin < 2:
        time.sleep(0.01)
    assert server.left[name][0] - begin < 0.5


def test_waiting_hands_control_back(server: ScriptedServer) -> None:
    server.play("slow", stream(0.9, "Yes [1].", finish(), DONE))
    items = list(chat_model(server, "slow").stream(MESSAGES))
    assert items[:3] == ["", "", ""]


def test_one_line_is_logged_a_call(server: ScriptedServer, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    answer(played(server, "logged", good_stream(REPLY)))
    (record,) = caplog.records
    assert record.levelno == logging.INFO
    assert record.getMessage().startswith(f"chat 127.0.0.1:{server.port} logged: stop after ")


def test_a_call_ends_with_the_question_that_it_is_made_for(server: ScriptedServer) -> None:
    model = played(server, "late", stream(*["a ", 0.05] * 100))
    began = time.monotonic()
    with pytest.raises(EndpointError, match="CITEWISE_DEADLINE"):
        list(model.stream(MESSAGES, until=began + 0.6))
    assert 0.5 < time.monotonic() - began < 1.6


def test_no_call_is_made_once_the_time_is_up(server: ScriptedServer) -> None:
    model = played(server, "over", good_stream(REPLY))
    with pytest.raises(EndpointError, match="time was up") as caught:
        list(model.stream(MESSAGES, until=time.monotonic() - 1))
    assert caught.value.kind == "timeout"
    assert server.hits["over"] == 0
