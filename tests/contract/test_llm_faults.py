"""Every way in which an endpoint fails before its answer begins, each against a real server on loopback."""

import logging
import time
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from rag.errors import EndpointError
from rag.llm import ChatModel, Completion, Endpoint, PromptTooLong
from tests.contract.scripted_server import (
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
)

KEY = "sk-secret-1234567890"
QUESTION = "How do memory traces decay?"
MESSAGES = [{"role": "system", "content": "Cite."}, {"role": "user", "content": QUESTION}]
DEADLINE = 2.5
CHATTY = {"error": {"message": f"Incorrect API key provided: {KEY}.", "code": "invalid_api_key"}}
LLAMA_FULL = {
    "error": {
        "code": 400,
        "message": "the request exceeds the available context size, try increasing it",
        "type": "exceed_context_size_error",
        "n_prompt_tokens": 1407,
        "n_ctx": 256,
    }
}
VLLM_FULL = {
    "object": "error",
    "message": "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens.",
    "type": "BadRequestError",
    "param": None,
    "code": 400,
}
AZURE_FILTER = {
    "error": {
        "message": "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
        "code": "content_filter",
        "status": 400,
    }
}


class Row(NamedTuple):
    """`requests` is how many are sent; the texts must be in the problem and in the fix."""

    name: str
    response: Response
    kind: str
    problem: str
    fix: str
    requests: int = 1


UNKNOWN_MODEL = ("model_not_found", "is not served at", "CITEWISE_MODEL to one of: scripted")
NO_API = ("no_chat_api", "no chat API", "CITEWISE_BASE_URL")
BUSY = ("rate_limited", "is busy", "Ask again")
QUOTA = ("quota", "used up", "credit")
TOO_LONG = ("context_too_long", "does not fit the context window", "CITEWISE_CONTEXT_TOKENS")
TOO_LONG_256 = ("context_too_long", "window of 256 tokens", "CITEWISE_CONTEXT_TOKENS to 256")
PROTOCOL = ("protocol", "does not speak", "CITEWISE_BASE_URL")
EMPTY = ("empty", "returned no text", "larger")
LOST = ("connection_lost", "broke the connection off", "crashed")
TIMEOUT = ("timeout", "No answer from", "CITEWISE_FIRST_TOKEN_TIMEOUT")


def error(message: str, **fields: object) -> dict[str, object]:
    return {"error": {"message": message, **fields}}


def json_body(body: bytes, **headers: str) -> Response:
    return http(200, body, Content_Type="application/json", **headers)


def answer(content: object) -> dict[str, object]:
    return {"choices": [{"message": {"content": content}, "finish_reason": "stop"}]}


FULL_8192 = error("This model's maximum context length is 8192 tokens.", code="context_length_exceeded")
FULL_LEFT = {"object": "error", "message": "max_tokens must be at least 1, got -186.", "code": 400}
NO_SUCH = {"object": "error", "message": "The model `x` does not exist.", "code": 404}
OVER_QUOTA = error("You exceeded your current quota", code="insufficient_quota")
REASONED = stream(text(None, reasoning="h"), finish("length"))
LOADING = error("Loading model", type="unavailable_error")
ELSEWHERE = "https://user:hunter2@elsewhere.example/v1"
TRUNCATED = (head(200, {"Content-Type": "application/json", "Content-Length": "900"}) + b'{"cho',)
TOOL_CALL = text(None, tool_calls=[{"index": 0}])
RATE = error("Rate limit reached", code="rate_limit_exceeded")

