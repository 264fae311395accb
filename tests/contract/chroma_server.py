"""A real Chroma server on loopback, for tests alone: citewise never starts one."""

import http.client
import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import chromadb

from rag.remote_store import ChromaServer


class Served:
    """`chroma run` on loopback, which can be stopped and started again on the same folder."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = int(probe.getsockname()[1])
        self._folder = folder
        self.server = ChromaServer("127.0.0.1", self.port, ssl=False)
        self.start()

    def start(self) -> None:
        program = Path(sys.executable).with_name("chroma")
        command = [program, "run", "--path", self._folder, "--host", "127.0.0.1", "--port", str(self.port)]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until = time.monotonic() + 60
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
            except OSError:
                assert self.process.poll() is None
                assert time.monotonic() < until
                time.sleep(0.05)
            else:
                return

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    @contextmanager
    def client(self) -> "Iterator[chromadb.api.ClientAPI]":
        client = chromadb.HttpClient("127.0.0.1", self.port)
        yield client
        client.close()  # type: ignore[attr-defined]
        for part in (client, client._admin_client):  # type: ignore[attr-defined]
            part._server._session.close()

    def create(self, name: str, configuration: dict[str, object]) -> None:
        """Makes a collection as any client could, with whatever configuration."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        path = "/api/v2/tenants/default_tenant/databases/default_database/collections"
        body = json.dumps({"name": name, "configuration": configuration})
        connection.request("POST", path, body, {"Content-Type": "application/json"})
        with connection.getresponse() as response:
            assert response.status == 200, response.read()
        connection.close()
