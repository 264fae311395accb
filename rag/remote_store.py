"""The vector store on a Chroma server, Chroma Cloud or a distributed Chroma, which any number of processes may ask.

A collection holds the chunks of one generation, and its name is made of their content: processes that hold the same
generation find the same collection, and no two generations meet in one. What `rag.store` says of embeddings holds here
too. The generation's own files stay the truth; a collection that is lost is filled again from them.
"""

import hashlib
import http.client
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import numpy as np

from rag.embedding import Vectors
from rag.errors import CorpusError, SettingsError
from rag.generation import RECORDS, VECTORS, Manifest
from rag.store import BATCH, HNSW, ChromaStore, ChunkRecord, own_settings, refuse_embedding_function, translated

if TYPE_CHECKING:
    from chromadb import Collection
    from chromadb.api import ClientAPI

MOST_RESULTS = 300
"""What Chroma Cloud gives to one query at most; its limit for the documents of a write is the next."""
_DOCUMENT_BYTES = 16_384
_CONNECT_SECONDS, _SECONDS = 3.0, 30.0
_PROBES = 20
_TENANT, _DATABASE = "default_tenant", "default_database"  # Chroma's own


@dataclass(frozen=True, slots=True)
class ChromaServer:
    """Where a Chroma server is. The token goes along as `x-chroma-token` (Chroma Cloud) and as a bearer's."""

    host: str
    port: int
    ssl: bool
    tenant: str = _TENANT
    database: str = _DATABASE
    token: str | None = field(default=None, repr=False)

    @classmethod
    def parse(cls, address: str, *, token: str | None = None) -> "ChromaServer":
        """The server at http[s]://HOST[:PORT][/TENANT/DATABASE]. Raises SettingsError for anything else."""
        try:
            parts = urlsplit(address)
            port, path = parts.port, [part for part in parts.path.split("/") if part]
        except ValueError:
            port, path, parts = None, [], urlsplit("")
        surplus = parts.query or parts.fragment or parts.username is not None
        if parts.scheme not in {"http", "https"} or not parts.hostname or len(path) not in {0, 2} or surplus:
            raise SettingsError(
                "CITEWISE_CHROMA is not the address of a Chroma server.",
                fix="Give http[s]://HOST[:PORT], and /TENANT/DATABASE behind it where there are such.",
            )
        ssl = parts.scheme == "https"
        tenant, database = path or (_TENANT, _DATABASE)
        return cls(parts.hostname, port or (443 if ssl else 8000), ssl, tenant, database, token)

    def __str__(self) -> str:
        return f"{'https' if self.ssl else 'http'}://{self.host}:{self.port}"


def collection_name(manifest: Manifest) -> str:
    """The name of the collection for a generation: its model, records and vectors in short."""
    parts = [manifest.model, str(manifest.dimension), *(manifest.files[name].sha256 for name in (RECORDS, VECTORS))]
    return f"citewise-{hashlib.sha256(chr(0).join(parts).encode()).hexdigest()[:32]}"


def open_shared(server: ChromaServer, manifest: Manifest) -> ChromaStore:
    """The collection of a generation.

    Raises CorpusError where the server cannot be reached, or has not all of the chunks.
    """
    with translated(server):
        client = _connect(server)
        try:
            collection = client.get_collection(collection_name(manifest), embedding_function=None)
            _check(collection, server)
            if (count := collection.count()) != manifest.chunks:
                raise CorpusError(f"{server} holds {count} of {manifest.chunks} chunks.", fix=_SHARE)
        except BaseException:
            _close(client)
            raise
    return ChromaStore(collection, close=lambda: _close(client), most=MOST_RESULTS)


