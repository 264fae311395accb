"""Fetching a model from a server on loopback that speaks the hub's API."""

import fcntl
import hashlib
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from rag.cli import app
from rag.errors import EndpointError, InputError
from rag.local.pull import HubFile, pull, read_wish

REPO, FILE = "owner/Some-Model-GGUF", "some-model-q4.gguf"
WANTED = HubFile(REPO, FILE)
COMMIT = "c" * 40
CONTENT = b"GGUF" + bytes(range(256)) * 47_000
CUT = 10_600_000
"""Bytes of a broken answer: the library writes 10 MiB at a time, and what is less is lost."""


@dataclass
class Hub:
    """What the server has, how it fails, and what it was asked: `cuts` are how many bytes of each GET come,
    `refusals` the statuses in place of an answer (0: an answer)."""

    content: bytes = CONTENT
    sha256: str = hashlib.sha256(CONTENT).hexdigest()
    status: int = 200
    error_code: str = ""
    cuts: list[int] = field(default_factory=list)
    refusals: list[int] = field(default_factory=list)
    ignores_ranges: bool = False
    ranges: list[str | None] = field(default_factory=list)
    heads: list[str] = field(default_factory=list)
    url: str = ""


def handler(hub: Hub) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *arguments: object) -> None: ...

        def do_HEAD(self) -> None:
            hub.heads.append(self.path)
            self.send_response(hub.status)
            self.send_header("X-Repo-Commit", COMMIT)
            if hub.error_code:
                self.send_header("X-Error-Code", hub.error_code)
            self.send_header("ETag", '"not-the-hash-of-the-content"')
            if hub.sha256:
                self.send_header("X-Linked-Etag", f'"{hub.sha256}"')
            self.send_header("X-Linked-Size", str(len(hub.content)))
            self.send_header("Content-Length", "0")
            self.end_headers()

        def do_GET(self) -> None:
            wanted = self.headers.get("Range")
            hub.ranges.append(wanted)
            assert f"/{REPO}/resolve/{COMMIT}/{FILE}" == self.path
            if hub.refusals and (status := hub.refusals.pop(0)):
                self.send_error(status)
                return
            start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted and not hub.ignores_ranges else 0
            body = hub.content[start:]
            self.send_response(206 if start else 200)
            self.send_header("Content-Length", str(len(body)))
            if start:
                total = len(hub.content)
                self.send_header("Content-Range", f"bytes {start}-{total - 1}/{total}")
            self.end_headers()
            self.wfile.write(body[: hub.cuts.pop(0)] if hub.cuts else body)

    return Handler


@contextmanager
def serving(hub: Hub) -> Iterator[Hub]:
    with ThreadingHTTPServer(("127.0.0.1", 0), handler(hub)) as server:
        hub.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        yield hub
        server.shutdown()
        thread.join()


@pytest.fixture
def hub() -> Iterator[Hub]:
    with serving(Hub()) as running:
        yield running


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_comes_whole_and_is_not_fetched_twice(hub: Hub, tmp_path: Path) -> None:
    path = pull(WANTED, folder=tmp_path / "models", endpoint=hub.url)
    assert path.read_bytes() == CONTENT
    assert files(path.parent) == [FILE]
    assert pull(WANTED, folder=tmp_path / "models", endpoint=hub.url) == path
    assert hub.ranges == [None]
    assert hub.heads == [f"/{REPO}/resolve/main/{FILE}"] * 2


def test_a_download_that_broke_off_goes_on_where_it_was(hub: Hub, tmp_path: Path) -> None:
    hub.cuts, hub.refusals = [CUT], [0, 503]  # the library's own try to go on is refused
    with pytest.raises(EndpointError, match="status 503"):
        pull(WANTED, folder=tmp_path, endpoint=hub.url)
    (partial,) = files(tmp_path)
    assert partial.endswith(".partial")
    have = (tmp_path / partial).stat().st_size
    assert 0 < have <= CUT
    hub.ranges.clear()
    assert pull(WANTED, folder=tmp_path, endpoint=hub.url).read_bytes() == CONTENT
    assert hub.ranges == [f"bytes={have}-"]
    assert files(tmp_path) == [FILE]


def test_a_short_break_is_mended_within_one_run(hub: Hub, tmp_path: Path) -> None:
    hub.cuts = [CUT]
    assert pull(WANTED, folder=tmp_path, endpoint=hub.url).read_bytes() == CONTENT
    assert len(hub.ranges) == 2
    assert hub.ranges[1] == "bytes=10485760-"


