"""The server forgets the session of a tab that closes, and of none that stays."""

import time
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.browser.fake_assistant import FakeAssistant
from tests.browser.pages import reading
from tests.live_server import live
from ui.ended_sessions import EndedSessions

pytestmark = pytest.mark.browser


@pytest.fixture
def sessions(monkeypatch: pytest.MonkeyPatch) -> list[EndedSessions]:
    """What forgets the sessions of the page that is served, once somebody came."""
    made: list[EndedSessions] = []

    class Seen(EndedSessions):
        def __init__(self, *arguments: object, **options: object) -> None:
            super().__init__(*arguments, **options)  # type: ignore[arg-type]
            made.append(self)

    monkeypatch.setattr("ui.server.EndedSessions", Seen)
    return made


@pytest.fixture
def site(sessions: list[EndedSessions]) -> Iterator[str]:
    with live(FakeAssistant(pause=0.0)) as url:
        yield f"{url}/"


def kept(sessions: EndedSessions, *, until_fewer_than: int) -> set[str]:
    """The sessions that the server keeps, once it has been told of those that ended."""
    deadline = time.monotonic() + 20
    while True:
        sessions.sweep()
        held = set(sessions._page.state_holder.session_data)
        if len(held) < until_fewer_than or time.monotonic() > deadline:
            return held
        time.sleep(0.05)


def test_the_session_of_a_closed_tab_goes_and_the_others_stay(
    browser: Browser, site: str, sessions: list[EndedSessions]
) -> None:
    with reading(browser, site) as stays, reading(browser, site) as closes:
        for reader in (stays, closes):
            reader.ask("memory traces")
        (forgetting,) = sessions
        before = kept(forgetting, until_fewer_than=99)
        closes.page.close()
        left = kept(forgetting, until_fewer_than=len(before))
        assert len(left) == len(before) - 1
        stays.again()  # a tab that is loaded anew begins another session
        stays.ask("memory traces")
        assert not kept(forgetting, until_fewer_than=len(left) + 1) & left
