"""The checks on an endpoint before anything is sent."""

import math

import pytest

from rag.errors import SettingsError
from rag.llm import Endpoint


def test_without_an_address_it_is_openai_and_its_default_model() -> None:
    endpoint = Endpoint(api_key="sk-test")
    assert (endpoint.url, endpoint.host, endpoint.model) == (
        "https://api.openai.com/v1",
        "api.openai.com",
        "gpt-4.1-mini",
    )


@pytest.mark.parametrize("base_url", [None, "", "https://api.openai.com/v1"])
def test_openai_wants_a_key(base_url: str | None) -> None:
    with pytest.raises(SettingsError, match="No API key is set for OpenAI") as caught:
        Endpoint(base_url=base_url)
    assert "OPENAI_API_KEY" in caught.value.fix


def test_another_server_needs_neither_key_nor_model() -> None:
    endpoint = Endpoint(base_url="http://localhost:11434/v1")
    assert (endpoint.api_key, endpoint.model, endpoint.host) == (None, None, "localhost:11434")


@pytest.mark.parametrize(
    "pasted",
    [" http://localhost:8000/v1/ ", "http://localhost:8000/v1/chat/completions", "http://localhost:8000/v1\n"],
)
def test_what_is_pasted_with_an_address_is_dropped(pasted: str) -> None:
    assert Endpoint(base_url=pasted).url == "http://localhost:8000/v1"


@pytest.mark.parametrize(
    "bad",
    [
        "localhost:11434/v1",
        "ftp://host/v1",
        "http://",
        "http://host:99999/v1",
        "http://[::1/v1",
        "http://a b/v1",
        "http://h/v1#x",
    ],
)
def test_what_is_no_url_is_refused(bad: str) -> None:
    with pytest.raises(SettingsError, match="is not a URL") as caught:
        Endpoint(base_url=bad)
    assert "CITEWISE_BASE_URL" in caught.value.fix


@pytest.mark.parametrize("address", ["http://pat:hunter2@host:8000/v1", "pat:hunter2@host", "http://pat:hunter2@:x/"])
def test_credentials_of_an_address_are_never_shown(address: str) -> None:
    try:
        endpoint = Endpoint(base_url=address)
        shown = f"{endpoint!r} {endpoint.url} {endpoint.host}"
        assert endpoint.credentials == ("pat", "hunter2")
    except SettingsError as error:
        shown = f"{error!r} {error}"
    assert "hunter2" not in shown


def test_a_key_is_stripped_and_never_in_the_repr() -> None:
    endpoint = Endpoint(base_url="http://host/v1", api_key=" sk-secret-12345\n")
    assert endpoint.api_key == "sk-secret-12345"
    assert "secret" not in repr(endpoint)


@pytest.mark.parametrize("key", ["sk-a\nb", "sk-ключ", "sk-a\x00b", "sk a"])
def test_a_key_that_cannot_be_sent_is_refused_and_not_shown(key: str) -> None:
    with pytest.raises(SettingsError, match="characters that cannot be sent") as caught:
        Endpoint(base_url="http://host/v1", api_key=key)
    assert key not in str(caught.value)


@pytest.mark.parametrize("name", ["deadline", "first_token_timeout", "max_output_tokens"])
@pytest.mark.parametrize("value", [0, -1, math.nan, math.inf])
def test_limits_are_above_zero(name: str, value: float) -> None:
    with pytest.raises(SettingsError, match=f"CITEWISE_{name.upper()} cannot be"):
        Endpoint(base_url="http://host/v1", **{name: value})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("address", "loopback"),
    [
        ("http://127.0.0.1:1/v1", True),
        ("http://[::1]:1/v1", True),
        ("http://localhost/v1", True),
        ("http://10.0.0.1/v1", False),
    ],
)
def test_loopback_is_told(address: str, loopback: bool) -> None:
    assert Endpoint(base_url=address).is_loopback is loopback
