"""Remembers embeddings by content, so that an interrupted or repeated build embeds no text twice."""

import hashlib
import logging
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np

from rag.embedding import Embedder, Vectors
from rag.errors import CorpusError
from rag.tokens import count_tokens

logger = logging.getLogger(__name__)

_Result = TypeVar("_Result")

_SCHEMA = """
CREATE TABLE IF NOT EXISTS vectors (model TEXT, digest BLOB, vector BLOB, PRIMARY KEY (model, digest)) WITHOUT ROWID
"""
_LOOKUP = 500
"""Texts a query; SQLite takes at most 999 parameters in its oldest builds."""


class EmbeddingCache:
    """Embeds through a SQLite file. Vectors are kept as float16, which moves a cosine by less than .001 and halves
    the file; all vectors pass through that rounding, so that a cached one equals a fresh one.

    A file that SQLite finds damaged is deleted and begun anew. Use as a context manager.
    """

    def __init__(self, path: Path, *, embedder: Embedder) -> None:
        self._path, self.embedder = path, embedder
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._connection = self._connect()

    def __enter__(self) -> "EmbeddingCache":
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def embed(self, texts: Sequence[str], *, on_batch: Callable[[int], object] | None = None) -> Vectors:
        """As `Embedder.embed`; texts whose vectors are known cost no embedding. Each batch is kept once it is there.

        Raises CorpusError where the model gives a vector that is not finite or of length 0, or the disk is full.
        """
        digests = [_digest(text) for text in texts]
        known = self._guarded(lambda: self._read(digests))
        missing = {digest: text for digest, text in zip(digests, texts, strict=True) if digest not in known}
        if on_batch is not None:
            on_batch(sum(digest not in missing for digest in digests))
        # Texts of one length in one call: little is spent on padding. Characters tell a model's length less well.
        by_length = sorted(missing, key=lambda digest: count_tokens(missing[digest]))
        for digest_batch in _batches(by_length, self.embedder.batch_size):
            fresh = self._embed([missing[digest] for digest in digest_batch])
            entries = dict(zip(digest_batch, fresh, strict=True))
            self._guarded(lambda entries=entries: self._write(entries))  # type: ignore[misc]
            known |= entries
            if on_batch is not None:
                on_batch(sum(digest in entries for digest in digests))
        rows = [np.frombuffer(known[digest], dtype=np.float16) for digest in digests]
        return _unit(np.array(rows, dtype=np.float32).reshape(len(texts), self.embedder.dimension))

    def missing(self, texts: Sequence[str]) -> list[str]:
        """The texts of `texts`, each once, that `embed` would have to embed."""
        by_digest = {_digest(text): text for text in texts}
        known = self._guarded(lambda: self._read(list(by_digest)))
        return [text for digest, text in by_digest.items() if digest not in known]

    def _embed(self, texts: list[str]) -> list[bytes]:
        vectors = self.embedder.embed(texts)
        lengths = np.linalg.norm(vectors, axis=1)
        usable = np.isfinite(lengths) & (lengths > 0)
        if not usable.all():
            text = texts[int(np.argmin(usable))]
            raise CorpusError(
                f"The embedding model {self.embedder.model_id} gives no usable vector for {text[:80]!r}.",
                fix="Use another model, or remove that paper.",
            )
        return [vector.tobytes() for vector in _unit(vectors).astype(np.float16)]

    def _read(self, digests: Sequence[bytes]) -> dict[bytes, bytes]:
        found: dict[bytes, bytes] = {}
        for batch in _batches(sorted(set(digests)), _LOOKUP):
            marks = ",".join("?" * len(batch))
            query = f"SELECT digest, vector FROM vectors WHERE model = ? AND digest IN ({marks})"  # noqa: S608
            found.update(self._connection.execute(query, [self.embedder.model_id, *batch]))
        length = 2 * self.embedder.dimension
        return {digest: vector for digest, vector in found.items() if len(vector) == length}

    def _write(self, entries: dict[bytes, bytes]) -> None:
        with self._connection:
            self._connection.executemany(
                "INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)",
                [(self.embedder.model_id, digest, vector) for digest, vector in entries.items()],
            )

    def _guarded(self, action: Callable[[], _Result]) -> _Result:
        """The result of `action`, tried once more on a new file if this one is damaged."""
        try:
            return action()
        except sqlite3.OperationalError as error:
            raise _unusable(self._path, error) from error
        except sqlite3.DatabaseError as error:
            logger.warning("the embedding cache %s is damaged (%s); it is begun anew", self._path, error)
            self._connection.close()
            _delete(self._path)
            self._connection = self._connect()
            return action()

    def _connect(self) -> sqlite3.Connection:
        try:
            return _open(self._path)
        except sqlite3.OperationalError as error:
            raise _unusable(self._path, error) from error
        except sqlite3.DatabaseError as error:
            logger.warning("the embedding cache %s is damaged (%s); it is begun anew", self._path, error)
            _delete(self._path)
            return _open(self._path)


def _open(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=30.0, check_same_thread=False)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute(_SCHEMA)
    except sqlite3.DatabaseError:
        connection.close()
        raise
    return connection


def _delete(path: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _unusable(path: Path, error: sqlite3.Error) -> CorpusError:
    return CorpusError(f"The embedding cache {path} cannot be used: {error}.", fix="Free disk space or fix its rights.")


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8"), digest_size=16).digest()


def _batches(items: list[bytes], size: int) -> list[list[bytes]]:
    return [items[first : first + size] for first in range(0, len(items), size)]


def _unit(vectors: Vectors) -> Vectors:
    unit: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit
