"""Who guesses passwords, or asks without end, has to wait."""

from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient
from starlette.types import ASGIApp, Receive, Scope, Send

from rag.observing.metrics import Metrics
from tests.browser.fake_assistant import FakeAssistant
from tests.contract.test_server import HOST
from ui.app import PageConfig
from ui.limits import ASKED, FAILURES, Window
from ui.server import create_app

AUTH = ("ada", "correct horse")


class From:
    """An app whose requests come from the address that a header names."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        address = dict(scope.get("headers", [])).get(b"x-test-address")
        await self._app({**scope, "client": (address.decode(), 1)} if address else scope, receive, send)


@pytest.fixture
def client() -> Iterator[TestClient]:
    import asyncio

    async def make() -> object:
        return create_app(FakeAssistant(pause=0.0), PageConfig(auth=AUTH), metrics=Metrics())  # type: ignore[arg-type]

    with TestClient(From(asyncio.run(make())), base_url=HOST) as client:  # type: ignore[arg-type]
        yield client


def log_in(client: TestClient, password: str) -> int:
    return client.post("/login", data={"username": "ada", "password": password}).status_code


def test_after_ten_wrong_passwords_an_address_waits(client: TestClient) -> None:
    assert log_in(client, AUTH[1]) == 200
    for _ in range(FAILURES):
        assert log_in(client, "wrong") == 400
    refused = client.post("/login", data={"username": "ada", "password": AUTH[1]})
    assert refused.status_code == 429
    assert 1 <= int(refused.headers["retry-after"]) <= 300
    assert client.get("/metrics", auth=AUTH).status_code == 429
    assert client.get("/healthz").status_code == 200


def test_after_ten_wrong_keys_an_address_waits(client: TestClient) -> None:
    def models(key: str) -> int:
        return client.get("/v1/models", headers={"Authorization": f"Bearer {key}"}).status_code

    wrong_question = client.post("/v1/chat/completions", json={}, headers={"Authorization": f"Bearer {AUTH[1]}"})
    assert wrong_question.status_code == 400
    assert {models("wrong") for _ in range(FAILURES)} == {401}
    assert models(AUTH[1]) == 429
    assert log_in(client, AUTH[1]) == 429


@pytest.mark.parametrize("path", ["/gradio_api/queue/join", "/v1/chat/completions", "/mcp"])
def test_who_asks_without_end_waits_but_not_on_this_machine(client: TestClient, path: str) -> None:
    """Requests that name no event of the page: what counts is that they came."""

    def join(address: str) -> int:
        headers = {"X-Test-Address": address, "Authorization": f"Bearer {AUTH[1]}"}
        return client.post(path, json={}, headers=headers).status_code

    assert {join("192.0.2.7") for _ in range(ASKED)} != {429}
    assert join("192.0.2.7") == 429
    assert join("192.0.2.8") != 429
    assert 429 not in {join("127.0.0.1") for _ in range(ASKED + 3)}


def test_a_window_forgets(monkeypatch: pytest.MonkeyPatch) -> None:
    window = Window(2, 10.0)
    now = 100.0
    monkeypatch.setattr("ui.limits.time.monotonic", lambda: now)
    window.count("a")
    now = 105.0
    assert window.wait("a") == 0
    window.count("a")
    assert window.wait("a") == 5
    assert window.wait("b") == 0
    now = 110.5
    assert window.wait("a") == 0


def test_it_remembers_a_bounded_number_of_addresses() -> None:
    window = Window(1, 1e9)
    for number in range(10_001):
        window.count(str(number))
    assert window.wait("0") == 0
    assert window.wait("10000") > 0
