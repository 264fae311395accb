"""Kept conversations and the readers' judgements of answers, in one SQLite file of the home."""

import json
import logging
import sqlite3
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from rag.answer_json import answer_from_dict, whole_answer_to_dict
from rag.conversation_file import ConversationFile
from rag.domain import Answer
from rag.errors import InputError
from rag.folding import fold

logger = logging.getLogger(__name__)

FILE = "conversations.sqlite3"
MAX_TITLE_CHARS = 120


@dataclass(frozen=True, slots=True)
class Heading:
    """A conversation in a list. `updated` is in seconds since 1970."""

    conversation_id: str
    title: str
    updated: float


@dataclass(frozen=True, slots=True)
class KeptTurn:
    """A question and its answer; None where the answer was never finished, or cannot be read any more."""

    turn_id: int
    question: str
    answer: Answer | None
    liked: bool | None = None


@dataclass(frozen=True, slots=True)
class Conversation:
    """A whole conversation, oldest turn first."""

    conversation_id: str
    title: str
    corpus: str
    turns: tuple[KeptTurn, ...]


@dataclass(frozen=True, slots=True)
class Feedback:
    """A reader's judgement of an answer. `earlier` are the questions before, `prompt` names version and hash.

    `created` is in seconds since 1970.
    """

    feedback_id: int
    liked: bool
    corpus: str
    question: str
    earlier: tuple[str, ...]
    answer: Answer
    prompt: str | None
    created: float


class Begun(NamedTuple):
    """Where a question was put down."""

    conversation_id: str
    turn_id: int


