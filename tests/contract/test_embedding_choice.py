"""The choice of an embedding model, from the settings to an answer: who is sent what, at what price, and what fails."""

import io
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer

from rag.assistant import Assistant
from rag.cli.embedding_cost import announces_cost, cost_line
from rag.domain import Finished
from rag.embedding import MiniLMEmbedder
from rag.embedding_cost import PRICED_ON, EmbeddingNeed, price
from rag.errors import EndpointError, SettingsError
from rag.ingest import ingest_files, ingest_papers
from rag.llm import Endpoint, EndpointEmbedder, embeddings
from rag.settings import Settings, load_settings
from rag.tokens import count_tokens
from rag.wiring import build_embedder, build_embedding_endpoint
from tests.builders import paper
from tests.contract.scripted_server import ScriptedServer, http, scripted_server

CITEWISE = [sys.executable, "-c", "from rag.cli import main; main()"]
LOCAL = "http://127.0.0.1:9/v1"
NEED = EmbeddingNeed(texts=1200, tokens=2_000_000)
PAPERS = [
    paper("traces", title="Memory Traces", abstract="Memory traces are moving averages of observations."),
    paper("graphs", title="Graph Networks", abstract="Graph networks pass messages along edges."),
]


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with scripted_server() as running:
        running.embed("m", dimension=64)
        yield running