def share(
    server: ChromaServer,
    manifest: Manifest,
    *,
    vectors: Vectors,
    chunks: Iterator[ChunkRecord],
    on_batch: Callable[[int], object] | None = None,
) -> None:
    """Writes the chunks of a generation that the server does not hold yet, and looks some up by their vectors.

    Several processes may do so at once: they write the same. Raises CorpusError where the server fails.
    """
    with translated(server):
        client = _connect(server)
        try:
            collection = client.get_or_create_collection(
                collection_name(manifest),
                embedding_function=None,
                configuration={"hnsw": HNSW},  # type: ignore[arg-type]
            )
            _check(collection, server)
            if collection.count() != len(vectors):
                _fill(collection, vectors, chunks, on_batch)
            store = ChromaStore(collection, close=lambda: None, most=MOST_RESULTS)
            rows = np.linspace(0, len(vectors) - 1, min(_PROBES, len(vectors)), dtype=int)
            store.verify_self_hits(vectors, sorted(set(rows.tolist())))
        finally:
            _close(client)


def _fill(
    collection: "Collection",
    vectors: Vectors,
    chunks: Iterator[ChunkRecord],
    on_batch: Callable[[int], object] | None,
) -> None:
    for first in range(0, len(vectors), BATCH):
        rows = range(first, min(first + BATCH, len(vectors)))
        records = {str(row): next(chunks) for row in rows}
        held = set(collection.get(ids=list(records), include=[])["ids"])
        missing = [row for row in rows if str(row) not in held]
        if missing:
            collection.upsert(
                ids=[str(row) for row in missing],
                embeddings=np.ascontiguousarray(vectors[missing]),
                documents=[_cut(records[str(row)].text) for row in missing],
                metadatas=[{"paper_id": records[str(row)].paper_id, "row": row} for row in missing],
            )
        if on_batch is not None:
            on_batch(len(rows))


def _check(collection: "Collection", server: ChromaServer) -> None:
    """Raises CorpusError for a collection that could run code, or that compares vectors by another measure."""
    refuse_embedding_function(collection, str(server))
    configuration = collection.configuration_json or {}
    index: dict[str, Any] = configuration.get("hnsw") or configuration.get("spann") or {}
    if index.get("space") != "cosine":
        raise CorpusError(
            f"The collection {collection.name} at {server} is not made for cosines.", fix="Delete it there."
        )


def _connect(server: ChromaServer) -> "ClientAPI":
    """A client that gives up on a server that does not answer. Chroma's own waits without end."""
    import chromadb

    _require_answer(server)
    token = {"x-chroma-token": server.token, "Authorization": f"Bearer {server.token}"} if server.token else None
    client = chromadb.HttpClient(
        server.host,
        server.port,
        ssl=server.ssl,
        headers=token,
        settings=own_settings(),
        tenant=server.tenant,
        database=server.database,
    )
    for session in _sessions(client):
        session.timeout = _SECONDS  # there is no setting for it
    return client


def _close(client: "ClientAPI") -> None:
    client.close()  # type: ignore[attr-defined]
    for session in _sessions(client):
        session.close()  # which the client leaves open


def _sessions(client: "ClientAPI") -> tuple[Any, Any]:
    """The client's connections, and those of the one that it has for tenants and databases."""
    return client._server._session, client._admin_client._server._session  # type: ignore[attr-defined]


def _require_answer(server: ChromaServer) -> None:
    kind = http.client.HTTPSConnection if server.ssl else http.client.HTTPConnection
    connection = kind(server.host, server.port, timeout=_CONNECT_SECONDS)
    try:
        connection.request("GET", "/api/v2/heartbeat")
        with connection.getresponse() as response:
            status = response.status
    except (OSError, http.client.HTTPException) as error:
        raise CorpusError(
            f"The Chroma server {server} cannot be reached: {error}.", fix="Start it, or unset CITEWISE_CHROMA."
        ) from error
    finally:
        connection.close()
    if status != http.client.OK:
        raise CorpusError(
            f"{server} does not answer as a Chroma server: HTTP {status}.", fix="Correct CITEWISE_CHROMA and its token."
        )


def _cut(text: str) -> str:
    return text.encode()[:_DOCUMENT_BYTES].decode(errors="ignore")


_SHARE = "Run: citewise corpus share"
