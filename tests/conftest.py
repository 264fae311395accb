"""What every test gets: no settings of the user's, no way out of this machine, and the shared data where it is."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from rag.assistant import Assistant

SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--nightly`: what is a sample of faults otherwise is all of them."""
    parser.addoption("--nightly", action="store_true", help="try all faults and 10,000 generated files a reader")


def pytest_configure(config: pytest.Config) -> None:
    """Makes `--nightly` known to modules that are parametrized at import."""
    if config.getoption("--nightly"):
        os.environ.setdefault("FUZZ_EXAMPLES", "10000")


@pytest.fixture(scope="session")
def nightly(pytestconfig: pytest.Config) -> bool:
    """Whether all is to be tried."""
    return bool(pytestconfig.getoption("--nightly"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Browser tests come last: Playwright leaves an event loop running, in which no other can be started."""
    items.sort(key=lambda item: item.get_closest_marker("browser") is not None)


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Drops every setting, so that no test can spend money or touch the user's corpora; returns the new home."""
    for name in list(os.environ):
        if name.startswith(("OPENAI_", "CITEWISE_")):
            monkeypatch.delenv(name)
    home = tmp_path / "home"
    monkeypatch.setenv("CITEWISE_HOME", str(home))
    monkeypatch.setenv("CITEWISE_OLLAMA", "")  # an Ollama on the developer's machine is no part of a test
    return home


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """An empty home."""
    return tmp_path / "home"


class OutsideConnection(RuntimeError):
    """A test tried to reach something beyond this machine."""


def _is_loopback(address: object) -> bool:
    if not isinstance(address, tuple):
        return True  # a Unix socket
    host = str(address[0])
    return host.startswith("127.") or host in {"::1", "localhost", "0.0.0.0", "::", ""}  # noqa: S104


@pytest.fixture(autouse=True)
def no_outside_connections(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[object]]:
    """Connections and name look-ups beyond loopback raise; the list holds what was tried."""
    tried: list[object] = []
    connect, connect_ex, getaddrinfo = socket.socket.connect, socket.socket.connect_ex, socket.getaddrinfo

    def check(address: object) -> None:
        if not _is_loopback(address):
            tried.append(address)
            raise OutsideConnection(f"connection to {address}")

    def guarded_connect(self: socket.socket, address: object) -> None:
        check(address)
        return connect(self, address)  # type: ignore[arg-type]

    def guarded_connect_ex(self: socket.socket, address: object) -> int:
        check(address)
        return connect_ex(self, address)  # type: ignore[arg-type]

    def guarded_getaddrinfo(host: object, *args: object, **kwargs: object) -> object:
        check((host.decode() if isinstance(host, bytes) else host or "", 0))
        return getaddrinfo(host, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(socket.socket, "connect", guarded_connect)
    monkeypatch.setattr(socket.socket, "connect_ex", guarded_connect_ex)
    monkeypatch.setattr(socket, "getaddrinfo", guarded_getaddrinfo)
    yield tried
    assert not tried, f"connections beyond this machine: {tried}"


@pytest.fixture
def shared_data() -> Path:
    """The folder `shared/data` beside the checkout; a test that needs it is skipped where it is absent."""
    if not SHARED_DATA.is_dir():
        pytest.skip("shared/data is not beside this checkout")
    return SHARED_DATA


@pytest.fixture(scope="session")
def seed_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home in which the packaged papers are indexed, by the real embedded model; not to be written to."""
    from rag.embedding import MiniLMEmbedder
    from rag.ingest import ensure_corpus

    home = tmp_path_factory.mktemp("seed") / "home"
    ensure_corpus(home, "icml2025", embedder=MiniLMEmbedder()).close()
    return home


@pytest.fixture(scope="session")
def assistant(seed_home: Path) -> "Assistant":
    """An assistant on the packaged papers with the extractive writer."""
    from rag.assistant import Assistant

    return Assistant.open(home=seed_home, writer="extractive")
