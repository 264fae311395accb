"""Without any configuration, an Ollama on this machine writes the answers, and this is said."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from rag.cli import app
from rag.errors import SettingsError
from rag.local.ollama import ollama_models
from rag.picking import pick_writer
from rag.settings import load_settings
from rag.wiring import build_endpoint, build_writer
from tests.contract.scripted_server import FOREVER, ScriptedServer, http, scripted_server

NOBODY = "http://127.0.0.1:9"
QUESTION = "What are memory traces?"


def entry(name: str, family: str = "qwen2", **more: Any) -> dict[str, Any]:
    return {"name": name, "model": name, "size": 1, "details": {"format": "gguf", "family": family}, **more}


TAGS = [
    entry("nomic-embed-text:latest", "nomic-bert"),
    entry("all-minilm:latest", "bert"),
    entry("qwen3:8b-base"),
    entry("gpt-oss:120b-cloud", "gptoss", remote_host="https://ollama.com:443"),
    entry("qwen3:8b", "qwen3"),
    entry("llama3.2:3b-instruct-q4_K_M", "llama"),
]


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with scripted_server() as running:
        running.models_response = http(200, {"models": TAGS})
        yield running


@pytest.fixture
def ollama(server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> str:
    address = server.base_url.removesuffix("/v1")
    monkeypatch.setenv("CITEWISE_OLLAMA", address)
    return address


def test_chat_models_of_this_machine_are_listed_instruct_ones_first(server: ScriptedServer, ollama: str) -> None:
    assert ollama_models(ollama) == ("llama3.2:3b-instruct-q4_K_M", "qwen3:8b", "qwen3:8b-base")
    assert server.paths == ["/api/tags"]


def test_auto_takes_it_and_says_so(ollama: str) -> None:
    pick = pick_writer(load_settings())
    assert pick.name == "chat"
    assert pick.why == f"an Ollama at {ollama} serves llama3.2:3b-instruct-q4_K_M"
    endpoint = build_endpoint(pick.settings)
    assert (endpoint.url, endpoint.model, endpoint.api_key) == (f"{ollama}/v1", "llama3.2:3b-instruct-q4_K_M", None)


def test_the_model_that_is_named_is_taken(ollama: str) -> None:
    assert pick_writer(load_settings(model="qwen3:8b")).settings.model == "qwen3:8b"


def test_picking_from_a_pick_asks_nobody_again(server: ScriptedServer, ollama: str) -> None:
    settings = pick_writer(load_settings()).settings
    assert pick_writer(settings).name == build_writer(settings).name == "chat"
    assert len(server.paths) == 1


@pytest.mark.parametrize(
    "configured",
    [
        {"base_url": "http://127.0.0.1:9/v1"},
        {"api_key": "sk-something-long"},
        {"writer": "extractive"},
        {"writer": "chat"},
        {"model_file": "some.gguf"},
    ],
)
def test_it_is_not_looked_for_where_anything_is_configured(
    server: ScriptedServer, ollama: str, configured: dict[str, str]
) -> None:
    pick_writer(load_settings(**configured))
    assert server.paths == []


@pytest.mark.parametrize(
    ("response", "why"),
    [
        (http(200, {"models": []}), "has no chat model"),
        (http(200, {"models": [TAGS[0], TAGS[3]]}), "has no chat model"),
        (http(200, {"models": [{"size": 3}, {"name": 7}]}), "has no chat model"),
        (http(200, {"models": "none"}), "no model endpoint is configured"),
        (http(200, "<html>another program</html>"), "no model endpoint is configured"),
        (http(404, {"error": "not found"}), "no model endpoint is configured"),
        (http(200, b"\xff" * 2_000_000), "no model endpoint is configured"),
        ((b"no HTTP at all\r\n\r\n",), "no model endpoint is configured"),
        ((FOREVER,), "no model endpoint is configured"),
    ],
)
def test_without_a_usable_answer_the_abstracts_are_quoted(
    server: ScriptedServer, ollama: str, response: Any, why: str
) -> None:
    server.models_response = response
    began = time.monotonic()
    pick = pick_writer(load_settings())
    assert time.monotonic() - began < 1.5
    assert pick.name == "extractive"
    assert why in pick.why


def test_where_none_runs_nothing_is_waited_for() -> None:
    began = time.monotonic()
    assert ollama_models(NOBODY) is None
    assert time.monotonic() - began < 0.15


@pytest.mark.parametrize("address", ["http://192.168.1.7:11434", "https://127.0.0.1:1", "http://[::1", "localhost:1"])
def test_only_this_machine_is_asked(address: str) -> None:
    with pytest.raises(SettingsError, match="CITEWISE_OLLAMA"):
        pick_writer(load_settings(ollama=address))


def test_ask_says_on_stderr_who_writes_and_why(server: ScriptedServer, ollama: str, seed_home: Path) -> None:
    server.script("llama3.2:3b-instruct-q4_K_M", "Memory traces are exponential moving averages of observations [1].")
    result = CliRunner().invoke(app, ["ask", QUESTION, "--home", str(seed_home)])
    assert result.exit_code == 0, result.output
    assert f"Writer: chat, as an Ollama at {ollama} serves llama3.2:3b-instruct-q4_K_M." in result.stderr
    assert "exponential moving averages" in result.stdout
    assert "Writer:" not in result.stdout


def test_ask_says_that_nobody_writes(seed_home: Path) -> None:
    result = CliRunner().invoke(app, ["ask", QUESTION, "--home", str(seed_home)])
    assert "Writer: extractive, as no model endpoint is configured." in result.stderr
