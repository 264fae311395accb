"""A judge of support at an endpoint, asked through a scripted server: one call, and only what it makes clear counts."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rag.assistant import Assistant
from rag.cli import app
from rag.domain import Answer
from rag.errors import SettingsError
from tests.contract import scripted_server as play
from tests.contract.scripted_server import ScriptedServer, scripted_server

QUESTION = "What are memory traces?"
LOOSE = "Memory traces average what was seen, in a manner of speaking [1]. They cost 7 euros [1]."


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with scripted_server() as server:
        yield server


def ask(server: ScriptedServer, home: Path, monkeypatch: pytest.MonkeyPatch, judge: str, **settings: str) -> Answer:
    values = {"base_url": server.base_url, "model": "writer", "judge_model": judge, "home": str(home), "deadline": "4"}
    for name, value in {**values, **settings}.items():
        monkeypatch.setenv(f"CITEWISE_{name.upper()}", value)
    server.script("writer", LOOSE)
    return Assistant.open().ask(QUESTION)


def test_a_judge_decides_what_words_cannot(
    server: ScriptedServer, seed_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.script("judge", "1: supported\n2: supported")
    answer = ask(server, seed_home, monkeypatch, "judge")
    loose, price = answer.sentences
    assert (loose.support, loose.reason) == ("supported", "the cited abstracts say it, a model judged")
    assert price.support != "supported", "7 is in no cited abstract, whoever judges"
    assert answer.usage.calls == 2
    assert "judged by a model (judge, judge/v1@" in " ".join(answer.notes)
    prompt = server.requests[-1]["messages"][-1]["content"]
    assert "1. Memory traces average what was seen, in a manner of speaking. [1]" in prompt


def test_what_a_judge_rejects_may_be_dropped(
    server: ScriptedServer, seed_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.script("judge", "1: supported\n2: unsupported")
    answer = ask(server, seed_home, monkeypatch, "judge", unsupported="drop")
    assert [sentence.support for sentence in answer.sentences] == ["supported"]
    assert "euros" not in answer.text


def test_a_judge_that_fails_costs_no_answer(
    server: ScriptedServer, seed_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.play("judge", play.http(401, {"error": {"message": "no"}}))
    answer = ask(server, seed_home, monkeypatch, "judge")
    assert answer.outcome == "answered"
    assert len(answer.sentences) == 2
    assert "the check by words stands" in " ".join(answer.notes)


def test_a_judge_without_a_model_is_an_error(
    server: ScriptedServer, seed_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SettingsError, match="no model") as error:
        ask(server, seed_home, monkeypatch, "", judge_base_url=server.base_url)
    assert "CITEWISE_JUDGE_MODEL" in error.value.fix


def test_doctor_tests_the_judge_too(server: ScriptedServer, seed_home: Path) -> None:
    environment = {"CITEWISE_BASE_URL": server.base_url, "CITEWISE_MODEL": "writer", "CITEWISE_JUDGE_MODEL": "judge"}
    server.script("writer", "OK")
    server.play("judge", play.http(401, {"error": {"message": "no"}}))
    done = CliRunner().invoke(app, ["doctor"], env={**environment, "CITEWISE_HOME": str(seed_home)})
    assert done.exit_code == 1, done.output
    assert "FAIL judge, " in done.output
