"""The small pure parts of a chat call: events, request shapes, waiting, redaction."""

import logging
import sys
import time
from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.domain import Usage
from rag.llm.chunks import Chunk, read_chunk
from rag.llm.endpoint import Endpoint
from rag.llm.faults import listed, quoted
from rag.llm.redaction import RedactKeys, protect_logs
from rag.llm.request import RequestShape
from rag.llm.retry import backoff, retry_after

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.sampled_from(["choices", "delta", "content", "usage", "x"]), inner)
    ),
)


@given(JSON)
def test_no_event_is_too_odd_to_read(event: object) -> None:
    assert isinstance(read_chunk(event), Chunk)


def test_an_event_is_read() -> None:
    event = {
        "choices": [{"delta": {"content": "Yes", "reasoning": "hm"}, "finish_reason": "length"}],
        "usage": {"prompt_tokens": 3, "completion_tokens": None},
    }
    expected = Chunk("Yes", reasons=True, refusal="", calls_tool=False, finish="length", usage=Usage(prompt_tokens=3))
    assert read_chunk(event) == expected


def test_a_counted_true_is_no_count() -> None:
    assert read_chunk({"usage": {"prompt_tokens": True}}).usage is None


def test_openai_is_asked_with_the_name_that_all_its_models_take() -> None:
    shape = RequestShape.first(Endpoint(api_key="sk-x"))
    arguments = shape.arguments([], model="m", max_output_tokens=9, temperature=0)
    assert arguments["max_completion_tokens"] == 9


@pytest.mark.parametrize(
    "wording",
    [
        "max_tokens is too large: 700; at most 512 are supported",
        "temperature must be at most 2",
        "unsupported image type",
        "",
    ],
)
def test_what_is_no_refusal_of_a_parameter_changes_nothing(wording: str) -> None:
    assert RequestShape.first(Endpoint(base_url="http://h/v1")).without_refused(wording) is None


@given(
    st.lists(st.sampled_from(["max_tokens", "max_completion_tokens", "temperature", "stream_options", "system role"]))
)
def test_changes_of_a_request_come_to_an_end(refused: list[str]) -> None:
    shape, changes = RequestShape.first(Endpoint(base_url="http://h/v1")), 0
    for name in refused:
        changed = shape.without_refused(f"unsupported parameter: {name}")
        shape, changes = changed or shape, changes + (changed is not None)
    assert changes <= 5


def test_the_wait_before_a_retry_doubles_with_jitter() -> None:
    assert all(0.25 <= backoff(0) <= 0.5 and 0.5 <= backoff(1) <= 1 for _ in range(50))
    assert len({backoff(0) for _ in range(5)}) > 1


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "7"}, 0.25),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0),
    ],
)
def test_retry_after_is_read(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds


def test_retry_after_may_be_a_date_to_come() -> None:
    assert retry_after({"retry-after": formatdate(time.time() + 30, usegmt=True)}) == pytest.approx(30, abs=2)


@pytest.mark.parametrize(
    "leak", ["the key my-own-key", "sk-proj-abc_123-XYZ", "Bearer abcdef123", "sk-ab****************wxyz"]
)
def test_keys_are_replaced_in_text(leak: str) -> None:
    redact = RedactKeys()
    redact.add("my-own-key")
    text = redact.redacted(f"refused: {leak}.")
    assert "[key]" in text
    assert not any(part in text for part in ("my-own-key", "abc", "wxyz"))


def test_keys_are_replaced_in_a_record_and_its_traceback() -> None:
    redact = RedactKeys()
    redact.add("my-own-key")
    try:
        raise ValueError("my-own-key")
    except ValueError:
        info = sys.exc_info()
    record = logging.LogRecord("x", logging.ERROR, "", 0, "with %s", ("my-own-key",), info)
    assert redact.filter(record)
    assert "my-own-key" not in logging.Formatter().format(record)


def test_the_clients_own_logs_are_protected(caplog: pytest.LogCaptureFixture) -> None:
    protect_logs("quite-secret-key", None)
    logging.getLogger("openai._base_client").warning("sent %s", "quite-secret-key")
    logging.getLogger("httpx2").info("HTTP Request: POST http://host?q=question")
    assert caplog.messages == ["sent [key]"]


def test_what_a_server_says_is_one_short_printable_line() -> None:
    assert quoted("a\n\x1b[31mb\u202e\ud800") == "a [31mb"
    assert quoted("x" * 300, most=10) == "x" * 9 + "…"
    assert listed([f"m{n}" for n in range(12)], most=2) == "m0, m1 and 10 more"
