"""The OpenAI-compatible API: a real openai client on the served app, and the requests that no client sends."""

import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from http.client import HTTPConnection
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import openai
import pytest

from rag.domain import Turn
from rag.filters import Filters
from tests.browser.fake_assistant import FakeAssistant
from tests.live_server import live
from ui.app import PageConfig
from ui.openai_format import NOT_IN_CORPUS
from ui.server import MAX_BODY_BYTES

if TYPE_CHECKING:
    from rag.assistant import Assistant

QUESTION = "By how much does SITAlign beat the multi-objective decoding baseline on PKU-SafeRLHF?"
QUESTIONS = {
    QUESTION: "22.3%",
    "What are memory traces?": "eligibility traces",
    "What is EvFocus?": "event",
    "How does Speculative Prefill reduce time to first token?": "token",
}


@pytest.fixture(scope="module")
def scripted() -> FakeAssistant:
    return FakeAssistant(pause=0.005)


@pytest.fixture(scope="module")
def site(scripted: FakeAssistant) -> Iterator[str]:
    """The app with the scripted assistant."""
    with live(scripted) as url:
        yield url


@pytest.fixture(scope="module")
def real_site(assistant: "Assistant") -> Iterator[str]:
    """The app with the real assistant on the packaged papers."""
    with live(assistant) as url:
        yield url


def client_of(url: str, *, key: str = "none") -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{url}/v1", api_key=key, max_retries=0, timeout=30)


def ask(client: openai.OpenAI, *messages: str, **arguments: Any) -> Any:
    """A completion for messages of the user and the assistant in turn."""
    roles = [{"role": ("user", "assistant")[n % 2], "content": text} for n, text in enumerate(messages)]
    return client.chat.completions.create(model="citewise", messages=roles, **arguments)  # type: ignore[call-overload]


def post(url: str, body: bytes, *, content_type: str = "application/json") -> tuple[int, Any]:
    """The status and the JSON that a plain request gives."""
    with closing(HTTPConnection(urlsplit(url).netloc, timeout=30)) as connection:
        connection.request("POST", "/v1/chat/completions", body, {"content-type": content_type})
        response = connection.getresponse()
        return response.status, json.loads(response.read())


def test_an_openai_client_gets_a_cited_answer(real_site: str) -> None:
    with client_of(real_site) as client:
        answer = ask(client, QUESTION)
    (choice,) = answer.choices
    assert "22.3%" in choice.message.content
    assert "[1]" in choice.message.content
    assert choice.finish_reason == "stop"
    (citation,) = answer.citations
    assert citation["number"] == 1
    assert citation["title"].startswith("Bounded Rationality for LLMs")
    assert citation["url"].startswith("https://openreview.net/")
    assert citation["support"] == "supported"
    assert any("22.3%" in sentence for sentence in citation["evidence"])
    assert answer.citewise["outcome"] == "answered"
    assert answer.usage.total_tokens == 0


def test_a_stream_gives_the_same_text_and_its_citations_at_the_end(real_site: str) -> None:
    with client_of(real_site) as client:
        whole = ask(client, QUESTION)
        chunks = list(ask(client, QUESTION, stream=True, stream_options={"include_usage": True}))
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert text.split() == whole.choices[0].message.content.split()
    assert chunks[0].choices[0].delta.role == "assistant"
    *_, last, usage = chunks
    assert last.choices[0].finish_reason == "stop"
    assert last.citations == whole.citations
    assert usage.choices == []
    assert usage.usage.total_tokens == 0
    assert len({chunk.id for chunk in chunks}) == 1


def test_the_one_model_is_listed(site: str) -> None:
    with client_of(site) as client:
        assert [model.id for model in client.models.list()] == ["citewise"]
        assert client.models.retrieve("citewise").id == "citewise"
        with pytest.raises(openai.NotFoundError):
            client.models.retrieve("gpt-4.1-mini")


def test_earlier_messages_become_turns_without_their_markers(site: str, scripted: FakeAssistant) -> None:
    with client_of(site) as client:
        ask(client, "What is A?", "A is a method. [1] It is fast. [2]", "And then?")
    assert scripted.histories[-1] == (Turn("What is A?", "A is a method. It is fast."),)


def test_filters_reach_the_search(site: str, scripted: FakeAssistant) -> None:
    with client_of(site) as client:
        ask(client, "What?", extra_body={"filters": {"author": "Wang", "year": "2024..2025"}})
    assert scripted.filters[-1] == Filters(years=(2024, 2025), authors=("Wang",))


def test_what_is_not_in_the_corpus_is_said_in_words(site: str) -> None:
    with client_of(site) as client:
        answer = ask(client, "What is nowhere to be found?")
        streamed = ask(client, "What is nowhere to be found?", stream=True)
        text = "".join(chunk.choices[0].delta.content or "" for chunk in streamed)
    assert answer.choices[0].message.content == text == NOT_IN_CORPUS
    assert answer.citations == []
    assert answer.citewise["outcome"] == "not_in_corpus"


def test_a_failed_answer_is_an_error_that_says_what_to_do(site: str, scripted: FakeAssistant) -> None:
    asked = len(scripted.histories)
    with openai.OpenAI(base_url=f"{site}/v1", api_key="none", timeout=30) as client:
        with pytest.raises(openai.InternalServerError, match=r"answered 503\. Wait a little"):
            ask(client, "Is it broken?")
        assert len(scripted.histories) == asked + 1  # the client's own retries are told off
        with pytest.raises(openai.APIError, match=r"answered 503\. Wait a little"):
            list(ask(client, "Is it broken?", stream=True))


