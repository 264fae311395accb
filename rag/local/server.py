"""The llama.cpp server that citewise starts for `--writer local`, and the chat model behind it."""

import atexit
import contextlib
import importlib.util
import json
import os
import secrets
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from math import inf

from rag.errors import EndpointError, SettingsError
from rag.llm import ChatModel, Completion, Endpoint
from rag.local import engine
from rag.local.files import HOW_TO_INSTALL, ModelFile
from rag.local.machine import GB, memory_needed, usable_cores
from rag.prompting import Message

TICK = 0.2
_GRACE_SECONDS = 2.0
_LOG_CHARS = 300
_PLACEHOLDER = "http://127.0.0.1/v1"
"""The address of the server until it has told its port."""
_BROKEN = {"unreachable", "connection_lost", "interrupted", "protocol"}


class LlamaServer:
    """llama.cpp with one model on a free port of loopback, in a process of its own that ends with this one.

    Starts at the first call of `loading`, and again where it has ended. Safe to use from several threads.
    """

    def __init__(self, model: ModelFile, *, context_tokens: int) -> None:
        self.model, self._context_tokens = model, context_tokens
        self.key = secrets.token_urlsafe(24)
        self._lock = threading.Lock()
        self._run: _Run | None = None

    def loading(self, *, until: float = inf) -> Iterator[None]:
        """Yields about every 0.2 s until the server answers. Raises EndpointError where the model does not load, or
        not by `until` (in `time.monotonic`)."""
        run = self._running()
        while not run.told.wait(TICK):
            if time.monotonic() > until:
                raise EndpointError(
                    f"The model {self.model.name} did not load in time.",
                    fix="Raise CITEWISE_DEADLINE, or use a smaller model.",
                    kind="loading",
                    retryable=True,
                )
            yield
        if run.url is None:
            raise self._not_loaded(run)

    @property
    def url(self) -> str:
        """The address of the API, with its /v1, once `loading` has ended."""
        if self._run is None or self._run.url is None:
            raise ValueError("the server has not been started")
        return f"{self._run.url}/v1"

    def endpoint(self, template: Endpoint) -> Endpoint:
        """`template` at this server, which must have been loaded."""
        return replace(template, base_url=self.url, api_key=self.key)

    def has_ended(self) -> bool:
        """Whether the process is gone, or goes within a moment."""
        if self._run is None:
            return True
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._run.process.wait(_GRACE_SECONDS)
        return self._run.process.poll() is not None

    def close(self) -> None:
        """Ends the process, if there is one."""
        with self._lock:
            if self._run is not None:
                self._run.close()
            self._run = None

    def _running(self) -> "_Run":
        with self._lock:
            if self._run is not None and self._run.process.poll() is not None:
                self._run.close()
                self._run = None
            if self._run is None:
                wishes = {
                    "file": str(self.model.path),
                    "name": self.model.name,
                    "context_tokens": self._context_tokens,
                    "threads": usable_cores(),
                    "key": self.key,
                }
                self._run = _Run(json.dumps(wishes))
            return self._run

    def _not_loaded(self, run: "_Run") -> EndpointError:
        said = f": {log}" if (log := run.log()) else ""
        needed = memory_needed(self.model.size) / GB
        return EndpointError(
            f"llama.cpp cannot load {self.model.path.name}{said}.",
            fix=f"Check that the file is whole and about {needed:.1f} GB of memory are free, or use another model.",
            kind="not_loaded",
        )


class _Run:
    """One process of the engine. `told` is set once it has said how the start went; `url` is None where it failed."""

    def __init__(self, wishes: str) -> None:
        self.told, self.url = threading.Event(), None
        self._log = tempfile.TemporaryFile()  # noqa: SIM115
        self.process = subprocess.Popen(  # noqa: S603
            [sys.executable, "-P", engine.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            env={**os.environ, "OMP_WAIT_POLICY": "passive"},  # 66 in place of 3.5 tokens a second on busy cores
            start_new_session=True,  # Ctrl-C is for citewise, which then closes it
        )
        self._reader = threading.Thread(target=self._read, args=(wishes,), name="llama-server", daemon=True)
        self._reader.start()

    def _read(self, wishes: str) -> None:
        stdin, stdout = self.process.stdin, self.process.stdout
        with contextlib.suppress(OSError, ValueError):  # it ended early
            if stdin is not None and stdout is not None:
                stdin.write(f"{wishes}\n")
                stdin.flush()
                self.url = json.loads(stdout.readline()).get("url")
        self.told.set()

    def log(self) -> str:
        """The last line that llama.cpp wrote, without the time in front."""
        self._log.seek(0)
        lines = self._log.read().decode("utf-8", "replace").strip().splitlines()
        return lines[-1][-_LOG_CHARS:].strip().rstrip(".") if lines else ""

    def close(self) -> None:
        with contextlib.suppress(OSError):
            if self.process.stdin is not None:
                self.process.stdin.close()
        try:
            self.process.wait(_GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._reader.join()
        if self.process.stdout is not None:
            self.process.stdout.close()
        self._log.close()


class LocalModel:
    """The chat model of a `LlamaServer`, called through its OpenAI-compatible endpoint."""

    def __init__(self, endpoint: Endpoint, *, server: LlamaServer) -> None:
        self._endpoint, self._server = endpoint, server
        self.model: str | None = server.model.name

    def stream(self, messages: Sequence[Message], *, until: float = inf) -> Iterator[str | Completion]:
        """As `ChatModel.stream`; "" while the model is loaded. Raises EndpointError, also where llama.cpp crashes."""
        for _ in self._server.loading(until=until):
            yield ""
        try:
            yield from ChatModel(self._server.endpoint(self._endpoint)).stream(messages, until=until)
        except EndpointError as error:
            if error.kind not in _BROKEN or not self._server.has_ended():
                raise
            raise EndpointError(
                f"llama.cpp ended while {self.model} answered.",
                fix="The machine may be short of memory: ask again, close other programs, or use a smaller model.",
                kind="crashed",
                retryable=True,
            ) from error


def local_endpoint(
    model: ModelFile, *, max_output_tokens: int, deadline: float, first_token_timeout: float
) -> Endpoint:
    """What is sent to a local model, apart from its address, which its server tells."""
    return Endpoint(
        base_url=_PLACEHOLDER,
        model=model.name,
        max_output_tokens=max_output_tokens,
        deadline=deadline,
        first_token_timeout=first_token_timeout,
    )


@lru_cache(maxsize=8)
def shared_server(model: ModelFile, *, context_tokens: int) -> LlamaServer:
    """The one server of this process for a model and a window; it is closed at exit."""
    if importlib.util.find_spec("xllamacpp") is None:
        raise SettingsError("A local model needs llama.cpp, which is not installed.", fix=HOW_TO_INSTALL)
    server = LlamaServer(model, context_tokens=context_tokens)
    atexit.register(server.close)
    return server
