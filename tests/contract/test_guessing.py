"""Who guesses passwords has to wait."""

from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient

from rag.observing.metrics import Metrics
from tests.browser.fake_assistant import FakeAssistant
from tests.contract.test_server import HOST
from ui.app import PageConfig
from ui.login_limit import FAILURES
from ui.server import create_app

AUTH = ("ada", "correct horse")


@pytest.fixture
def client() -> Iterator[TestClient]:
    import asyncio

    async def make() -> object:
        return create_app(FakeAssistant(pause=0.0), PageConfig(auth=AUTH), metrics=Metrics())  # type: ignore[arg-type]

    with TestClient(asyncio.run(make()), base_url=HOST) as client:  # type: ignore[arg-type]
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


def test_it_may_try_again_later(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(FAILURES + 3):
        log_in(client, "wrong")
    monkeypatch.setattr("ui.login_limit.SECONDS", 0.0)
    assert log_in(client, AUTH[1]) == 200
