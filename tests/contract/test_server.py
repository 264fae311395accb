"""The web app over HTTP: what is open, what is closed, what every response carries, and the one public endpoint."""

import asyncio
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from rag.errors import SettingsError
from tests.browser.fake_assistant import HOSTILE, FakeAssistant
from ui.app import PageConfig
from ui.corpus_changes import MAX_UPLOAD_BYTES
from ui.render import cite_href
from ui.server import MAX_BODY_BYTES, create_app, serve

HOST = "http://127.0.0.1:7860"


def app_for(assistant: FakeAssistant, config: PageConfig) -> FastAPI:
    """The app, made inside an event loop: outside one Gradio opens loops that it never closes."""

    async def make() -> FastAPI:
        return create_app(assistant, config)  # type: ignore[arg-type]

    return asyncio.run(make())


@pytest.fixture(scope="module")
def assistant() -> FakeAssistant:
    return FakeAssistant(pause=0.0)


@pytest.fixture(scope="module")
def client(assistant: FakeAssistant) -> Iterator[TestClient]:
    with TestClient(app_for(assistant, PageConfig()), base_url=HOST) as client:
        yield client


def ask(client: TestClient, **question: object) -> tuple[str, object]:
    """The name and the data of the last event that the public endpoint sends."""
    started = client.post("/gradio_api/call/v2/ask", json=question)
    assert started.status_code == 200, started.text
    lines = client.get(f"/gradio_api/call/ask/{started.json()['event_id']}").text.strip().split("\n")
    return lines[-2].removeprefix("event: "), json.loads(lines[-1].removeprefix("data: "))


def test_health_routes_answer(client: TestClient, assistant: FakeAssistant) -> None:
    assert client.get("/healthz").json() == {"status": "ok"}
    assert client.get("/readyz").json() == {"status": "ok", "corpus": "icml2025", "papers": len(assistant.corpus)}


def test_the_page_holds_its_styles_and_script_and_no_foreign_address(client: TestClient) -> None:
    page = client.get("/").text
    assert "window.citewise" in page
    assert "#conversation" in page
    assert "fonts.googleapis.com" not in page


def test_the_document_is_packed_and_its_parts_are_kept_by_the_browser(client: TestClient) -> None:
    page = client.get("/", headers={"accept-encoding": "gzip"})
    assert page.headers["content-encoding"] == "gzip"
    assert int(page.headers["content-length"]) < len(page.content) / 4
    assert "content-encoding" not in client.get("/", headers={"accept-encoding": "identity"}).headers
    assert "cache-control" not in page.headers
    script = re.search(r'src="\./(assets/index-[^"]+\.js)"', page.text)
    assert script
    kept = client.get(f"/{script[1]}", headers={"accept-encoding": "br"})
    assert "immutable" in kept.headers["cache-control"]
    assert kept.headers["content-encoding"] == "br"
    assert "cache-control" not in client.get("/assets/nothing.js").headers


@pytest.mark.parametrize("path", ["/", "/healthz", "/config", "/gradio_api/info", "/nothing", "/gradio_api/upload"])
def test_every_response_carries_the_security_headers(client: TestClient, path: str) -> None:
    headers = client.get(path).headers
    assert "default-src 'self'" in headers["content-security-policy"]
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "no-referrer"


def test_ask_and_search_are_the_only_public_endpoints(client: TestClient) -> None:
    info = client.get("/gradio_api/info").json()
    assert list(info["named_endpoints"]) == ["/ask", "/search"]
    assert not info["unnamed_endpoints"]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/gradio_api/upload"),
        ("GET", "/gradio_api/file=/etc/passwd"),
        ("GET", "/gradio_api/file=https://evil.example/"),
        ("GET", "/file=/etc/passwd"),
        ("GET", "/gradio_api/proxy=https://evil.example/"),
        ("GET", "/gradio_api/stream/x/y/z/playlist.m3u8"),
        ("GET", "/gradio_api/deep_link"),
        ("GET", "/monitoring"),
        ("POST", "/gradio_api/vibe-edit"),
        ("POST", "/gradio_api/run/ask"),
        ("POST", "/gradio_api/api/ask"),
        ("GET", "/gradio_api/runs"),
        ("GET", "/static/../../etc/passwd"),
        ("GET", "/assets/%2e%2e/%2e%2e/etc/passwd"),
        ("GET", "/docs"),
        ("GET", "/openapi.json"),
    ],
)
def test_routes_without_a_use_are_closed(client: TestClient, method: str, path: str) -> None:
    response = client.request(method, path)
    assert response.status_code in {400, 403, 404}
    assert "root:" not in response.text


