"""How the page's files are sent: the document packed, which Gradio leaves as it is, and its parts to be kept."""

from starlette.datastructures import MutableHeaders
from starlette.middleware.gzip import GZipMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_KEPT = "/assets/"
"""Files with a hash of their content in their name."""
_FOR_GOOD = "public, max-age=31536000, immutable"


class Delivery:
    """Packs the document, a fifth of its size, and lets browsers keep its scripts and styles without asking again."""

    def __init__(self, app: ASGIApp) -> None:
        self._app, self._packed = app, GZipMiddleware(app)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"] if scope["type"] == "http" else ""

        async def send_to_keep(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] == 200:
                MutableHeaders(scope=message)["cache-control"] = _FOR_GOOD
            await send(message)

        if path == "/":
            await self._packed(scope, receive, send)
        else:
            await self._app(scope, receive, send_to_keep if path.startswith(_KEPT) else send)
