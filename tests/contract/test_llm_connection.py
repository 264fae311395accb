"""What goes wrong before a request arrives, and what goes along with one that does."""

import logging
import socket
import socketserver
import threading
from collections.abc import Iterator

import pytest

from rag.errors import EndpointError
from rag.llm import ChatModel, Endpoint
from tests.contract.scripted_server import ScriptedServer, http, scripted_server

MESSAGES = [{"role": "user", "content": "How do memory traces decay?"}]
DEADLINE = 2.5


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with scripted_server() as running:
        yield running


@pytest.fixture
def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


@pytest.fixture
def plain_port() -> Iterator[int]:
    """A server that answers whatever comes in plain text, as most do that are spoken to in TLS."""

    class Plain(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            self.request.recv(1024)
            self.request.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    with socketserver.TCPServer(("127.0.0.1", 0), Plain) as plain:
        thread = threading.Thread(target=plain.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield plain.server_address[1]
        plain.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag.llm.retry.FIRST_WAIT", 0.05)


def failure(model: ChatModel) -> EndpointError:
    with pytest.raises(EndpointError) as caught:
        list(model.stream(MESSAGES))
    return caught.value


def test_a_closed_port_is_named(free_port: int) -> None:
    caught = failure(ChatModel(Endpoint(base_url=f"http://127.0.0.1:{free_port}/v1", model="m", deadline=DEADLINE)))
    assert caught.kind == "unreachable"
    assert f"127.0.0.1:{free_port}" in caught.problem
    assert "Is it running?" in caught.fix


def test_an_unknown_host_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def not_found(*_: object, **__: object) -> object:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", not_found)
    caught = failure(ChatModel(Endpoint(base_url="http://nowhere.invalid/v1", model="m", trust_env=False)))
    assert (caught.kind, caught.retryable) == ("unreachable", True)
    assert "no machine of this name" in caught.problem


def test_a_server_that_never_answers_the_tls_greeting_is_given_up(server: ScriptedServer) -> None:
    address = server.base_url.replace("http://", "https://")
    caught = failure(ChatModel(Endpoint(base_url=address, model="m", deadline=1)))
    assert caught.kind == "timeout"


def test_a_server_without_tls_is_told_apart(plain_port: int) -> None:
    caught = failure(ChatModel(Endpoint(base_url=f"https://127.0.0.1:{plain_port}/v1", model="m", deadline=DEADLINE)))
    assert caught.kind == "unreachable"
    assert "http:// in place of https://" in caught.problem


def test_credentials_of_the_address_are_sent_and_never_shown(
    server: ScriptedServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    server.play("basic", http(500, {"error": "user pat, password hunter2"}))
    address = server.base_url.replace("http://", "http://pat:hunter2@")
    model = ChatModel(Endpoint(base_url=address, model="basic"))
    caught = failure(model)
    assert server.headers[-1]["authorization"] == "Basic cGF0Omh1bnRlcjI="
    assert "hunter2" not in f"{caught} {caplog.text} {model.endpoint!r}"


def test_nothing_of_the_users_openai_account_goes_elsewhere(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_ADMIN_KEY"):
        monkeypatch.setenv(name, "theirs")
    monkeypatch.setenv("HTTP_PROXY", "http://proxy.invalid:1")
    server.script("elsewhere", "Yes [1].")
    list(ChatModel(Endpoint(base_url=server.base_url, model="elsewhere")).stream(MESSAGES))
    assert "theirs" not in str(server.headers[-1])


def test_a_query_of_the_address_goes_with_every_request(server: ScriptedServer) -> None:
    server.script("azure", "Yes [1].")
    list(ChatModel(Endpoint(base_url=f"{server.base_url}/?api-version=2026-01", model="azure")).stream(MESSAGES))
    assert server.paths[-1] == "/v1/chat/completions?api-version=2026-01"
