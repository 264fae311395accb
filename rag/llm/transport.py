"""The openai client as citewise uses it: no retries, no redirects, no settings of its own, no endless response.

Importing this module takes a second: it is imported where a call is made, and nowhere else.
"""

import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from functools import lru_cache
from typing import Any

import httpx2
import openai

from rag.llm.endpoint import NO_KEY, OPENAI_URL, Endpoint

MAX_RESPONSE_BYTES = 32_000_000
"""More than any answer: a response beyond this is not one."""


class EndlessResponse(ValueError):
    """A response went past MAX_RESPONSE_BYTES."""


@asynccontextmanager
async def open_client(endpoint: Endpoint) -> AsyncIterator[openai.AsyncOpenAI]:
    """A client for one call. Time limits of answers are the caller's; these only bound connecting and sending."""
    trust_env = endpoint.trust_env and not endpoint.is_loopback
    credentials, connections = endpoint.credentials, AsyncExitStack()

    async def closes_connections(request: httpx2.Request) -> None:
        # Without this, a call that is closed while TLS is negotiated leaves its socket open (httpcore2 2.16).
        async def trace(name: str, info: Mapping[str, Any]) -> None:
            if name == "connection.connect_tcp.complete":
                connections.push_async_callback(info["return_value"].aclose)

        request.extensions["trace"] = trace

    http_client = httpx2.AsyncClient(
        follow_redirects=False,
        trust_env=trust_env,
        timeout=httpx2.Timeout(connect=5.0, read=None, write=10.0, pool=5.0),
        auth=httpx2.BasicAuth(*credentials) if credentials else None,
        event_hooks={"request": [closes_connections], "response": [_bound]},
        verify=_ssl_context(trust_env),
    )
    async with http_client, connections:
        client = openai.AsyncOpenAI(
            base_url=endpoint.url if endpoint.base_url else OPENAI_URL,
            api_key=endpoint.api_key or NO_KEY,
            max_retries=0,
            timeout=http_client.timeout,
            default_query=endpoint.query,
            default_headers=_headers(endpoint),
            http_client=http_client,
        )
        if not endpoint.is_openai:  # the client takes these from OPENAI_ORG_ID and OPENAI_PROJECT_ID: none of theirs
            client.organization = client.project = None
        yield client


def _headers(endpoint: Endpoint) -> dict[str, str]:
    # A compressed stream may be held back by the server until a block is full.
    headers = {"Accept-Encoding": "identity"}
    if endpoint.is_azure and endpoint.api_key:
        headers["api-key"] = endpoint.api_key  # Azure's older addresses read the key from here
    return headers


@lru_cache(maxsize=2)
def _ssl_context(trust_env: bool) -> ssl.SSLContext:
    """The system's certificates, read once: that takes longer than all else of a call."""
    return httpx2.create_ssl_context(trust_env=trust_env)


class _Bounded(httpx2.AsyncByteStream):
    """A response's bytes, MAX_RESPONSE_BYTES at most."""

    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for part in self._stream:
            size += len(part)
            if size > MAX_RESPONSE_BYTES:
                raise EndlessResponse(f"more than {MAX_RESPONSE_BYTES} bytes")
            yield part

    async def aclose(self) -> None:
        await self._stream.aclose()


async def _bound(response: httpx2.Response) -> None:
    if isinstance(response.stream, httpx2.AsyncByteStream):
        response.stream = _Bounded(response.stream)
