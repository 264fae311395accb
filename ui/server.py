"""The web server: the page mounted in a FastAPI app with health routes, security headers, host check and body limit."""

import ipaddress
import logging
import threading
import webbrowser
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import uvicorn
from fastapi import FastAPI
from starlette.datastructures import MutableHeaders
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rag.assistant import Assistant
from rag.conversation_file import ConversationError
from rag.conversations import ConversationStore
from rag.errors import SettingsError
from ui.app import LOCAL_OWNER, PageConfig, build
from ui.corpus_changes import MAX_UPLOAD_BYTES
from ui.delivery import Delivery
from ui.ended_sessions import EndedSessions
from ui.limits import AskLimit, LoginLimit
from ui.mcp import McpServer
from ui.metrics import metrics_route
from ui.openai_api import openai_router
from ui.openai_format import TOO_LARGE
from ui.settings_drawer import Choices

if TYPE_CHECKING:
    from rag.observing.metrics import Metrics
    from rag.settings import Settings

logger = logging.getLogger(__name__)

MAX_BODY_BYTES = 1_000_000
"""The page sends its whole conversation with each question: some 300 turns."""

_CSP = "; ".join(
    [
        "default-src 'self'",
        "script-src 'self' 'unsafe-inline' 'unsafe-eval'",  # gr.HTML compiles its templates with eval
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "media-src 'self' data: blob:",
        "font-src 'self' data:",
        "connect-src 'self'",
        "worker-src 'self' blob:",
        "frame-src 'none'",
        "object-src 'none'",
        "base-uri 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    ]
)
_HEADERS = {
    "content-security-policy": _CSP,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}
_OPEN_PAGES = frozenset(
    "assets config favicon.ico gradio_api healthz login logout manifest.json mcp metrics readyz robots.txt static "
    "svelte theme.css v1".split()
)
_OPEN_API = frozenset(
    "app_id call cancel component_server heartbeat info left login_check queue reset startup-events theme.css token "
    "user".split()
)
"""First path segments that the page and its public endpoints use. All else of Gradio (proxying, files by path or
address, monitoring, profiling, code editing) is closed; uploads are where nobody may add papers."""
_UPLOAD_API = frozenset(["upload", "upload_progress"])
_UPLOAD_FRAME_BYTES = 64_000
"""What an upload's form holds beside its files."""
_LOOPBACK_HOSTS = ["127.0.0.1", "localhost", "[::1]", "::1"]


class GuardMiddleware:
    """Adds the security headers, opens only the routes that are used and refuses bodies that are too large.

    `uploads` opens the route of files, whose bodies may be larger.
    """

    def __init__(self, app: ASGIApp, *, uploads: bool = False) -> None:
        self._app, self._uploads = app, uploads

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        if not self._is_open(scope["path"]):
            await PlainTextResponse("Not found", status_code=404)(scope, receive, send_with_headers)
            return
        if scope["method"] != "GET" and (b"sec-fetch-site", b"cross-site") in scope["headers"]:
            # A page of another site would ask, delete or log in with the rights of who reads it.
            await PlainTextResponse("Not from another site", status_code=403)(scope, receive, send_with_headers)
            return
        longest = MAX_UPLOAD_BYTES + _UPLOAD_FRAME_BYTES if _api_name(scope["path"]) == "upload" else MAX_BODY_BYTES
        body = await _body_of(receive, longest) if scope["method"] in {"POST", "PUT", "PATCH"} else b""
        if body is None:
            refusal = JSONResponse(TOO_LARGE.body(), status_code=TOO_LARGE.status)
            await refusal(scope, receive, send_with_headers)
            return
        await self._app(scope, _replayed(body, receive) if body else receive, send_with_headers)

    def _is_open(self, path: str) -> bool:
        api, first = _api_name(path), path.lstrip("/").partition("/")[0]
        if api is not None:
            return api in _OPEN_API or (self._uploads and api in _UPLOAD_API)
        return not first or first in _OPEN_PAGES


def _api_name(path: str) -> str | None:
    """The name of the route of Gradio's API that `path` leads to, None where it leads elsewhere."""
    first, _, rest = path.lstrip("/").partition("/")
    return rest.split("/")[0] if first == "gradio_api" else None


async def _body_of(receive: Receive, longest: int) -> bytes | None:
    """The whole body of a request, or None where it has more than `longest` bytes."""
    body = bytearray()
    while True:
        message = await receive()
        body += message.get("body", b"")
        if len(body) > longest:
            return None
        if not message.get("more_body", False):
            return bytes(body)


def _replayed(body: bytes, receive: Receive) -> Receive:
    """A `receive` that gives the body that was read already, then what comes after it."""
    given = False

    async def replay() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay


def create_app(
    assistant: Assistant,
    config: PageConfig,
    *,
    allowed_hosts: Sequence[str] = _LOOPBACK_HOSTS,
    metrics: "Metrics | None" = None,
) -> FastAPI:
    """The whole web app. `allowed_hosts` are the values of Host that are answered ("*" for any): others may be a DNS
    rebinding attack on a server that listens on loopback. `metrics` are shown at /metrics, under the page's login."""
    import gradio as gr

    password = config.auth[1] if config.auth else None
    page, arguments = build(assistant, config)
    tools = McpServer(assistant, password=password) if config.mcp else None
    app = FastAPI(
        title="citewise", docs_url=None, redoc_url=None, openapi_url=None, lifespan=tools.lifespan if tools else None
    )

    @app.get("/healthz")
    def healthz() -> dict[str, str]:
        return {"status": "ok"}

    @app.get("/readyz")
    def readyz() -> dict[str, object]:
        corpus = assistant.corpus
        return {"status": "ok", "corpus": corpus.name, "papers": len(corpus)}

    if metrics is not None:
        app.add_route("/metrics", metrics_route(metrics, auth=config.auth))
    app.include_router(openai_router(assistant, password=password))
    if tools:
        app.router.routes.append(tools.route)
    gr.mount_gradio_app(app, page, path="/", **arguments)
    app.add_middleware(EndedSessions, page=page)
    app.add_middleware(Delivery)
    app.add_middleware(LoginLimit)
    app.add_middleware(AskLimit)
    app.add_middleware(GuardMiddleware, uploads=config.adds)
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=list(allowed_hosts), www_redirect=False)
    return app


