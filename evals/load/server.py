"""A server in a process of its own, such as `citewise chat` starts it, with an eye on its memory."""

import http.client
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

from rag.errors import CitewiseError

_START_SECONDS = 120.0


class LoadError(CitewiseError):
    """The server that was to be measured did not start or end."""


class PageServer:
    """A Python program that serves a page on a free port of loopback, which it is told by --port.

    It is there once `ready` answers. Use as a context manager; it is killed at the end if need be.
    """

    def __init__(
        self, program: Sequence[str], *, variables: Mapping[str, str] = MappingProxyType({}), ready: str = "/readyz"
    ) -> None:
        self.port, self._ready = _free_port(), ready
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("CITEWISE_", "OPENAI_"))}
        self.process = subprocess.Popen(  # noqa: S603  our own program
            [sys.executable, *program, "--port", str(self.port)],
            env={**kept, **variables},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    @classmethod
    def chat(cls, *, home: Path, corpus: str, variables: Mapping[str, str]) -> "PageServer":
        """`citewise chat` for a corpus of `home`."""
        program = "import sys; from rag.cli import main; sys.exit(main())"
        return cls(["-c", program, "chat", "--home", str(home), "--corpus", corpus], variables=variables)

    def __enter__(self) -> "PageServer":
        until = time.monotonic() + _START_SECONDS
        while not self._is_ready():
            if self.process.poll() is not None or time.monotonic() > until:
                self.process.kill()
                raise LoadError("The page did not start.", fix="See what `citewise chat` says.")
            time.sleep(0.2)
        return self

    def __exit__(self, *_: Any) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def resident_mib(self) -> float:
        """Memory that the server's process has in use now."""
        for line in Path(f"/proc/{self.process.pid}/status").read_text("ascii").splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
        return 0.0

    def end(self, *, within: float) -> tuple[float, int | None]:
        """Asks the server to end (SIGTERM); the seconds that it took, and its exit code, None where it goes on."""
        begin = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(within)
        except subprocess.TimeoutExpired:
            return time.monotonic() - begin, None
        return time.monotonic() - begin, code

    def _is_ready(self) -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=2.0)
        try:
            connection.request("GET", self._ready)
            with connection.getresponse() as response:
                return response.status == 200
        except OSError:
            return False
        finally:
            connection.close()


@contextmanager
def copied_home(home: Path, corpus: str) -> Iterator[Path]:
    """A home of its own with that corpus, and without cached embeddings; deleted at the end."""
    with tempfile.TemporaryDirectory(prefix="citewise-") as folder:
        shutil.copytree(home / "corpora" / corpus, Path(folder) / "corpora" / corpus)
        yield Path(folder)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
