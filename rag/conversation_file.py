"""The SQLite file of conversations: its tables, its versions, and what is done about a damaged one."""

import logging
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from rag.errors import CitewiseError
from rag.folding import fold

logger = logging.getLogger(__name__)

SCHEMA_VERSION = 1
_BUSY_SECONDS = 10.0
_TABLES = {"conversations", "turns", "feedback"}
_SCHEMA = """
CREATE TABLE IF NOT EXISTS conversations (
    conversation_id TEXT PRIMARY KEY, owner TEXT NOT NULL, corpus TEXT NOT NULL, title TEXT NOT NULL,
    created REAL NOT NULL, updated REAL NOT NULL, deleted REAL
);
CREATE INDEX IF NOT EXISTS conversations_of_owner ON conversations (owner, corpus, updated);
CREATE TABLE IF NOT EXISTS turns (
    turn_id INTEGER PRIMARY KEY AUTOINCREMENT,
    conversation_id TEXT NOT NULL REFERENCES conversations ON DELETE CASCADE,
    question TEXT NOT NULL, answer TEXT, said TEXT NOT NULL DEFAULT '', created REAL NOT NULL
);
CREATE INDEX IF NOT EXISTS turns_of_conversation ON turns (conversation_id, turn_id);
CREATE TABLE IF NOT EXISTS feedback (
    turn_id INTEGER PRIMARY KEY, owner TEXT NOT NULL, corpus TEXT NOT NULL, liked INTEGER NOT NULL,
    question TEXT NOT NULL, earlier TEXT NOT NULL, answer TEXT NOT NULL, prompt TEXT, created REAL NOT NULL
);
"""


class ConversationError(CitewiseError):
    """The file of conversations cannot be read or written."""


class ConversationFile:
    """One connection and one transaction a call, so that threads and processes share the file.

    A file that is damaged, or that a newer version wrote, is moved aside when it is opened, never deleted; `notice`
    then says so. Raises ConversationError where the file cannot be used for another reason.
    """

    def __init__(self, path: Path, *, clock: Callable[[], float]) -> None:
        self._path = path
        self.notice: str | None = None
        with self._errors():
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            try:
                self._prepare()
            except sqlite3.OperationalError:  # locked, full, or not ours to write: nothing is wrong with the file
                raise
            except sqlite3.DatabaseError as error:
                self._set_aside(error, moment=int(clock()))
                self._prepare()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """A connection whose changes are kept at the end, or none of them where something is raised.

        SQL has the function `holds(text, wanted)`: whether the folded `wanted` is in `text`.
        """
        with self._errors(), closing(self._connect()) as database, database:
            yield database

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise ConversationError(
                f"The conversations in {self._path} cannot be read or written: {error}.",
                fix="Check the disk and the rights of the file; a new start sets a damaged file aside.",
            ) from error

    def _connect(self) -> sqlite3.Connection:
        database = sqlite3.connect(self._path, timeout=_BUSY_SECONDS)
        database.execute("PRAGMA foreign_keys = ON")
        database.execute("PRAGMA synchronous = NORMAL")
        database.create_function("holds", 2, lambda text, wanted: wanted in fold(text or ""), deterministic=True)
        return database

    def _prepare(self) -> None:
        """Makes the tables where there are none; raises sqlite3.DatabaseError where the file cannot be used."""
        os.close(os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600))  # this user's alone
        with closing(self._connect()) as database:
            version = database.execute("PRAGMA user_version").fetchone()[0]
            if version > SCHEMA_VERSION:
                raise sqlite3.DatabaseError("a newer citewise wrote it")
            database.execute("PRAGMA journal_mode = WAL")
            if version == 0:
                database.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;")
            found = database.execute("PRAGMA quick_check").fetchone()[0]
            tables = {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            if found != "ok" or not tables >= _TABLES:
                raise sqlite3.DatabaseError(found if found != "ok" else "tables are missing")

    def _set_aside(self, error: sqlite3.Error, *, moment: int) -> None:
        aside = self._path.with_name(f"{self._path.stem}-unreadable-{moment}{self._path.suffix}")
        for suffix in ("", "-wal", "-shm"):
            part = self._path.with_name(self._path.name + suffix)
            if part.exists():
                os.replace(part, aside.with_name(aside.name + suffix))
        self.notice = (
            f"Earlier conversations cannot be read ({error}). Their file is kept as {aside.name}; a new one was begun."
        )
        logger.warning("%s", self.notice)