# fmt: off
ROWS = [
    Row("401", http(401, CHATTY), "key_refused", "refused the API key", "CITEWISE_API_KEY"),
    Row("403", http(403, error("no")), "forbidden", "does not let this key use", "access"),
    Row("404-model", http(404, error("no", code="model_not_found")), *UNKNOWN_MODEL),
    Row("404-model-ollama", http(404, error('model "x" not found, try pulling it first')), *UNKNOWN_MODEL),
    Row("404-model-vllm", http(404, NO_SUCH), *UNKNOWN_MODEL),
    Row("404-path", http(404, {"detail": "Not Found"}), *NO_API),
    Row("404-path-llama.cpp", http(404, error("File Not Found", code=404)), *NO_API),
    Row("405", http(405, "<h1>Not allowed</h1>"), *NO_API),
    Row("200-path-lm-studio", http(200, {"error": "Unexpected endpoint or method. (POST /chat)"}), *NO_API),
    Row("429-long-wait", http(429, error("slow"), Retry_After="120"), "rate_limited", "wait 120 s", "in 120 s"),
    Row("429-no-wait", http(429, error("slow"), Retry_After="0"), *BUSY, requests=3),
    Row("429", http(429, error("slow")), *BUSY, requests=3),
    Row("429-no-retry", http(429, error("slow"), x_should_retry="false"), *BUSY),
    Row("429-quota", http(429, OVER_QUOTA), *QUOTA),
    Row("402", http(402, error("Insufficient Balance")), *QUOTA),
    Row("413", http(413, "<h1>Too large</h1>"), "request_too_large", "too large", "CITEWISE_K"),
    Row("500", http(500, error("boom"), x_request_id="r7"), "server_error", "HTTP 500, request r7, boom", "log", 3),
    Row("502-html", http(502, "<html>Bad gateway</html>"), "server_error", "(HTTP 502)", "log", 3),
    Row("503", http(503, error("overloaded")), "server_error", "(HTTP 503, overloaded)", "log", 3),
    Row("503-loading", http(503, LOADING), "loading", "still loading", "Ask again", 3),
    Row("400-context", http(400, FULL_8192), "context_too_long", "of 8192 tokens", "TOKENS to 8192"),
    Row("400-context-vllm", http(400, VLLM_FULL), "context_too_long", "of 4096 tokens", "TOKENS to 4096"),
    Row("400-context-vllm-left", http(400, FULL_LEFT), *TOO_LONG),
    Row("400-context-llama.cpp", http(400, LLAMA_FULL), *TOO_LONG_256),
    Row("500-context-llama.cpp", http(500, LLAMA_FULL), *TOO_LONG_256),
    Row("200-context-llama.cpp", http(200, LLAMA_FULL), *TOO_LONG_256),
    Row("400-filter", http(400, AZURE_FILTER), "filtered", "filtered this question", "other words"),
    Row("400-other", http(400, error(f"bad field, key {KEY}")), "rejected", "(HTTP 400, bad field", "CITEWISE_MODEL"),
    Row("422-list", http(422, {"detail": [{"msg": "nope"}]}), "rejected", "(HTTP 422)", "CITEWISE_MODEL"),
    Row("302", http(302, "", Location=ELSEWHERE), "redirected", "does not follow", "CITEWISE_BASE_URL"),
    Row("json-cut", json_body(b'{"choices": ['), *PROTOCOL),
    Row("json-none", json_body(b""), *PROTOCOL),
    Row("json-null", json_body(b"null"), *PROTOCOL),
    Row("json-not-utf-8", json_body(b'{"choices": "\xff\xfe"}'), *PROTOCOL),
    Row("json-too-deep", json_body(b"[" * 100_000), *PROTOCOL),
    Row("html-login", http(200, "<html>Log in</html>"), *PROTOCOL),
    Row("json-error", http(200, error("boom", code=500)), "server_error", "boom", "log", 3),
    Row("json-empty", http(200, answer("")), *EMPTY, requests=2),
    Row("json-null-content", http(200, answer(None)), *EMPTY, requests=2),
    Row("json-number-content", http(200, answer(7)), *EMPTY, requests=2),
    Row("json-no-choices", http(200, {"choices": []}), *EMPTY, requests=2),
    Row("json-null-choices", http(200, {"choices": None}), *EMPTY, requests=2),
    Row("truncated-body", TRUNCATED, *LOST, requests=3),
    Row("bad-gzip", json_body(b"not gzip", Content_Encoding="gzip"), *LOST, requests=3),
    Row("reset", (RESET,), *LOST, requests=3),
    Row("close", (), *LOST, requests=3),
    Row("not-http", (b"SSH-2.0-OpenSSH_9.6\r\n",), *LOST, requests=3),
    Row("no-answer", (FOREVER,), *TIMEOUT, requests=3),
    Row("no-event", stream(FOREVER), *TIMEOUT, requests=3),
    Row("stream-empty", stream(), *EMPTY, requests=2),
    Row("stream-blank", stream("\n \n", finish()), *EMPTY),
    Row("stream-only-finish", stream(finish()), *EMPTY, requests=2),
    Row("stream-tool-call", stream(TOOL_CALL, finish("tool_calls")), *EMPTY),
    Row("stream-refusal", stream(text(None, refusal="I will not."), finish()), "refused", "I will not.", "other"),
    Row("stream-filter", stream(finish("content_filter")), "filtered", "filtered this answer", "other words"),
    Row("stream-thought", REASONED, "empty", "on reasoning", "OUTPUT_TOKENS"),
    Row("stream-error-context", stream(event({"error": LLAMA_FULL["error"]})), *TOO_LONG_256),
    Row("stream-error-busy", stream(event(RATE)), *BUSY, requests=3),
    Row("stream-error-text", stream(event({"error": "engine died"})), "server_error", "engine died", "log", 3),
    Row("stream-bad-json", stream(event('{"choices": [')), *PROTOCOL),
    Row("stream-bad-utf-8", stream(b"data: \xff\xfe\n\n"), *PROTOCOL),
]
# fmt: on