def test_a_server_that_cannot_go_on_sends_it_anew(hub: Hub, tmp_path: Path) -> None:
    (tmp_path / f"{FILE}.{hub.sha256[:16]}.partial").write_bytes(b"x" * 1000)
    hub.ignores_ranges = True
    assert pull(WANTED, folder=tmp_path, endpoint=hub.url).read_bytes() == CONTENT


def test_a_wrong_checksum_is_an_error_and_the_file_does_not_stay(hub: Hub, tmp_path: Path) -> None:
    hub.sha256 = "0" * 64
    with pytest.raises(EndpointError, match="SHA-256") as caught:
        pull(WANTED, folder=tmp_path, endpoint=hub.url)
    assert caught.value.kind == "checksum"
    assert files(tmp_path) == []


def test_what_came_of_another_version_is_not_continued(hub: Hub, tmp_path: Path) -> None:
    (tmp_path / f"{FILE}.{'0' * 16}.partial").write_bytes(b"x" * 1000)
    assert pull(WANTED, folder=tmp_path, endpoint=hub.url).read_bytes() == CONTENT
    assert hub.ranges == [None]


def test_a_newer_version_replaces_the_file(hub: Hub, tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"GGUF of last year")
    assert pull(WANTED, folder=tmp_path, endpoint=hub.url).read_bytes() == CONTENT


def test_a_file_without_a_sha_256_is_not_taken(hub: Hub, tmp_path: Path) -> None:
    hub.sha256 = ""
    with pytest.raises(EndpointError, match="no SHA-256"):
        pull(WANTED, folder=tmp_path, endpoint=hub.url)
    assert hub.ranges == []


@pytest.mark.parametrize(
    ("status", "code", "problem"),
    [
        (404, "EntryNotFound", f"has no file {FILE}"),
        (404, "RepoNotFound", f"no repository {REPO}"),
        (403, "GatedRepo", "accepted its terms"),
        (500, "", "status 500"),
    ],
)
def test_what_the_hub_refuses_has_its_own_message(
    hub: Hub, tmp_path: Path, status: int, code: str, problem: str
) -> None:
    hub.status, hub.error_code = status, code
    with pytest.raises(EndpointError, match=problem) as caught:
        pull(WANTED, folder=tmp_path, endpoint=hub.url)
    assert caught.value.fix


def test_without_a_network_it_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(EndpointError, match="cannot be reached") as caught:
        pull(WANTED, folder=tmp_path, endpoint="http://127.0.0.1:9")
    assert "HF_ENDPOINT" in caught.value.fix
    assert str(tmp_path) in caught.value.fix


def test_a_disk_that_is_too_small_is_found_before(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag.local.pull.shutil.disk_usage", lambda path: SimpleNamespace(free=10))
    with pytest.raises(EndpointError, match="free"):
        pull(WANTED, folder=tmp_path, endpoint=hub.url)
    assert hub.ranges == []


def test_two_at_once_do_not_write_one_file(hub: Hub, tmp_path: Path) -> None:
    with (tmp_path / f"{FILE}.{hub.sha256[:16]}.partial").open("wb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(EndpointError, match="Another process is fetching some-model-q4"):
            pull(WANTED, folder=tmp_path, endpoint=hub.url)


@pytest.mark.parametrize(
    "wish", ["gpt-5", "owner/repo", "owner/repo:", "owner/repo:../x.gguf", "a/b:model.safetensors"]
)
def test_a_wish_that_cannot_be_read_names_those_that_can(wish: str) -> None:
    with pytest.raises(InputError, match=r"qwen2\.5-1\.5b"):
        read_wish(wish)


def test_the_command_fetches_from_hf_endpoint_and_says_how_to_use_it(hub: Hub, home: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from rag.cli import main; main()", "model", "pull", f"{REPO}:{FILE}"],
        env={**os.environ, "HF_ENDPOINT": hub.url, "CITEWISE_HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (home / "models" / FILE).read_bytes() == CONTENT
    assert "SHA-256 checked" in done.stdout
    assert "citewise chat --writer local --model some-model-q4" in done.stderr
    assert "some-model-q4" in CliRunner().invoke(app, ["model", "list", "--home", str(home)]).stdout


def test_nothing_but_the_file_is_asked_for_though_the_library_was_imported_before(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_outside_connections: list[object]
) -> None:
    from huggingface_hub import constants
    from huggingface_hub.utils import _detect_agent

    monkeypatch.setattr(constants, "HF_HUB_DISABLE_TELEMETRY", False)
    monkeypatch.setattr(_detect_agent, "_registry", None)
    pull(WANTED, folder=tmp_path, endpoint=hub.url)
    assert no_outside_connections == []
