"""A real HTTP server on loopback that plays model endpoints: the model's name in a request picks what is played.

    with scripted_server() as server:
        server.script("good", "Memory traces decay [1].")          # a well-formed stream of this text
        server.play("broken", http(500), http(200, b"{"))          # raw responses: one a request, the last one repeats
        ChatModel(Endpoint(base_url=server.base_url, model="good"))
        server.embed("vectors", dimension=8)                       # vectors of words, from /v1/embeddings
        server.hits["good"], server.requests[-1]["messages"], server.left["good"]

A response is a sequence of steps: bytes are written as they are, a number is a pause in seconds, RESET breaks the
connection off. Web frameworks cannot send what these tests need: torn chunks, wrong lengths, resets, invalid bytes.
"""

import asyncio
import hashlib
import json
import re
import socket
import struct
import threading
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

RESET = None
FOREVER = 3600.0
LINGER_0 = struct.pack("ii", 1, 0)
"""Closing sends a reset (RST) in place of a goodbye (FIN), which would look like a clean end."""

Step = bytes | float | None
Response = tuple[Step, ...]

SSE_HEADERS = {"Content-Type": "text/event-stream"}


def http(status: int, body: bytes | str | dict[str, Any] | list[Any] = b"", **headers: str) -> Response:
    """A whole response; `Retry_After="1"` becomes the header Retry-After."""
    content_type = "application/json" if isinstance(body, dict | list) else "text/html"
    data = body if isinstance(body, bytes) else (body if isinstance(body, str) else json.dumps(body)).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return (head(status, {"Content-Type": content_type, "Content-Length": str(len(data))} | named) + data,)


def head(status: int, headers: dict[str, str]) -> bytes:
    lines = [
        f"HTTP/1.1 {status} Scripted",
        "Connection: close",
        *(f"{name}: {value}" for name, value in headers.items()),
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def stream(*steps: Step | dict[str, Any] | str, headers: dict[str, str] | None = None) -> Response:
    """An event stream: a dict becomes an event, a str a delta of text, other steps stay as they are."""
    made = [
        event(text(step)) if isinstance(step, str) else event(step) if isinstance(step, dict) else step
        for step in steps
    ]
    return (head(200, SSE_HEADERS | (headers or {})), *made)


def event(data: dict[str, Any] | str) -> bytes:
    return f"data: {data if isinstance(data, str) else json.dumps(data)}\n\n".encode()


def text(content: str | None, **delta: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {"content": content, **delta}, "finish_reason": None}]}


def finish(reason: str = "stop") -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}


