"""A chat endpoint on loopback that answers by a script, so that a load shows what citewise itself can hold.

Its answer names the question that it was sent by a number; who asked another question has got somebody else's answer.
"""

import json
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODEL = "scripted"
_DELTAS = 12


def scripted_reply(number: int) -> str:
    """What is answered to question `number`."""
    return (
        f"The first source is about what question number {number} asks [1]. "
        "It says what was proposed and how well that worked in the experiments [1]."
    )


class _Endpoint(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def __init__(self, questions: Sequence[str], *, seconds: float) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.seconds = seconds
        self._questions = questions
        self.open, self.unknown, self._lock = 0, 0, threading.Lock()

    def number_of(self, prompt: str) -> int | None:
        """The number of the question that stands last in `prompt`, behind its sources; of two, of the longer one."""
        ends = [
            (prompt.rfind(question) + len(question), len(question), number)
            for number, question in enumerate(self._questions)
            if question in prompt
        ]
        found = max(ends)[2] if ends else None
        with self._lock:
            self.unknown += found is None
        return found

    def count(self, change: int) -> None:
        """Keeps how many answers are being streamed."""
        with self._lock:
            self.open += change


class _Handler(BaseHTTPRequestHandler):
    """GET /v1/models and POST /v1/chat/completions, streamed or whole."""

    server: _Endpoint
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        """Says nothing."""

    def do_GET(self) -> None:
        """The one model."""
        self._send({"object": "list", "data": [{"id": MODEL, "object": "model"}]})

    def do_POST(self) -> None:
        """One answer, in deltas where `stream` asks for them."""
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        number = self.server.number_of(str(request["messages"][-1]["content"]))
        text = "That question is not known here [1]." if number is None else scripted_reply(number)
        if not request.get("stream"):
            message = {"role": "assistant", "content": text}
            self._send({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        self.server.count(1)
        try:
            self._stream(text)
        except OSError:
            pass  # the client left
        finally:
            self.server.count(-1)

    def _stream(self, text: str) -> None:
        size = -(-len(text) // _DELTAS)
        for first in range(0, len(text), size):
            time.sleep(self.server.seconds / _DELTAS)
            self._event({"delta": {"content": text[first : first + size]}, "finish_reason": None})
        self._event({"delta": {}, "finish_reason": "stop"})
        self.wfile.write(b"data: [DONE]\n\n")

    def _event(self, choice: dict[str, Any]) -> None:
        chunk = {"object": "chat.completion.chunk", "model": MODEL, "choices": [{"index": 0, **choice}]}
        self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())

    def _send(self, body: dict[str, Any]) -> None:
        content = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


@contextmanager
def scripted_endpoint(questions: Sequence[str], *, seconds: float) -> Iterator[_Endpoint]:
    """The endpoint while the block runs; it takes `seconds` for each answer. Its address is `address_of` it."""
    server = _Endpoint(questions, seconds=seconds)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


def address_of(server: ThreadingHTTPServer) -> str:
    """The base URL of the endpoint, with its /v1."""
    return f"http://127.0.0.1:{server.server_address[1]}/v1"