class ConversationStore:
    """Conversations by owner. Safe to use from several threads and processes: each call is one transaction.

    A file that SQLite or this version cannot read is moved aside, never deleted; `notice` then says so. Every method,
    and opening, raises ConversationError where the disk or the file fails otherwise.
    """

    def __init__(self, path: Path, *, clock: Callable[[], float] = time.time) -> None:
        self._file, self._clock = ConversationFile(path, clock=clock), clock
        self._transaction = self._file.transaction
        with self._transaction() as database:
            database.execute("DELETE FROM conversations WHERE deleted IS NOT NULL")

    @property
    def notice(self) -> str | None:
        """What a reader must know of the file: that a damaged one was set aside."""
        return self._file.notice

    @classmethod
    def open(cls, home: Path) -> "ConversationStore":
        """The store of `home`, made if missing."""
        return cls(home / FILE)

    def begin(
        self, owner: str, conversation_id: str | None, question: str, *, corpus: str, instead_of: Sequence[int] = ()
    ) -> Begun:
        """Puts a question down, its answer still to come; turns `instead_of` which it is asked go.

        Without a conversation, or with one that is not the owner's, a new one begins and is named by the question.
        """
        now = self._clock()
        with self._transaction() as database:
            known = conversation_id and self._owned(database, owner, conversation_id)
            if not conversation_id or not known:
                conversation_id = uuid.uuid4().hex
                row = (conversation_id, owner, corpus, title_of(question), now, now)
                database.execute("INSERT INTO conversations VALUES (?, ?, ?, ?, ?, ?, NULL)", row)
            self._drop(database, conversation_id, instead_of)
            cursor = database.execute(
                "INSERT INTO turns (conversation_id, question, created) VALUES (?, ?, ?)",
                (conversation_id, _storable(question), now),
            )
            self._touch(database, conversation_id, now)
            return Begun(conversation_id, int(cursor.lastrowid or 0))

    def finish(self, turn_id: int, answer: Answer) -> None:
        """Keeps the answer of a turn that was begun."""
        value = json.dumps(whole_answer_to_dict(answer), ensure_ascii=True)
        with self._transaction() as database:
            database.execute(
                "UPDATE turns SET answer = ?, said = ? WHERE turn_id = ?", (value, _storable(answer.text), turn_id)
            )

    def drop(self, owner: str, conversation_id: str, turn_ids: Sequence[int]) -> None:
        """Takes turns out of a conversation; one without turns goes too."""
        with self._transaction() as database:
            if self._owned(database, owner, conversation_id):
                self._drop(database, conversation_id, turn_ids)
                left = database.execute("SELECT 1 FROM turns WHERE conversation_id = ?", (conversation_id,)).fetchone()
                if left is None:
                    database.execute("DELETE FROM conversations WHERE conversation_id = ?", (conversation_id,))

    def conversation(self, owner: str, conversation_id: str) -> Conversation | None:
        """A conversation of the owner's that is not deleted."""
        with self._transaction() as database:
            found = database.execute(
                "SELECT title, corpus FROM conversations WHERE conversation_id = ? AND owner = ? AND deleted IS NULL",
                (conversation_id, owner),
            ).fetchone()
            if found is None:
                return None
            rows = database.execute(
                "SELECT turn_id, t.question, t.answer, liked FROM turns t LEFT JOIN feedback USING (turn_id) "
                "WHERE conversation_id = ? ORDER BY turn_id",
                (conversation_id,),
            ).fetchall()
        turns = (KeptTurn(row[0], row[1], _read(row[2]), None if row[3] is None else bool(row[3])) for row in rows)
        return Conversation(conversation_id, found[0], found[1], tuple(turns))

    def headings(
        self, owner: str, *, corpus: str | None = None, query: str = "", limit: int = 200
    ) -> tuple[Heading, ...]:
        """The owner's conversations, latest first; with `query`, those whose title, questions or answers hold it."""
        wanted = fold(query)
        sql = (
            "SELECT conversation_id, title, updated FROM conversations c WHERE owner = :owner AND deleted IS NULL "
            "AND (:corpus IS NULL OR corpus = :corpus) AND (:wanted = '' OR holds(title, :wanted) OR EXISTS (SELECT 1 "
            "FROM turns t WHERE t.conversation_id = c.conversation_id AND (holds(question, :wanted) OR "
            "holds(said, :wanted)))) ORDER BY updated DESC LIMIT :limit"
        )
        with self._transaction() as database:
            values = {"owner": owner, "corpus": corpus, "wanted": wanted, "limit": limit}
            return tuple(Heading(*row) for row in database.execute(sql, values))

    def rename(self, owner: str, conversation_id: str, title: str) -> None:
        """Gives a conversation another title; an empty one changes nothing."""
        if name := title_of(title):
            self._update(owner, conversation_id, "title = ?", name)

    def delete(self, owner: str, conversation_id: str) -> None:
        """Deletes a conversation; `restore` brings it back until the next start."""
        self._update(owner, conversation_id, "deleted = ?", self._clock())

    def restore(self, owner: str, conversation_id: str) -> None:
        """Undoes `delete`."""
        self._update(owner, conversation_id, "deleted = ?", None)

    def rate(self, owner: str, turn_id: int, liked: bool | None) -> None:
        """Keeps whether the owner likes an answer, with all that a test case needs; None takes that back."""
        with self._transaction() as database:
            database.execute("DELETE FROM feedback WHERE turn_id = ? AND owner = ?", (turn_id, owner))
            row = database.execute(
                "SELECT conversation_id, corpus, question, answer FROM turns JOIN conversations USING "
                "(conversation_id) WHERE turn_id = ? AND owner = ? AND answer IS NOT NULL",
                (turn_id, owner),
            ).fetchone()
            if row is None or liked is None:
                return
            conversation_id, corpus, question, answer = row
            before = database.execute(
                "SELECT question FROM turns WHERE conversation_id = ? AND turn_id < ? ORDER BY turn_id",
                (conversation_id, turn_id),
            )
            earlier = json.dumps([asked for (asked,) in before])
            prompt = json.loads(answer).get("prompt")
            values = (turn_id, owner, corpus, liked, question, earlier, answer, prompt, self._clock())
            database.execute("INSERT INTO feedback VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", values)

    def feedback(self, *, corpus: str | None = None) -> tuple[Feedback, ...]:
        """All judgements, oldest first; they outlive their conversations."""
        with self._transaction() as database:
            rows = database.execute(
                "SELECT turn_id, liked, corpus, question, earlier, answer, prompt, created FROM feedback "
                "WHERE :corpus IS NULL OR corpus = :corpus ORDER BY created",
                {"corpus": corpus},
            ).fetchall()
        return tuple(
            Feedback(turn_id, bool(liked), name, question, tuple(json.loads(earlier)), answer, prompt, created)
            for turn_id, liked, name, question, earlier, kept, prompt, created in rows
            if (answer := _read(kept)) is not None
        )

    def forget(self, feedback_ids: Sequence[int]) -> int:
        """Deletes judgements for good; returns how many there were."""
        with self._transaction() as database:
            rows = [(feedback_id,) for feedback_id in feedback_ids]
            return database.executemany("DELETE FROM feedback WHERE turn_id = ?", rows).rowcount if rows else 0

    def _update(self, owner: str, conversation_id: str, change: str, value: object) -> None:
        sql = f"UPDATE conversations SET {change} WHERE conversation_id = ? AND owner = ?"  # noqa: S608
        with self._transaction() as database:
            database.execute(sql, (value, conversation_id, owner))

    @staticmethod
    def _owned(database: sqlite3.Connection, owner: str, conversation_id: str) -> bool:
        sql = "SELECT 1 FROM conversations WHERE conversation_id = ? AND owner = ? AND deleted IS NULL"
        return database.execute(sql, (conversation_id, owner)).fetchone() is not None

    @staticmethod
    def _drop(database: sqlite3.Connection, conversation_id: str, turn_ids: Sequence[int]) -> None:
        rows = [(conversation_id, turn_id) for turn_id in turn_ids]
        database.executemany("DELETE FROM turns WHERE conversation_id = ? AND turn_id = ?", rows)

    @staticmethod
    def _touch(database: sqlite3.Connection, conversation_id: str, now: float) -> None:
        database.execute("UPDATE conversations SET updated = ? WHERE conversation_id = ?", (now, conversation_id))


def title_of(question: str) -> str:
    """The name of a conversation that begins with `question`: one line of at most `MAX_TITLE_CHARS`."""
    flat = " ".join(_storable(question).split())
    return flat if len(flat) <= MAX_TITLE_CHARS else flat[: MAX_TITLE_CHARS - 1].rstrip() + "…"


def _storable(text: str) -> str:
    """`text` with lone surrogates, which SQLite cannot hold, as U+FFFD."""
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


def _read(value: str | None) -> Answer | None:
    try:
        return None if value is None else answer_from_dict(json.loads(value))
    except (InputError, ValueError) as error:
        logger.warning("A kept answer cannot be read: %s", error)
        return None