def usage(prompt: int = 120, completion: int = 12) -> dict[str, Any]:
    return {"choices": [], "usage": {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": 132}}


DONE = b"data: [DONE]\n\n"


def good_stream(reply: str, *, delta_size: int = 7, delay: float = 0.0) -> Response:
    """`reply` in deltas of `delta_size` characters, each after `delay` seconds; then its end and its usage."""
    deltas: list[Step | dict[str, Any] | str] = [text("", role="assistant")]
    for start in range(0, len(reply), delta_size):
        deltas += [delay] * (delay > 0) + [reply[start : start + delta_size]]
    return stream(*deltas, finish(), usage(completion=len(reply) // 4), DONE)


def vectors_of(texts: list[str], *, dimension: int) -> dict[str, Any]:
    """An answer of /v1/embeddings, its last text first. Vectors count hashed words: texts that share some are near."""
    entries = []
    for index, content in enumerate(texts):
        vector = [0.01] * dimension
        for word in re.findall(r"\w+", content.lower()):
            vector[hashlib.sha256(word.encode()).digest()[0] % dimension] += 1.0
        entries.append({"object": "embedding", "index": index, "embedding": vector})
    return {"object": "list", "data": entries[::-1], "usage": {"prompt_tokens": 1, "total_tokens": 1}}


@dataclass
class ScriptedServer:
    """`hits` counts requests a model, `left` holds when clients went away before the end of their response, `embedded`
    the texts whose vectors were sent."""

    models: list[str] = field(default_factory=lambda: ["scripted"])
    """What GET /v1/models lists; `models_response` replaces the whole answer."""
    models_response: Response | None = None
    hits: Counter[str] = field(default_factory=Counter)
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    left: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    embedded: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    port: int = 0
    _dimensions: dict[str, int] = field(default_factory=dict)
    _plays: dict[str, tuple[Response | None, ...]] = field(default_factory=dict)
    _open: set[asyncio.StreamWriter] = field(default_factory=set)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def play(self, model: str, *responses: Response) -> None:
        """Answers the requests for `model` with `responses`, one after the other; the last one repeats."""
        self._plays[model] = responses

    def embed(self, model: str, *before: Response | None, dimension: int = 8) -> None:
        """Answers the requests for `model` with `before`, one a request, None being vectors; then with vectors."""
        self.hits[model], self._dimensions[model] = 0, dimension
        self._plays[model] = (*before, None)

    def script(self, model: str, *replies: str, delta_size: int = 7, delay: float = 0.0) -> None:
        """Answers the requests for `model` with well-formed streams of `replies`; the last one repeats."""
        self.play(model, *(good_stream(reply, delta_size=delta_size, delay=delay) for reply in replies))

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            await self._answer(reader, writer)
        with suppress(ConnectionError):
            writer.close()
            await writer.wait_closed()
        self._open.discard(writer)

    async def close_all(self) -> None:
        """Breaks all connections off and waits until nothing handles them any more."""
        for writer in self._open:
            writer.transport.abort()
        while self._open:
            await asyncio.sleep(0.01)

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").strip().split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        method, path, _ = first.split(" ")
        body = json.loads(await reader.readexactly(int(headers.get("content-length", 0))) or b"{}")
        self.paths.append(path)
        self.headers.append(headers)
        if method == "GET":
            listed = {"object": "list", "data": [{"id": name, "object": "model"} for name in self.models]}
            await self._play("/models", self.models_response or http(200, listed), reader, writer)
            return
        model = body["model"]
        self.hits[model] += 1
        self.requests.append(body)
        responses = self._plays.get(model, (http(404, {"error": {"message": f"The model `{model}` does not exist"}}),))
        response = responses[min(self.hits[model], len(responses)) - 1]
        if response is None:
            assert path.endswith("/embeddings"), path
            self.embedded[model] += body["input"]
            response = http(200, vectors_of(body["input"], dimension=self._dimensions[model]))
        await self._play(model, response, reader, writer)

    async def _play(
        self, model: str, response: Iterable[Step], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        try:
            for step in response:
                if step is RESET:
                    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, LINGER_0)
                    writer.transport.abort()
                elif isinstance(step, bytes):
                    writer.write(step)
                    await writer.drain()
                elif await _leaves(reader, step):
                    raise ConnectionResetError("the client left")
        except ConnectionError:
            self.left[model].append(monotonic())


async def _leaves(reader: asyncio.StreamReader, seconds: float) -> bool:
    """Waits `seconds`; whether the client closed its side meanwhile."""
    try:
        return await asyncio.wait_for(reader.read(1), seconds) == b""
    except TimeoutError:
        return False


@contextmanager
def scripted_server() -> Iterator[ScriptedServer]:
    """A server on a free port, in a thread of its own; nothing is left open behind it."""
    server, loop, ready = ScriptedServer(), asyncio.new_event_loop(), threading.Event()
    stop = asyncio.Event()

    async def serve() -> None:
        listener = await asyncio.start_server(server.handle, "127.0.0.1", 0)
        server.port = listener.sockets[0].getsockname()[1]
        ready.set()
        await stop.wait()
        listener.close()
        await server.close_all()
        await listener.wait_closed()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()), name="scripted-server")
    thread.start()
    try:
        assert ready.wait(10)
        yield server
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(10)
        loop.close()