def serve(
    assistant: Assistant,
    *,
    host: str = "127.0.0.1",
    port: int = 7860,
    root_path: str | None = None,
    auth: tuple[str, str] | None = None,
    adds: bool | None = None,
    mcp: bool = False,
    open_browser: bool = False,
    metrics: "Metrics | None" = None,
    home: Path | None = None,
    choices: Choices | None = None,
    evals: "Settings | None" = None,
) -> None:
    """Serves the page until interrupted. With a `home`, it keeps the conversations of known users there.

    With `evals`, known users see the runs of that home and start new ones by these settings.

    `root_path` is the path or the whole address under which a proxy shows the page. `adds` lets readers add papers
    and remove them, without it on loopback alone; `mcp` adds the MCP server. Raises
    SettingsError where `host` is reachable from other machines and there is no `auth` (a user name and a password).
    """
    loopback = _is_loopback(host)
    if not loopback and auth is None:
        raise SettingsError(
            f"Everyone who reaches {host} could ask and spend the model's budget: there is no password.",
            fix="Give one with --auth NAME:PASSWORD, or stay on --host 127.0.0.1.",
        )
    public = urlsplit(root_path or "").hostname
    hosts = [*_LOOPBACK_HOSTS, *([public] if public else [])] if loopback else ["*"]
    # Behind a proxy and without names, nobody knows who asks: then each browser keeps its own conversations.
    nameless = public is not None and auth is None
    config = PageConfig(
        root_path=root_path,
        auth=auth,
        adds=loopback if adds is None else adds,
        mcp=mcp,
        store=_store(home) if home and not nameless else None,
        owner=auth[0] if auth else LOCAL_OWNER,
        choices=choices or Choices(),
        evals=None if nameless else evals,
    )
    app = create_app(assistant, config, allowed_hosts=hosts, metrics=metrics)
    if open_browser:
        threading.Timer(1.0, webbrowser.open, [f"http://{'localhost' if loopback else host}:{port}/"]).start()
    uvicorn.run(app, host=host, port=port, log_level="warning", timeout_graceful_shutdown=3)


def _store(home: Path) -> ConversationStore | None:
    """Where conversations are kept; None, with a warning, where nothing can be written."""
    try:
        return ConversationStore.open(home)
    except ConversationError as error:
        logger.warning("%s Each browser keeps its own conversations.", error)
        return None


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