@pytest.fixture(scope="module")
def server() -> Iterator[ScriptedServer]:
    import rag.llm.transport  # noqa: F401  takes a second, which is none of the calls' time

    with scripted_server() as running:
        yield running


def chat_model(server: ScriptedServer, model: str, **values: object) -> ChatModel:
    limits = {"deadline": DEADLINE, "first_token_timeout": 1.0, "api_key": KEY} | values
    return ChatModel(Endpoint(base_url=server.base_url, model=model, **limits))  # type: ignore[arg-type]


def failure(model: ChatModel) -> EndpointError:
    with pytest.raises(EndpointError) as caught:
        list(model.stream(MESSAGES))
    return caught.value


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag.llm.retry.FIRST_WAIT", 0.05)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_fault_is_named_with_what_to_do(row: Row, server: ScriptedServer, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    server.play(row.name, row.response)
    begin = time.monotonic()
    caught = failure(chat_model(server, row.name))
    assert time.monotonic() - begin <= DEADLINE + 1
    assert caught.kind == row.kind
    assert row.problem in caught.problem
    assert row.fix in caught.fix
    assert server.hits[row.name] == row.requests <= 3
    shown = f"{caught} {caught.problem} {caught.fix} {caplog.text}"
    assert KEY not in shown
    assert "hunter2" not in shown
    assert "Traceback" not in shown
    assert QUESTION not in caplog.text


def test_an_overflow_tells_the_window_to_whoever_shrinks_the_prompt(server: ScriptedServer) -> None:
    server.play("overflow", http(400, LLAMA_FULL))
    caught = failure(chat_model(server, "overflow"))
    assert isinstance(caught, PromptTooLong)
    assert caught.n_ctx == 256


def test_a_fault_that_passes_is_not_seen(server: ScriptedServer) -> None:
    server.play("recovers", http(503, error("busy")), (RESET,), good_stream("Traces decay [1]."))
    items = list(chat_model(server, "recovers").stream(MESSAGES))
    assert "".join(item for item in items if isinstance(item, str)) == "Traces decay [1]."
    assert isinstance(items[-1], Completion)
    assert items[-1].usage.calls == 3


def test_retry_after_is_waited_for_within_the_deadline(server: ScriptedServer) -> None:
    server.play("patient", http(429, error("slow"), Retry_After="1"), good_stream("Yes [1]."))
    begin = time.monotonic()
    assert "Yes" in "".join(map(str, chat_model(server, "patient").stream(MESSAGES)))
    assert 1 <= time.monotonic() - begin < DEADLINE


def test_a_refused_key_of_a_server_that_was_given_none_asks_for_one(server: ScriptedServer) -> None:
    server.play("locked", http(401, CHATTY))
    caught = failure(chat_model(server, "locked", api_key=None))
    assert (caught.kind, caught.fix) == ("key_refused", "Set CITEWISE_API_KEY.")


def test_an_address_without_v1_is_told_where_it_may_be(server: ScriptedServer) -> None:
    server.play("root", http(404, {"detail": "Not Found"}))
    address = server.base_url.removesuffix("/v1")
    caught = failure(ChatModel(Endpoint(base_url=address, model="root")))
    assert f"try {address}/v1" in caught.fix
