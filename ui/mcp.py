"""The MCP server: the tools `ask` and `search` at /mcp, for assistants and editors that speak the protocol.

Needs the extra `mcp`; the package is imported when the server is made.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from rag.assistant import Assistant
from rag.errors import SettingsError
from ui.api import public_functions, translated
from ui.openai_api import bears

PATH = "/mcp"
_INSTRUCTIONS = "Answers questions about a corpus of paper abstracts. Each sentence cites the paper that supports it."


class McpServer:
    """The route of the protocol, and the lifespan that it needs from the app it is mounted in."""

    def __init__(self, assistant: Assistant, *, password: str | None) -> None:
        try:
            from mcp.server.mcpserver import MCPServer
            from mcp.server.mcpserver.exceptions import ToolError
            from mcp.server.transport_security import TransportSecuritySettings
        except ImportError as error:
            raise SettingsError(
                "The MCP server needs the package mcp, which is not installed.", fix="Run: pip install 'citewise[mcp]'"
            ) from error
        self._server: MCPServer[object] = MCPServer("citewise", instructions=_INSTRUCTIONS, log_level="WARNING")
        for function in public_functions(assistant):
            self._server.add_tool(translated(function, into=ToolError))
        app = self._server.streamable_http_app(
            streamable_http_path=PATH,
            stateless_http=True,
            json_response=True,
            # ui.server checks the host of every request.
            transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        )
        self.route = Route(PATH, endpoint=_ForBearers(app, password))

    @asynccontextmanager
    async def lifespan(self, app: Starlette) -> AsyncIterator[None]:
        """Runs what answers the requests."""
        async with self._server.session_manager.run():
            yield


class _ForBearers:
    """`app` for requests that bear the password, where there is one."""

    def __init__(self, app: ASGIApp, password: str | None) -> None:
        self._app, self._password = app, password

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if bears(Request(scope).headers, self._password):
            await self._app(scope, receive, send)
        else:
            refusal = PlainTextResponse("The key is missing or wrong: it is the page's password.", status_code=401)
            await refusal(scope, receive, send)