@pytest.mark.parametrize("host", ["evil.example", "evil.example:7860", "127.0.0.1.evil.example", ""])
def test_a_foreign_host_name_is_refused(client: TestClient, host: str) -> None:
    assert client.get("/healthz", headers={"host": host}).status_code == 400


@pytest.mark.parametrize("host", ["localhost:7860", "127.0.0.1", "[::1]:7860"])
def test_the_names_of_this_machine_are_answered(client: TestClient, host: str) -> None:
    assert client.get("/healthz", headers={"host": host}).status_code == 200


def test_a_body_over_the_limit_is_refused_with_and_without_a_declared_length(client: TestClient) -> None:
    def chunks() -> Iterator[bytes]:
        for _ in range(MAX_BODY_BYTES // 50_000 + 2):
            yield b"x" * 50_000

    assert client.post("/gradio_api/queue/join", content=b"x" * (MAX_BODY_BYTES + 1)).status_code == 413
    assert client.post("/gradio_api/queue/join", content=chunks()).status_code == 413


def test_the_endpoint_answers_with_the_json_of_the_command_line(client: TestClient) -> None:
    event, data = ask(client, question="What are memory traces?")
    assert event == "complete"
    (answer,) = data
    assert answer["outcome"] == "answered"
    assert answer["citations"][0]["title"].startswith("Partially Observable")
    assert answer["citations"][0]["evidence"][0]["sentence"] in answer["answer"]


def test_the_endpoint_passes_the_last_turns_on(client: TestClient, assistant: FakeAssistant) -> None:
    turns = [{"question": f"q{n}", "answer": "a" * 9_000} for n in range(9)]
    ask(client, question="And then?", history=turns)
    history = assistant.histories[-1]
    assert [turn.question for turn in history] == [f"q{n}" for n in range(3, 9)]
    assert {len(turn.answer) for turn in history} == {4_000}


def test_an_error_at_the_endpoint_names_problem_and_fix(client: TestClient) -> None:
    event, data = ask(client, question="raise an error")
    assert event == "error"
    assert "The corpus is damaged. Run: citewise ingest again." in json.dumps(data)


def card(client: TestClient, request: object) -> object:
    """What the page's server function for citations gives."""
    config = client.get("/config").json()
    (component,) = [c["id"] for c in config["components"] if c["props"].get("elem_id") == "sources"]
    body = {"data": request, "component_id": component, "fn_name": "card", "session_hash": "s"}
    response = client.post("/gradio_api/component_server", json=body)
    assert response.status_code == 200, response.text
    return response.json()


def test_a_citation_gives_its_source_by_its_address_alone(client: TestClient, assistant: FakeAssistant) -> None:
    paper = assistant.corpus.paper(0)
    given = card(client, {"href": cite_href(paper.paper_id, (1,), "partly"), "number": 3})
    assert isinstance(given, dict)
    assert "<mark>" in given["card"]
    assert 'aria-label="Source 3"' in given["card"]
    assert "partly supported" in given["hover"]


def test_a_hostile_paper_is_shown_as_text(client: TestClient) -> None:
    given = card(client, {"href": cite_href(HOSTILE.paper_id, (1,), "supported"), "number": 1})
    assert isinstance(given, dict)
    for markup in ("<script", "<img", "href="):
        assert markup not in given["card"]


@pytest.mark.parametrize(
    "request_",
    [
        None,
        [],
        "x",
        5,
        {},
        {"href": 5},
        {"href": "#cite-unknown-1-partly"},
        {"href": "#cite-" + "a" * 5_000 + "-1-partly"},
    ],
)
def test_any_other_request_for_a_source_gives_nothing(client: TestClient, request_: object) -> None:
    assert card(client, request_) == {}


def served_function(client: TestClient, name: str, request: object) -> dict[str, str]:
    """What a server function of the Corpus tab gives."""
    config = client.get("/config").json()
    (component,) = [c["id"] for c in config["components"] if c["props"].get("elem_id") == "corpus-list"]
    body = {"data": request, "component_id": component, "fn_name": name, "session_hash": "s"}
    response = client.post("/gradio_api/component_server", json=body)
    assert response.status_code == 200, response.text
    given: dict[str, str] = response.json()
    return given


def test_the_corpus_is_listed_and_a_paper_opened(client: TestClient, assistant: FakeAssistant) -> None:
    assert f"Papers 1 to {len(assistant.corpus)} of" in served_function(client, "listed", {})["list"]
    assert "no year" in served_function(client, "listed", {"first_year": "soon"})["list"]
    assert "Papers by year" in served_function(client, "opened", {})["facts"]
    opened = served_function(client, "paper", {"id": assistant.corpus.paper_ids[0]})["paper"]
    assert "Similar papers" in opened
    assert "Remove from the corpus" not in opened


@pytest.mark.parametrize("request_", [None, [], "x", {}, {"id": 5}, {"id": "unknown"}, {"id": "x" * 5_000}])
def test_any_other_request_for_a_paper_says_that_it_is_not_there(client: TestClient, request_: object) -> None:
    assert "not in the corpus any more" in served_function(client, "paper", request_)["paper"]
    assert "Papers 1 to" in served_function(client, "listed", request_)["list"]


def test_where_papers_may_be_added_files_are_taken_up_to_a_limit(assistant: FakeAssistant) -> None:
    with TestClient(app_for(assistant, PageConfig(adds=True)), base_url=HOST) as client:
        taken = client.post("/gradio_api/upload", files={"files": ("a.jsonl", b"{}")})
        assert taken.status_code == 200
        (path,) = taken.json()
        assert client.get(f"/gradio_api/file={path}").status_code == 404
        too_large = client.post("/gradio_api/upload", files={"files": ("a", b"x" * (MAX_UPLOAD_BYTES + 100_000))})
        assert too_large.status_code == 413
        Path(path).unlink()


def test_a_file_that_was_not_uploaded_is_not_read(assistant: FakeAssistant, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("A secret abstract of this machine.")
    with TestClient(app_for(assistant, PageConfig(adds=True)), base_url=HOST) as client:
        config = client.get("/config").json()
        (component,) = [c["id"] for c in config["components"] if c["props"].get("elem_id") == "upload"]
        (event,) = [d["id"] for d in config["dependencies"] if [component, "upload"] in d["targets"]]
        file = {"path": str(secret), "orig_name": "secret.txt", "meta": {"_type": "gradio.FileData"}}
        body = {"data": [[file]], "fn_index": event, "session_hash": "s"}
        assert client.post("/gradio_api/queue/join", json=body).status_code == 200
        told = client.get("/gradio_api/queue/data", params={"session_hash": "s"}).text
    assert '"success": false' in told or '"success":false' in told
    assert secret.exists()


def test_beyond_this_machine_a_password_is_demanded(assistant: FakeAssistant) -> None:
    with pytest.raises(SettingsError, match="no password"):
        serve(assistant, host="0.0.0.0")  # type: ignore[arg-type]  # noqa: S104


def test_with_a_password_nothing_but_the_login_is_open(assistant: FakeAssistant) -> None:
    with TestClient(app_for(assistant, PageConfig(auth=("reader", "secret"))), base_url=HOST) as client:
        assert client.get("/config").status_code == 401
        assert client.post("/gradio_api/call/v2/ask", json={"question": "q"}).status_code == 401
        assert client.post("/gradio_api/component_server", json={}).status_code == 401
        assert client.post("/login", data={"username": "reader", "password": "wrong"}).status_code == 400
        assert client.post("/login", data={"username": "reader", "password": "secret"}).status_code == 200
        assert client.get("/config").status_code == 200
