"""Lets go of what Gradio keeps of sessions that have ended: some 200 kB each, and it has no setting for that."""

import time
from datetime import datetime
from typing import TYPE_CHECKING

from starlette.types import ASGIApp, Receive, Scope, Send

if TYPE_CHECKING:
    import gradio as gr

_SWEEP_SECONDS = 60.0
_KEPT_SECONDS = 3600.0
"""How long a closed tab and an answer that nobody fetched are kept, as long as Gradio keeps a closed tab's state."""
_CALLS = "/gradio_api/call/"


class EndedSessions:
    """Forgets sessions of the `page`, which has to be mounted in the app.

    A program that calls `/gradio_api/call/NAME` without a session gets one of its own, named as its event is: that has
    ended when its answer was read. Each minute those are looked for that ended otherwise.
    """

    def __init__(self, app: ASGIApp, *, page: "gr.Blocks") -> None:
        self._app, self._page, self._swept = app, page, time.monotonic()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
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
