"""Slows down who guesses passwords: after some failures an address waits before it may try again."""

import time
from collections import OrderedDict, deque

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

FAILURES, SECONDS = 10, 300.0
"""Failed logins of an address within so many seconds before it has to wait: 2,880 guesses a day."""
_ADDRESSES = 10_000
"""Addresses that are remembered: many of them must not fill the memory."""
_FAILED = frozenset({400, 401, 403, 422})
_PATHS = frozenset({"/login", "/login/", "/metrics"})


class LoginLimit:
    """Answers 429 where an address has failed too often; what succeeds is not counted."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._failures: OrderedDict[str, deque[float]] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] not in _PATHS:
            await self._app(scope, receive, send)
            return
        address = (scope.get("client") or ("",))[0]
        wait = self._wait(address)
        if wait > 0:
            refusal = PlainTextResponse("Too many failed logins", 429, {"Retry-After": f"{wait:.0f}"})
            await refusal(scope, receive, send)
            return

        async def counting(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] in _FAILED:
                self._count(address)
            await send(message)

        await self._app(scope, receive, counting)

    def _wait(self, address: str) -> float:
        """Seconds until the address may try again, 0 where it may now."""
        failures = self._failures.get(address, ())
        recent = [moment for moment in failures if moment > time.monotonic() - SECONDS]
        return 0.0 if len(recent) < FAILURES else max(1.0, recent[-FAILURES] + SECONDS - time.monotonic())

    def _count(self, address: str) -> None:
        self._failures.setdefault(address, deque(maxlen=FAILURES)).append(time.monotonic())
        self._failures.move_to_end(address)
        while len(self._failures) > _ADDRESSES:
            self._failures.popitem(last=False)
