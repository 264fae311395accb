"""What `citewise doctor` finds out about an endpoint."""

from collections.abc import Iterator

import pytest

from rag.llm import Endpoint, ProbeReport, probe
from tests.contract.scripted_server import FOREVER, ScriptedServer, http, scripted_server, stream

LISTED = {"data": [{"id": "qwen", "max_model_len": 8192}, {"id": "nomic-embed-text"}]}


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with scripted_server() as running:
        running.models_response = http(200, LISTED)
        running.script("qwen", "ready")
        yield running


def probed(server: ScriptedServer, model: str | None = None) -> ProbeReport:
    return probe(Endpoint(base_url=server.base_url, model=model, deadline=3, first_token_timeout=0.5))


def outcomes(report: ProbeReport) -> dict[str, bool]:
    return {check.name: check.passed for check in report.checks}


def fixes(report: ProbeReport) -> str:
    return " ".join(check.fix for check in report.checks)


def test_a_good_endpoint_passes_every_step(server: ScriptedServer) -> None:
    report = probed(server)
    assert outcomes(report) == {"reach": True, "key": True, "model": True, "stream": True}
    assert report.passed
    assert (report.model, report.models, report.context_tokens) == ("qwen", ("qwen",), 8192)
    assert fixes(report).strip() == ""


def test_a_server_that_is_not_there_fails_the_first_step() -> None:
    report = probe(Endpoint(base_url="http://127.0.0.1:9/v1", model="qwen"))
    assert outcomes(report) == {"reach": False}
    assert "Is it running?" in fixes(report)


def test_a_server_that_does_not_answer_fails_the_first_step(server: ScriptedServer) -> None:
    server.models_response = (FOREVER,)
    assert outcomes(probed(server)) == {"reach": False}


def test_a_refused_key_fails_its_step_and_ends_the_probe(server: ScriptedServer) -> None:
    server.models_response = http(401, {"error": "no"})
    report = probed(server, "qwen")
    assert outcomes(report) == {"reach": True, "key": False}
    assert "CITEWISE_API_KEY" in fixes(report)
    assert server.hits["qwen"] == 0


def test_a_key_that_only_chat_refuses_is_found(server: ScriptedServer) -> None:
    server.play("qwen", http(401, {"error": "no"}))
    assert outcomes(probed(server)) == {"reach": True, "key": False}


def test_an_unlisted_model_is_told_and_still_asked(server: ScriptedServer) -> None:
    server.script("alias", "ready")
    report = probed(server, "alias")
    assert outcomes(report) == {"reach": True, "key": True, "model": False, "stream": True}
    assert "one of: qwen" in fixes(report)


def test_several_models_are_listed_to_choose_from(server: ScriptedServer) -> None:
    server.models_response = http(200, {"data": [{"id": "a"}, {"id": "b"}]})
    report = probed(server)
    assert outcomes(report) == {"reach": True, "key": True, "model": False}
    assert (report.model, report.models) == (None, ("a", "b"))


def test_a_server_without_a_list_of_models_is_asked_for_the_configured_one(server: ScriptedServer) -> None:
    server.models_response = http(404, {"detail": "Not Found"})
    assert probed(server, "qwen").passed
    assert outcomes(probed(server)) == {"reach": True, "key": True, "model": False}


def test_a_broken_stream_fails_the_last_step(server: ScriptedServer) -> None:
    server.play("qwen", stream("rea"))
    report = probed(server)
    assert outcomes(report) == {"reach": True, "key": True, "model": True, "stream": False}
    assert "Ask again" in fixes(report)
