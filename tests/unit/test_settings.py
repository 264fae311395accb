"""Settings from the environment."""

from pathlib import Path

import pytest

from rag.domain import WriterChoice
from rag.errors import SettingsError
from rag.picking import pick_writer
from rag.settings import load_settings
from rag.wiring import build_writer


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("CITEWISE_K", "many", "CITEWISE_K"),
        ("CITEWISE_K", "0", "CITEWISE_K"),
        ("CITEWISE_WRITER", "poet", "CITEWISE_WRITER"),
        ("CITEWISE_CORPUS", "../up", "CITEWISE_CORPUS"),
        ("CITEWISE_DEADLINE", "-1", "CITEWISE_DEADLINE"),
    ],
)
def test_an_unusable_value_is_an_error_that_names_the_variable(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, told: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError, match=told):
        load_settings()


def test_what_is_given_overrides_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CITEWISE_CORPUS", "one")
    assert load_settings(corpus="two").corpus == "two"
    assert load_settings(corpus=None).corpus == "one"


@pytest.mark.parametrize(
    ("environment", "asked", "picked"),
    [
        ({}, "auto", "extractive"),
        ({"OPENAI_API_KEY": "sk-x"}, "auto", "chat"),
        ({"CITEWISE_BASE_URL": "http://127.0.0.1:1/v1"}, "auto", "chat"),
        ({"OPENAI_API_KEY": "sk-x"}, "extractive", "extractive"),
    ],
)
def test_auto_picks_a_chat_model_only_where_one_is_configured(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], asked: WriterChoice, picked: str
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    settings = load_settings(writer=asked)
    assert pick_writer(settings).name == picked
    assert build_writer(settings).name == picked


def test_the_key_is_in_no_repr(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    settings = load_settings()
    assert "very-secret" not in repr(settings) + str(settings.model_dump())


def test_a_chat_writer_without_key_or_address_is_an_error() -> None:
    with pytest.raises(SettingsError, match="OPENAI_API_KEY"):
        build_writer(load_settings(writer="chat"))


def test_an_answer_longer_than_the_window_is_an_error() -> None:
    with pytest.raises(SettingsError, match="CITEWISE_MAX_OUTPUT_TOKENS"):
        build_writer(load_settings(base_url="http://127.0.0.1:1/v1", context_tokens=600, max_output_tokens=600))


def test_home_is_a_path(tmp_path: Path) -> None:
    assert load_settings(home=tmp_path).home == tmp_path
