"""A SQLite file of bytes by model and content, whose loss costs only time: a damaged one is begun anew."""

import hashlib
import logging
import sqlite3
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from rag.errors import CorpusError
from rag.private_folder import make_private

logger = logging.getLogger(__name__)

_Result = TypeVar("_Result")

_SCHEMA = """
CREATE TABLE IF NOT EXISTS vectors (model TEXT, digest BLOB, vector BLOB, PRIMARY KEY (model, digest)) WITHOUT ROWID
"""
_LOOKUP = 500
"""Texts a query; SQLite takes at most 999 parameters in its oldest builds."""


class BlobCache:
    """What a model made of texts, by the digests of these. Safe to use from several threads.

    Every call raises CorpusError where the disk is full or the file cannot be written.
    """

    def __init__(self, path: Path, *, model_id: str) -> None:
        self._path, self._model_id, self._lock = path, model_id, threading.Lock()
        make_private(path.parent)
        self._connection = self._connect()

    def close(self) -> None:
        """Lets go of the file."""
        self._connection.close()

    def read(self, digests: Sequence[bytes]) -> dict[bytes, bytes]:
        """What is kept under `digests`; those that are not known are left out."""
        return self._guarded(lambda: self._read(sorted(set(digests))))

    def write(self, entries: Mapping[bytes, bytes]) -> None:
        """Keeps `entries`, on disk when this returns."""
        self._guarded(lambda: self._write(entries))

    def _read(self, digests: list[bytes]) -> dict[bytes, bytes]:
        found: dict[bytes, bytes] = {}
        for first in range(0, len(digests), _LOOKUP):
            batch = digests[first : first + _LOOKUP]
            marks = ",".join("?" * len(batch))
            query = f"SELECT digest, vector FROM vectors WHERE model = ? AND digest IN ({marks})"  # noqa: S608
            found.update(self._connection.execute(query, [self._model_id, *batch]))
        return found

    def _write(self, entries: Mapping[bytes, bytes]) -> None:
        rows = [(self._model_id, digest, blob) for digest, blob in entries.items()]
        with self._connection:
            self._connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)

    def _guarded(self, action: Callable[[], _Result]) -> _Result:
        """The result of `action`, tried once more on a new file if this one is damaged."""
        with self._lock:
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


def digest(text: str) -> bytes:
    """The key of a text: 16 bytes of BLAKE2b."""
    return hashlib.blake2b(text.encode("utf-8"), digest_size=16).digest()


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
