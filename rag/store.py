"""The vector store: one Chroma collection of chunks, built once, then only read. The only module that knows Chroma.

Embeddings are always passed in, both ways. `.configuration`, `query_texts` and documents without embeddings are never
used: they would build whatever embedding function an index file names, its code included (CVE-2026-45829).
"""

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rag.embedding import Vectors
from rag.errors import CorpusError

if TYPE_CHECKING:
    from chromadb import Collection
    from chromadb.api import ClientAPI
    from chromadb.config import Settings

DATABASE = "chroma.sqlite3"
"""The one file that Chroma writes to even when it only reads."""
MIN_ROWS = 2
"""Chroma keeps a collection of one row in its write-ahead log and rewrites the index at each opening: do not use it."""
COLLECTION = "chunks"
"""The name of the one collection."""
BATCH = 300
"""Rows in one write: what Chroma Cloud takes."""
_SYNC = 1000
"""Rows between two writes of the index files, at least: Chroma's own default."""
HNSW = {"space": "cosine", "ef_search": 1000, "ef_construction": 200, "max_neighbors": 32}
_SAFE_EMBEDDING_FUNCTIONS = frozenset({None, "legacy", "default"})
_SELF_HITS = 5000
"""Most rows that `verify` looks up by their own vector."""
_SAME = 1e-3
"""Cosine distance up to which two vectors count as the same."""


class StoreHits(NamedTuple):
    """Chunk rows (int32, shape (m,)) and their cosine to the query (float32), best first."""

    rows: NDArray[np.int32]
    scores: NDArray[np.float32]


class ChunkRecord(NamedTuple):
    """What the store keeps of a chunk beside its vector."""

    paper_id: str
    text: str
    start: int
    end: int


