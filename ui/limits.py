"""Limits by address: who guesses passwords waits, and who asks without end waits too."""

import ipaddress
import time
from collections import OrderedDict, deque

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

FAILURES, FAILURE_SECONDS = 10, 300.0
"""Failed logins of an address within so many seconds before it has to wait: 2,880 guesses a day."""
ASKED, ASKED_SECONDS = 60, 60.0
"""Actions on the page (a question, a search, an opened paper) of another machine within so many seconds."""
_ADDRESSES = 10_000
"""Addresses that are remembered: many of them must not fill the memory."""
_FAILED = frozenset({400, 401, 403, 422})
_LOGIN_PATHS = frozenset({"/login", "/login/", "/metrics"})
_KEY_PATHS = ("/v1/", "/mcp")
"""Where the password is the key; only 401 is a wrong one there, the rest are mistakes in what is asked."""
_ASK_PATHS = ("/gradio_api/queue/join", "/gradio_api/call/", "/v1/chat/", "/mcp")


class Window:
    """Counts what addresses did within the last `seconds`, each up to `most`."""

    def __init__(self, most: int, seconds: float) -> None:
        self._most, self._seconds = most, seconds
        self._moments: OrderedDict[str, deque[float]] = OrderedDict()

    def wait(self, address: str) -> float:
        """Seconds until the address has done less than `most`, 0 where it has now."""
        moments, now = self._moments.get(address, ()), time.monotonic()
        recent = [moment for moment in moments if moment > now - self._seconds]
        return 0.0 if len(recent) < self._most else max(1.0, recent[-self._most] + self._seconds - now)

    def count(self, address: str) -> None:
        """Takes one deed of the address."""
        self._moments.setdefault(address, deque(maxlen=self._most)).append(time.monotonic())
        self._moments.move_to_end(address)
        while len(self._moments) > _ADDRESSES:
            self._moments.popitem(last=False)


class LoginLimit:
    """Answers 429 where an address has failed to log in too often; what succeeds is not counted."""

    def __init__(self, app: ASGIApp) -> None:
        self._app, self._window = app, Window(FAILURES, FAILURE_SECONDS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"] if scope["type"] == "http" else ""
        failed = _FAILED if path in _LOGIN_PATHS else {401} if path.startswith(_KEY_PATHS) else frozenset[int]()
        if not failed:
            await self._app(scope, receive, send)
            return
        address = _address(scope)
        if wait := self._window.wait(address):
            await _refusal("Too many failed logins", wait)(scope, receive, send)
            return

        async def counting(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] in failed:
                self._window.count(address)
            await send(message)

        await self._app(scope, receive, counting)


class AskLimit:
    """Answers 429 where another machine asks too often. This one may ask as it likes: it could run citewise itself."""

    def __init__(self, app: ASGIApp) -> None:
        self._app, self._window = app, Window(ASKED, ASKED_SECONDS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        asks = scope["type"] == "http" and scope["method"] == "POST" and scope["path"].startswith(_ASK_PATHS)
        address = _address(scope)
        if not asks or _is_this_machine(address):
            await self._app(scope, receive, send)
        elif wait := self._window.wait(address):
            await _refusal("Too many questions", wait)(scope, receive, send)
        else:
            self._window.count(address)
            await self._app(scope, receive, send)


def _address(scope: Scope) -> str:
    return str((scope.get("client") or ("",))[0])


def _is_this_machine(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


def _refusal(reason: str, wait: float) -> PlainTextResponse:
    return PlainTextResponse(reason, 429, {"Retry-After": f"{wait:.0f}"})