def test_an_error_of_the_corpus_is_an_error_too(site: str) -> None:
    with client_of(site) as client, pytest.raises(openai.InternalServerError, match="The corpus is damaged"):
        ask(client, "raise it")


@pytest.mark.parametrize(
    ("body", "param"),
    [
        (b"{", None),
        (b"[]", None),
        (b'{"model": "citewise"}', "messages"),
        (b'{"model": "citewise", "messages": []}', "messages"),
        (b'{"model": "citewise", "messages": [{"role": "assistant", "content": "x"}]}', "messages"),
        (b'{"model": "citewise", "messages": [{"role": "robot", "content": "x"}]}', "messages.0.role"),
        (b'{"model": "citewise", "messages": [{"role": "user", "content": ""}]}', "messages"),
        (b'{"model": "citewise", "messages": [{"role": "user", "content": [{"type": "image_url"}]}]}', "messages"),
        (b'{"model": "citewise", "n": 2, "messages": [{"role": "user", "content": "x"}]}', "n"),
        (
            b'{"model": "citewise", "filters": {"year": "soon"}, "messages": [{"role": "user", "content": "x"}]}',
            "filters",
        ),
        (
            b'{"model": "citewise", "filters": {"colour": "x"}, "messages": [{"role": "user", "content": "x"}]}',
            "filters.colour",
        ),
        (b'{"model": "citewise", "messages": [{"role": "user", "content": "' + b"x" * 4_001 + b'"}]}', "messages"),
    ],
)
def test_a_request_that_cannot_be_answered_says_why(real_site: str, body: bytes, param: str | None) -> None:
    status, told = post(real_site, body)
    assert status == 400
    assert set(told["error"]) == {"message", "type", "param", "code"}
    assert told["error"]["type"] == "invalid_request_error"
    assert told["error"]["param"] == param
    assert told["error"]["message"]


def test_another_model_is_not_found(site: str) -> None:
    with client_of(site) as client, pytest.raises(openai.NotFoundError) as raised:
        client.chat.completions.create(model="gpt-4.1", messages=[{"role": "user", "content": "x"}])
    assert raised.value.code == "model_not_found"


def test_a_page_of_another_site_cannot_ask(site: str) -> None:
    body = b'{"model": "citewise", "messages": [{"role": "user", "content": "x"}]}'
    assert post(site, body, content_type="text/plain")[0] == 400
    with closing(HTTPConnection(urlsplit(site).netloc, timeout=30)) as connection:
        preflight = {"origin": "https://evil.example", "access-control-request-method": "POST"}
        connection.request("OPTIONS", "/v1/chat/completions", headers=preflight)
        assert connection.getresponse().getheader("access-control-allow-origin") is None


def test_a_body_over_the_limit_is_refused_in_the_clients_language(site: str) -> None:
    with client_of(site) as client, pytest.raises(openai.APIStatusError, match="too large") as raised:
        ask(client, "x" * (MAX_BODY_BYTES + 1))
    assert raised.value.status_code == 413


def test_with_a_password_it_is_the_key() -> None:
    with live(FakeAssistant(pause=0.0), PageConfig(auth=("reader", "secret"))) as url:
        for key in ("wrong", "reader", "sécret"):
            with client_of(url, key=key) as client, pytest.raises((openai.AuthenticationError, UnicodeEncodeError)):
                ask(client, "What are memory traces?")
        with client_of(url, key="secret") as client:
            assert ask(client, "What are memory traces?").citations
            assert client.models.list().data


@pytest.mark.parametrize("stream", [True, False])
def test_a_client_that_goes_stops_the_answer(site: str, scripted: FakeAssistant, stream: bool) -> None:
    closed = scripted.closed
    body = {"model": "citewise", "stream": stream, "messages": [{"role": "user", "content": "Answer slowly please"}]}
    with closing(HTTPConnection(urlsplit(site).netloc, timeout=30)) as connection:
        connection.request("POST", "/v1/chat/completions", json.dumps(body), {"content-type": "application/json"})
        if stream:
            with connection.getresponse() as response:
                assert response.read(20)
        else:
            time.sleep(0.1)
    gone = time.monotonic()
    while scripted.closed == closed and time.monotonic() < gone + 2:
        time.sleep(0.01)
    assert scripted.closed == closed + 1
    assert time.monotonic() - gone < 1


def test_sixteen_users_at_once_each_get_their_own_answer(real_site: str) -> None:
    start = threading.Barrier(16)
    asked = [question for question in QUESTIONS for _ in range(4)]

    def one(numbered: tuple[int, str]) -> tuple[str, str, list[Any]]:
        number, question = numbered
        with client_of(real_site) as client:
            start.wait(20)
            if number % 2:
                answer = ask(client, question)
                return question, answer.choices[0].message.content, answer.citations
            chunks = list(ask(client, question, stream=True))
            text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
            return question, text, chunks[-1].citations

    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(one, enumerate(asked)))
    texts: dict[str, set[str]] = {}
    for question, text, citations in answers:
        assert QUESTIONS[question] in text
        assert citations
        texts.setdefault(question, set()).add(" ".join(text.split()))
    assert all(len(same) == 1 for same in texts.values()), "an answer holds words of another"
