"""What a page's server keeps: nothing of answers that were read, and of tabs and unread answers only for an hour."""

import asyncio
import gc
import sys
import time
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from functools import reduce
from itertools import pairwise
from operator import and_
from typing import TYPE_CHECKING, NamedTuple

import gradio as gr
import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from tests.browser.fake_assistant import FakeAssistant
from ui.app import PageConfig, build
from ui.ended_sessions import EndedSessions
from ui.server import create_app

if TYPE_CHECKING:
    from rag.assistant import Assistant

HOST = "http://127.0.0.1:7860"
ANSWERS, ROUNDS = 40, 5
BLOCKS = 5
"""Blocks of memory an answer that are noise: one that is kept takes hundreds."""
QUESTIONS = ("What are memory traces?", "What is SITAlign?", "What is the boiling point of ethanol?")


class Site(NamedTuple):
    """A page as it is served, and what forgets its sessions."""

    page: gr.Blocks
    sessions: EndedSessions
    client: TestClient

    def start(self, question: str) -> str:
        """Asks by the public endpoint; the id of what will be the answer."""
        event: str = self.client.post("/gradio_api/call/v2/ask", json={"question": question}).json()["event_id"]
        return event

    def read(self, event: str) -> str:
        return self.client.get(f"/gradio_api/call/ask/{event}").text

    def leave(self, question: str) -> str:
        """Asks, and waits for the answer without reading it; its session."""
        event = self.start(question)
        until = time.monotonic() + 30
        while event in self.page._queue.event_ids_to_events:
            assert time.monotonic() < until
            time.sleep(0.02)
        return event

    def kept(self) -> set[str]:
        queue, states = self.page._queue, self.page.state_holder
        return {*queue.pending_event_ids_session, *queue.pending_messages_per_session, *states.session_data}

    def age(self, session: str, **time: float) -> None:
        """Lets it be so long ago that the session was last used."""
        self.page.state_holder.time_last_used[session] -= timedelta(**time)


@pytest.fixture
def site() -> Iterator[Site]:
    async def make() -> tuple[gr.Blocks, FastAPI]:  # outside an event loop Gradio opens loops that it never closes
        app = FastAPI()
        page, arguments = build(FakeAssistant(pause=0.0), PageConfig())  # type: ignore[arg-type]
        gr.mount_gradio_app(app, page, path="/", **arguments)
        return page, app

    page, app = asyncio.run(make())
    sessions = EndedSessions(app, page=page)
    with TestClient(sessions, base_url=HOST) as client:
        yield Site(page, sessions, client)


@pytest.mark.slow
def test_answers_leave_no_object_behind(assistant: "Assistant") -> None:
    async def make() -> FastAPI:
        return create_app(assistant, PageConfig())

    with TestClient(asyncio.run(make()), base_url=HOST, client=("127.0.0.1", 50_000)) as client:

        def ask(times: int) -> tuple[Counter[type], int]:
            for number in range(times):
                body = {"question": QUESTIONS[number % len(QUESTIONS)]}
                event = client.post("/gradio_api/call/v2/ask", json=body).json()["event_id"]
                assert "event: complete" in client.get(f"/gradio_api/call/ask/{event}").text
            gc.collect()
            return Counter(map(type, gc.get_objects())), sys.getallocatedblocks()

        ask(ANSWERS)  # caches fill
        kept = [ask(ANSWERS) for _ in range(ROUNDS)]
        grown = [later - before for (before, _), (later, _) in pairwise(kept)]
        always = reduce(and_, grown)  # what grows once is a cache, or another thread's
        assert {kind: n for kind, n in always.items() if n >= ANSWERS} == {}
        assert min(later - before for (_, before), (_, later) in pairwise(kept)) < BLOCKS * ANSWERS


def test_an_answer_that_was_read_is_forgotten_with_its_session(site: Site) -> None:
    event = site.start("q")
    assert "event: complete" in site.read(event)
    assert site.kept() == set()


def test_an_answer_that_nobody_reads_is_forgotten_after_an_hour(site: Site) -> None:
    unread = site.leave("q")
    site.age(unread, minutes=59)
    site.sessions.sweep()
    assert site.kept() == {unread}
    site.age(unread, minutes=2)
    site.sessions.sweep()
    assert site.kept() == set()


def test_a_tab_is_kept_while_it_is_open_and_an_hour_longer(site: Site) -> None:
    state = site.page.state_holder["tab"]
    site.age("tab", hours=24)
    site.sessions.sweep()
    assert site.kept() == {"tab"}
    state.is_closed = True
    site.sessions.sweep()
    assert site.kept() == set()


def test_a_tab_that_says_that_it_closes_goes_with_the_next_sweep(site: Site) -> None:
    for session in ("tab", "other"):
        assert not site.page.state_holder[session].is_closed
    assert site.client.post("/gradio_api/left/tab").status_code == 204
    assert site.client.post("/gradio_api/left/nobody").status_code == 204
    site.sessions.sweep()
    assert site.kept() == {"other"}
    assert site.page.state_holder["tab"] is not None  # a request of it that comes late makes it anew
    site.sessions.sweep()
    assert site.kept() == {"other"}


def test_a_session_that_gradio_has_put_out_goes_whole(site: Site) -> None:
    site.page.state_holder.capacity = 1
    site.leave("q")
    last = site.leave("q")
    site.sessions.sweep()
    assert site.kept() == {last}


def test_a_question_that_waits_is_not_forgotten(site: Site) -> None:
    slow = site.start("slowly")
    site.sessions.sweep()
    assert "event: complete" in site.read(slow)