class ChromaStore:
    """An opened collection. Every failure of Chroma is a CorpusError."""

    def __init__(self, collection: "Collection", *, close: Callable[[], object], most: int | None = None) -> None:
        self._collection, self._close, self._most = collection, close, most

    @classmethod
    def build(
        cls,
        folder: Path,
        *,
        vectors: Vectors,
        chunks: Iterator[ChunkRecord],
        on_batch: Callable[[int], object] | None = None,
    ) -> "ChromaStore":
        """A new collection in the empty `folder` whose row i is `vectors[i]` and the i-th of `chunks`."""
        with translated(folder):
            client = open_client(folder)
            threshold, batches = plan_batches(len(vectors))
            hnsw = {**HNSW, "sync_threshold": threshold, "batch_size": min(100, threshold)}
            collection = client.create_collection(
                COLLECTION,
                embedding_function=None,
                configuration={"hnsw": hnsw},  # type: ignore[arg-type]
            )
            for rows in batches:
                records = [next(chunks) for _ in rows]
                collection.add(
                    ids=[str(row) for row in rows],
                    embeddings=np.ascontiguousarray(vectors[rows.start : rows.stop]),
                    documents=[record.text for record in records],
                    metadatas=[
                        {"paper_id": record.paper_id, "row": row, "start": record.start, "end": record.end}
                        for row, record in zip(rows, records, strict=True)
                    ],
                )
                if on_batch is not None:
                    on_batch(len(rows))
        return cls(collection, close=client.close)  # type: ignore[attr-defined]

    @classmethod
    def open(cls, folder: Path) -> "ChromaStore":
        """The collection that `build` left in `folder`. Refuses one that names an embedding function of its own."""
        if not (folder / DATABASE).is_file():  # Chroma would make an empty one
            raise CorpusError(f"The vector index {folder} is missing.", fix="Run: citewise doctor")
        with translated(folder):
            client = open_client(folder)
            try:
                collection = client.get_collection(COLLECTION, embedding_function=None)
                refuse_embedding_function(collection, folder)
            except BaseException:
                client.close()  # type: ignore[attr-defined]
                raise
        return cls(collection, close=client.close)  # type: ignore[attr-defined]

    def close(self) -> None:
        """Lets go of the files."""
        self._close()

    def nearest(self, vector: Vectors, *, n: int) -> StoreHits:
        """The `n` rows of highest cosine to `vector` (float32, shape (dimension,)); fewer where there are fewer, or
        where a server gives fewer at once."""
        n = min(n, self._most or n)
        ids, distances = self._query(vector[None, :], n=n)
        return StoreHits(np.array(ids[0], dtype=np.int32), 1 - np.array(distances[0], dtype=np.float32))

    def count(self) -> int:
        """How many rows Chroma says that it has; no proof that their vectors are there."""
        with translated():
            return self._collection.count()

    def verify(self, vectors: Vectors) -> None:
        """Raises CorpusError unless the store holds exactly `vectors` and finds each of them by itself.

        Of more than `_SELF_HITS` rows, that many, evenly spread, are looked up.
        """
        if self.count() != len(vectors):
            raise CorpusError(f"The vector index holds {self.count()} of {len(vectors)} chunks.", fix=_REBUILD)
        for first in range(0, len(vectors), BATCH):
            self._verify_stored(vectors, range(first, min(first + BATCH, len(vectors))))
        step = -(-len(vectors) // _SELF_HITS)
        self.verify_self_hits(vectors, range(0, len(vectors), step))

    def verify_self_hits(self, vectors: Vectors, rows: Sequence[int]) -> None:
        """Raises CorpusError unless each of `rows`, or one of the same vector, is found by its vector."""
        for first in range(0, len(rows), BATCH):
            batch = list(rows[first : first + BATCH])
            ids, distances = self._query(np.ascontiguousarray(vectors[batch]), n=1)
            for row, hits, near in zip(batch, ids, distances, strict=True):
                # Another row with the same vector is as good.
                if not hits or not near[0] <= _SAME or vectors[int(hits[0])] @ vectors[row] < 1 - _SAME:
                    raise CorpusError(f"The vector index does not find chunk {row} by its own vector.", fix=_REBUILD)

    def _verify_stored(self, vectors: Vectors, rows: range) -> None:
        with translated():
            got = self._collection.get(ids=[str(row) for row in rows], include=["embeddings"])
        stored = {int(row): vector for row, vector in zip(got["ids"], got["embeddings"], strict=True)}  # type: ignore[arg-type]
        for row in rows:
            # Chroma keeps unit vectors for cosine, so the same up to rounding.
            if row not in stored or not np.allclose(stored[row], vectors[row], atol=_SAME):
                raise CorpusError(f"The vector index holds another vector for chunk {row}.", fix=_REBUILD)

    def _query(self, vectors: Vectors, *, n: int) -> tuple[list[list[str]], list[list[float]]]:
        with translated():
            found = self._collection.query(query_embeddings=vectors, n_results=n, include=["distances"])
        return found["ids"], found["distances"] or []


_REBUILD = "Run: citewise doctor"


def plan_batches(rows: int) -> tuple[int, list[range]]:
    """A `sync_threshold` for a collection of `rows`, and the batches to add it in, so that the last one reaches it.

    Chroma writes the index files once that many rows came since the last time. Rows that came after would stay in its
    log: each opening would read them, and may write the index files again. So the rows are added in groups of exactly
    the threshold, the last with what remains, and each group ends in a full batch, before which it is not reached.
    """
    groups = max(1, min(rows // _SYNC, BATCH))
    threshold = rows // groups
    starts = [group * threshold for group in range(groups)]
    batches = []
    for start, end in zip(starts, [*starts[1:], rows], strict=True):
        first = start + ((end - start) % BATCH or min(BATCH, end - start))
        cuts = [start, *range(first, end + 1, BATCH)]
        batches += [range(*cut) for cut in pairwise(cuts)]
    return threshold, batches


def check_database(folder: Path, *, rows: int, deep: bool) -> str | None:
    """What is wrong with Chroma's SQLite file, None where nothing is. Does not import Chroma.

    The file changes at each opening, so its hash says nothing. Its structure is checked up to 32 MiB or if `deep`.
    """
    path = folder / DATABASE
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True, timeout=10.0)) as connection:
            (count,) = connection.execute("SELECT count(*) FROM embeddings").fetchone()
            if count != rows:
                return f"{DATABASE} holds {count} of {rows} chunks"
            if deep or path.stat().st_size <= 32 << 20:
                pragma = "integrity_check" if deep else "quick_check"
                (verdict,) = connection.execute(f"PRAGMA {pragma}(1)").fetchone()
                return None if verdict == "ok" else f"{DATABASE}: {verdict}"
    except (sqlite3.Error, OSError) as error:
        return f"{DATABASE}: {error}"
    return None


def open_client(folder: Path) -> "ClientAPI":
    """Chroma on `folder`, embedded, contacting nobody whatever the environment says."""
    import chromadb

    return chromadb.PersistentClient(str(folder), _settings())


@cache
def _settings() -> "Settings":
    """The settings of all embedded clients: Chroma wants the same ones for a folder that it has open."""
    return own_settings()


def own_settings() -> "Settings":
    """Chroma's defaults without telemetry, whatever the environment and a `.env` in the working folder say.

    Both could send it to a server (CHROMA_API_IMPL) or its traces to one (CHROMA_OTELCOLLECTION_ENDPOINT).
    """
    from chromadb.config import Settings

    class OwnSettings(Settings):
        @classmethod
        def settings_customise_sources(
            cls, settings_cls: Any, init_settings: Any, *_: Any, **__: Any
        ) -> tuple[Any, ...]:
            return (init_settings,)

    return OwnSettings(anonymized_telemetry=False)


def refuse_embedding_function(collection: "Collection", place: Path | str) -> None:
    """Raises CorpusError for a collection at `place` whose stored embedding function could run code."""
    function = (collection.configuration_json or {}).get("embedding_function") or {}
    name = function.get("name") or function.get("type")
    if name not in _SAFE_EMBEDDING_FUNCTIONS:
        raise CorpusError(
            f"The vector index {place} names an embedding function of its own ({name}), which could run code.",
            fix="Delete it if it is not yours; citewise builds its index anew.",
        )


@contextmanager
def translated(where: object = None) -> Iterator[None]:
    """Turns what Chroma raises, of its own, its bindings and its connections, into a CorpusError."""
    os.environ["ANONYMIZED_TELEMETRY"] = "False"  # read when Chroma is imported
    try:
        import httpx
        from chromadb.errors import ChromaError
    except ValueError as error:
        raise CorpusError(
            f"Chroma cannot start with the CHROMA_ settings that it finds: {error}.",
            fix="Unset them, or remove them from the file .env in the working folder.",
        ) from error
    try:
        yield
    except (
        ChromaError,
        httpx.HTTPError,
        ValueError,
        TypeError,
        RuntimeError,
        OSError,
        KeyError,
        sqlite3.Error,
    ) as error:
        place = f" in {where}" if where else ""
        raise CorpusError(f"The vector index{place} failed: {error}.", fix=_REBUILD) from error
