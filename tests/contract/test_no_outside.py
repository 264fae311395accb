"""No socket leaves loopback: an audit hook in the process sees every connection and every name that is looked up."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

HOOK = """
import json, sys

def hook(event, arguments):
    if event == "socket.connect":
        print("CONNECT", json.dumps(str(arguments[1])), file=sys.stderr, flush=True)
    elif event in ("socket.getaddrinfo", "socket.gethostbyname"):
        print("CONNECT", json.dumps(str(arguments[0])), file=sys.stderr, flush=True)

sys.addaudithook(hook)
from rag.cli import main
sys.argv = ["citewise", *json.loads(sys.argv[1])]
main()
"""


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-c", HOOK, json.dumps(arguments)]


def environment(home: Path) -> dict[str, str]:
    # No proxy may hide an outside address behind a local one.
    kept = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}
    return {**kept, "CITEWISE_HOME": str(home), "HOME": str(home)}


def outside(stderr: str) -> list[str]:
    tried = [line.split(" ", 1)[1] for line in stderr.splitlines() if line.startswith("CONNECT")]
    return [
        address for address in tried if not any(name in address for name in ("127.0.0.1", "localhost", "::1", "None"))
    ]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def test_the_hook_sees_an_outside_address() -> None:
    assert outside("CONNECT \"('93.184.216.34', 443)\"\nCONNECT \"('127.0.0.1', 1)\"") == ["\"('93.184.216.34', 443)\""]


def test_a_first_ask_with_nothing_cached_reaches_nothing(tmp_path: Path) -> None:
    process = subprocess.run(
        command("ask", "What are memory traces?"),
        capture_output=True,
        text=True,
        env=environment(tmp_path / "home"),
        timeout=300,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    assert outside(process.stderr) == []


def test_a_chat_page_that_is_asked_for_reaches_nothing(seed_home: Path, tmp_path: Path) -> None:
    port = free_port()
    log = (tmp_path / "log").open("w+")
    with (
        log,
        subprocess.Popen(
            command("chat", "--port", str(port)), stdout=subprocess.DEVNULL, stderr=log, env=environment(seed_home)
        ) as process,
    ):
        try:
            assert "citewise" in _page(f"http://127.0.0.1:{port}/")
        finally:
            process.terminate()
            process.wait(30)
        log.seek(0)
        told = log.read()
    assert "CONNECT" not in told or outside(told) == [], told


def _page(url: str) -> str:
    """The page at `url`, once the server answers."""
    deadline = time.monotonic() + 90
    while True:
        try:
            with urllib.request.urlopen(url, timeout=10) as response:  # noqa: S310
                text: str = response.read().decode()
                return text
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.3)
