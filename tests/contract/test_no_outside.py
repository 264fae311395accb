"""No socket leaves loopback: strace sees the connections, an audit hook the names that are looked up."""

import json
import os
import re
import shutil
import signal
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


TRACE = ["strace", "-f", "-qq", "--seccomp-bpf", "-e", "trace=connect", "-o"]
_CALL = re.compile(r"connect\(\d+, \{sa_family=AF_INET6?, sin6?_port=htons\((\d+)\).*?\"([\d.:a-f]+)\"")
DNS = "53"


def command(*arguments: str, trace: Path) -> list[str]:
    """The command under strace, which writes into `trace`; without strace, as on a developer's machine, under the hook
    alone."""
    hooked = [sys.executable, "-c", HOOK, json.dumps(arguments)]
    return [*TRACE, str(trace), *hooked] if shutil.which("strace") else hooked


def traced(trace: Path) -> list[str]:
    """The addresses beyond loopback, and every name server: a local one asks others."""
    calls = (
        [found for line in trace.read_text().splitlines() if (found := _CALL.search(line))] if trace.exists() else []
    )
    return [f"{call[2]}:{call[1]}" for call in calls if call[1] == DNS or not is_loopback(call[2])]


def is_loopback(address: str) -> bool:
    return address in {"::1", "::ffff:127.0.0.1"} or address.startswith("127.")


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


def test_the_trace_shows_outside_addresses_and_name_servers(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    trace.write_text(
        '7 connect(7, {sa_family=AF_INET, sin_port=htons(53), sin_addr=inet_addr("127.0.0.53")}, 16) = 0\n'
        '7 connect(7, {sa_family=AF_INET, sin_port=htons(9000), sin_addr=inet_addr("127.0.0.1")}, 16) = 0\n'
        "7 connect(8, {sa_family=AF_INET6, sin6_port=htons(443), sin6_flowinfo=htonl(0), "
        'inet_pton(AF_INET6, "2606:2800::1", &sin6_addr), sin6_scope_id=0}, 28) = -1\n'
        '7 connect(9, {sa_family=AF_UNIX, sun_path="/x"}, 110) = 0\n'
    )
    assert traced(trace) == ["127.0.0.53:53", "2606:2800::1:443"]


def test_a_first_ask_with_nothing_cached_reaches_nothing(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    process = subprocess.run(
        command("ask", "What are memory traces?", trace=trace),
        capture_output=True,
        text=True,
        env=environment(tmp_path / "home"),
        timeout=300,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    assert outside(process.stderr) + traced(trace) == []


def test_a_chat_page_that_is_asked_for_reaches_nothing(seed_home: Path, tmp_path: Path) -> None:
    port, trace = free_port(), tmp_path / "trace"
    log = (tmp_path / "log").open("w+")
    with (
        log,
        subprocess.Popen(
            command("chat", "--port", str(port), trace=trace),
            stdout=subprocess.DEVNULL,
            stderr=log,
            env=environment(seed_home),
            start_new_session=True,
        ) as process,
    ):
        try:
            assert "citewise" in _page(f"http://127.0.0.1:{port}/")
        finally:
            os.killpg(process.pid, signal.SIGTERM)  # strace lets what it traces run on
            process.wait(60)
        log.seek(0)
        told = log.read()
    assert outside(told) + traced(trace) == [], told


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
