"""Lets go of what Gradio keeps of sessions that have ended: some 200 kB each, and it has no setting for that."""

import time
from datetime import datetime
from typing import TYPE_CHECKING

from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

if TYPE_CHECKING:
    import gradio as gr

_SWEEP_SECONDS = 60.0
_KEPT_SECONDS = 3600.0
"""How long a tab that was lost and an answer that nobody fetched are kept: as long as Gradio keeps a tab's state."""
_CALLS = "/gradio_api/call/"
_LEFT = "/gradio_api/left/"
"""What a tab posts its session to when it closes (`static/leaving.js`). One whose connection broke may come back."""


class EndedSessions:
    """Forgets sessions of the `page`, which has to be mounted in the app.

    A program that calls `/gradio_api/call/NAME` without a session gets one of its own, named as its event is: that has
    ended when its answer was read. Each minute those are looked for that ended otherwise: tabs that said so, and what
    has been closed or unread for long.
    """

    def __init__(self, app: ASGIApp, *, page: "gr.Blocks") -> None:
        self._app, self._page, self._swept = app, page, time.monotonic()
        self._left: set[str] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] == "POST" and scope["path"].startswith(_LEFT):
            self._left |= {scope["path"].removeprefix(_LEFT)} & self._page.state_holder.session_data.keys()
            await Response(status_code=204)(scope, receive, send)
        else:
            await self._app(scope, receive, send)
        if scope["type"] != "http":
            return
        if scope["method"] == "GET" and scope["path"].startswith(_CALLS):
            session = scope["path"].rpartition("/")[2]
            if not self._is_at_work(session):
                self._forget(session)
        if time.monotonic() - self._swept > _SWEEP_SECONDS:
            self.sweep()

    def sweep(self) -> None:
        """Forgets all sessions that have ended."""
        self._swept = time.monotonic()
        queue, states = self._page._queue, self._page.state_holder
        self._left &= states.session_data.keys()
        for session in {*queue.pending_event_ids_session, *states.session_data}:
            if self._has_ended(session) and not self._is_at_work(session):
                self._forget(session)
        if queue.server_app:
            queue.server_app.iterators_to_reset &= queue.event_ids_to_events.keys()

    def _has_ended(self, session: str) -> bool:
        states = self._page.state_holder
        state = states.session_data.get(session)
        if state is None:
            return True  # put out, as there were too many
        if session in self._left:
            return True
        unread_call = session in self._page._queue.pending_event_ids_session.get(session, ())
        idle = datetime.now() - states.time_last_used[session]
        return (state.is_closed or unread_call) and idle.total_seconds() > _KEPT_SECONDS

    def _is_at_work(self, session: str) -> bool:
        queue = self._page._queue
        return any(event in queue.event_ids_to_events for event in queue.pending_event_ids_session.get(session, ()))

    def _forget(self, session: str) -> None:
        queue, states = self._page._queue, self._page.state_holder
        queue.pending_event_ids_session.pop(session, None)
        queue.pending_messages_per_session.pop(session, None)
        with states.lock:
            states.session_data.pop(session, None)
            states.time_last_used.pop(session, None)