@pytest.fixture
def set_up(server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Settings that name the scripted model, and a corpus `c` that it has embedded."""
    for name, value in {"BASE_URL": server.base_url, "MODEL": "m"}.items():
        monkeypatch.setenv(f"CITEWISE_EMBEDDING_{name}", value)
    monkeypatch.setenv("CITEWISE_CORPUS", "c")
    settings = load_settings()
    ingest_papers(settings.home, "c", PAPERS, embedder=build_embedder(settings))
    return settings


def citewise(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*CITEWISE, *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        env=dict(os.environ),
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize(
    "environment",
    [
        {},
        {"OPENAI_API_KEY": "sk-openai"},
        {"CITEWISE_BASE_URL": LOCAL, "CITEWISE_MODEL": "chat", "CITEWISE_API_KEY": "key"},
        {"OPENAI_BASE_URL": LOCAL, "OPENAI_API_KEY": "sk-openai"},
    ],
)
def test_citewise_embeds_where_no_embedding_model_is_named(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str]
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert isinstance(build_embedder(load_settings()), MiniLMEmbedder)
    assert build_embedding_endpoint(load_settings()) is None


@pytest.mark.parametrize(
    ("environment", "told"),
    [
        ({"CITEWISE_EMBEDDING_API_KEY": "key"}, "CITEWISE_EMBEDDING_MODEL"),
        ({"CITEWISE_EMBEDDING_BASE_URL": LOCAL}, "CITEWISE_EMBEDDING_MODEL"),
        ({"CITEWISE_EMBEDDING_MODEL": "m"}, "OPENAI_API_KEY"),
        (
            {"CITEWISE_EMBEDDING_MODEL": "m", "CITEWISE_BASE_URL": LOCAL, "OPENAI_API_KEY": "sk-openai"},
            "CITEWISE_EMBEDDING_BASE_URL",
        ),
        ({"CITEWISE_EMBEDDING_MODEL": "m", "CITEWISE_EMBEDDING_BASE_URL": "ftp://x"}, "CITEWISE_EMBEDDING_BASE_URL"),
        ({"CITEWISE_EMBEDDING_MODEL": "m", "CITEWISE_EMBEDDING_BASE_URL": "http://[x"}, "CITEWISE_EMBEDDING_BASE_URL"),
        (
            {"CITEWISE_EMBEDDING_MODEL": "m", "CITEWISE_EMBEDDING_BASE_URL": LOCAL, "CITEWISE_EMBEDDING_API_KEY": "ä"},
            "CITEWISE_EMBEDDING_API_KEY",
        ),
        (
            {
                "CITEWISE_EMBEDDING_MODEL": "m",
                "CITEWISE_EMBEDDING_BASE_URL": "http://gpu:1/v1",
                "CITEWISE_PRIVATE": "1",
            },
            "--private",
        ),
    ],
)
def test_what_is_half_configured_is_an_error_and_never_openai(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], told: str
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError) as caught:
        build_embedder(load_settings())
    assert told in caught.value.fix


@pytest.mark.parametrize(
    ("environment", "host", "key"),
    [
        ({"OPENAI_API_KEY": "sk-openai"}, "api.openai.com", "sk-openai"),
        ({"CITEWISE_EMBEDDING_API_KEY": "mine", "OPENAI_API_KEY": "sk-openai"}, "api.openai.com", "mine"),
        ({"CITEWISE_EMBEDDING_BASE_URL": LOCAL, "OPENAI_API_KEY": "sk-openai"}, "127.0.0.1:9", None),
        ({"CITEWISE_EMBEDDING_BASE_URL": LOCAL, "CITEWISE_EMBEDDING_API_KEY": "mine"}, "127.0.0.1:9", "mine"),
        (
            {"CITEWISE_EMBEDDING_BASE_URL": LOCAL, "CITEWISE_BASE_URL": LOCAL, "CITEWISE_API_KEY": "both"},
            "127.0.0.1:9",
            "both",
        ),
        (
            {
                "CITEWISE_EMBEDDING_BASE_URL": LOCAL,
                "CITEWISE_BASE_URL": "http://127.0.0.1:8/v1",
                "CITEWISE_API_KEY": "k",
            },
            "127.0.0.1:9",
            None,
        ),
    ],
)
def test_a_key_goes_to_the_server_it_was_given_for(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], host: str, key: str | None
) -> None:
    for name, value in {"CITEWISE_EMBEDDING_MODEL": "m", **environment}.items():
        monkeypatch.setenv(name, value)
    embedder = build_embedder(load_settings())
    assert isinstance(embedder, EndpointEmbedder)
    assert (embedder.endpoint.host, embedder.endpoint.api_key) == (host, key)


def test_an_endpoint_embeds_corpus_and_question(server: ScriptedServer, set_up: Settings) -> None:
    answer = Assistant.from_settings(set_up).ask("What are memory traces?")
    assert answer.outcome == "answered"
    assert answer.citations[0].paper.paper_id == "traces"
    assert "What are memory traces?" in server.embedded["m"]


def test_a_fault_while_searching_is_a_failed_answer(server: ScriptedServer, set_up: Settings) -> None:
    assistant = Assistant.from_settings(set_up)
    server.play("m", http(401, {"error": {"message": "expired"}}))
    events = list(assistant.stream("What are memory traces?"))
    assert [type(event) for event in events] == [Finished]
    answer = assistant.ask("What are memory traces?")
    assert (answer.outcome, answer.text, answer.retrieved) == ("failed", "", ())
    assert "API key" in str(answer.problem)
    assert "CITEWISE_EMBEDDING_API_KEY" in str(answer.fix)
    with pytest.raises(EndpointError):
        assistant.search("memory traces")
    server.embed("m", dimension=64)
    assert assistant.ask("What are memory traces?").outcome == "answered"


def test_another_dimension_while_searching_is_a_failed_answer(server: ScriptedServer, set_up: Settings) -> None:
    assistant = Assistant.from_settings(set_up)
    server.embed("m", dimension=32)
    answer = assistant.ask("What are memory traces?")
    assert (answer.outcome, answer.text) == ("failed", "")
    assert "32 dimensions in place of 64" in str(answer.problem)


@pytest.mark.parametrize("command", [("search", "memory"), ("ask", "memory"), ("ask", "--json", "-")])
def test_the_commands_print_the_fault(server: ScriptedServer, set_up: Settings, command: tuple[str, ...]) -> None:
    server.play("m", http(401, {"error": {"message": "expired"}}))
    process = citewise(*command, stdin="memory")
    assert process.returncode == 1
    assert (
        "refused the API key" in process.stdout + process.stderr
        or "wants an API key" in process.stdout + process.stderr
    )
    assert "Traceback" not in process.stderr


def test_show_request_says_who_is_sent_the_question(server: ScriptedServer, set_up: Settings) -> None:
    process = citewise("ask", "--show-request", "What are memory traces?")
    assert f"embedding endpoint 127.0.0.1:{server.port}" in process.stderr


def test_doctor_tests_the_endpoint(server: ScriptedServer, set_up: Settings) -> None:
    process = citewise("doctor")
    assert process.returncode == 0, process.stdout + process.stderr
    assert f"embedding model m at 127.0.0.1:{server.port}, 64 dimensions" in process.stdout
    server.play("m", http(200, {"data": [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": [1.0]}]}))
    process = citewise("doctor")
    assert process.returncode == 1
    assert "CITEWISE_EMBEDDING_MODEL" in process.stdout


def test_ingest_tells_the_need_and_a_repeated_one_has_none(
    server: ScriptedServer, set_up: Settings, tmp_path: Path
) -> None:
    file = tmp_path / "new.txt"
    file.write_text("Novel study\n\nDiffusion denoises images. Flows do too.\n")
    before = len(server.embedded["m"])
    process = citewise("ingest", str(file))
    assert process.returncode == 0, process.stderr
    sent = [text for text in server.embedded["m"][before:] if text != embeddings.PROBE]
    tokens = sum(map(count_tokens, sent))
    told = f"m at 127.0.0.1:{server.port} embeds {len(sent)} texts, about {tokens} tokens; price: n/a"
    assert told in process.stderr
    assert sent
    again = citewise("ingest", "--rebuild")
    assert (again.returncode, "embeds" in again.stderr) == (0, False), again.stderr


def test_nothing_is_embedded_where_the_need_is_declined(server: ScriptedServer, set_up: Settings) -> None:
    before = len(server.embedded["m"])

    def decline(need: EmbeddingNeed) -> None:
        assert need.texts > 0
        raise typer.Abort

    path = set_up.home / "new.txt"
    path.write_text("Diffusion denoises images. Flows do too.\n")
    embedder = EndpointEmbedder(Endpoint(role="embedding", base_url=server.base_url, model="m"), dimension=64)
    with pytest.raises(typer.Abort):
        ingest_files(set_up.home, "c", [path], embedder=embedder, before_embedding=decline)
    assert len(server.embedded["m"]) == before


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stdin", "yes", "goes_on"),
    [
        (Terminal("n\n"), False, False),
        (Terminal("y\n"), False, True),
        (Terminal(""), True, True),
        (io.StringIO(), False, True),
    ],
)
def test_only_a_terminal_is_asked(monkeypatch: pytest.MonkeyPatch, stdin: Any, yes: bool, goes_on: bool) -> None:
    announce = announces_cost(load_settings(embedding_model="m", embedding_base_url=LOCAL), yes=yes)
    assert announce is not None
    monkeypatch.setattr(sys, "stdin", stdin)
    if goes_on:
        announce(NEED)
        return
    with pytest.raises(typer.Abort):
        announce(NEED)


def test_the_price_is_known_for_openai_alone() -> None:
    openai = Endpoint(role="embedding", model="text-embedding-3-small", api_key="sk-x")
    line = "text-embedding-3-small at api.openai.com embeds 1,200 texts, about 2,000,000 tokens; price: about $0.0400"
    assert cost_line(NEED, openai) == f"{line}, by prices of {PRICED_ON}"
    assert cost_line(NEED, Endpoint(role="embedding", base_url=LOCAL, model="text-embedding-3-small")).endswith("n/a")
    assert np.isclose(price("text-embedding-3-large", tokens=1_000_000) or 0, 0.13)
    assert price("m", tokens=1) is None


def test_the_embedded_model_has_no_price(monkeypatch: pytest.MonkeyPatch) -> None:
    assert announces_cost(load_settings(), yes=False) is None
