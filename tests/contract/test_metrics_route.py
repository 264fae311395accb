"""/metrics is there when it is asked for, under the login of the page."""

from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient

from rag.observing.metrics import Metrics
from tests.browser.fake_assistant import FakeAssistant
from tests.contract.test_server import HOST, app_for
from ui.app import PageConfig
from ui.server import create_app

AUTH = ("ada", "correct horse")


@pytest.fixture
def client() -> Iterator[TestClient]:
    import asyncio

    async def make() -> object:
        return create_app(FakeAssistant(pause=0.0), PageConfig(auth=AUTH), metrics=Metrics())  # type: ignore[arg-type]

    with TestClient(asyncio.run(make()), base_url=HOST) as client:  # type: ignore[arg-type]
        yield client


def test_metrics_are_for_those_who_know_the_password(client: TestClient) -> None:
    assert client.get("/metrics").status_code == 401
    assert client.get("/metrics", auth=("ada", "x")).status_code == 401
    assert client.get("/metrics", headers={"Authorization": "Basic ???"}).status_code == 401
    shown = client.get("/metrics", auth=AUTH)
    assert shown.status_code == 200
    assert "citewise_questions_total" in shown.text
    assert shown.headers["content-type"].startswith("text/plain")


def test_there_are_no_metrics_unless_they_are_asked_for() -> None:
    with TestClient(app_for(FakeAssistant(pause=0.0), PageConfig()), base_url=HOST) as client:
        assert "citewise_questions" not in client.get("/metrics").text
