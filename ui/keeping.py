"""The conversation that a page shows, and where it is kept: on the server for a known user, else in the browser."""

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rag.answer_json import answer_from_dict, whole_answer_to_dict
from rag.conversation_file import ConversationError
from rag.conversations import ConversationStore, Heading, KeptTurn, title_of
from rag.domain import Answer
from rag.errors import InputError

logger = logging.getLogger(__name__)

_MAX_TURNS = 1_000


@dataclass(frozen=True, slots=True)
class Place:
    """Where a page is: its conversation, and the id of each turn that it shows, 0 where one could not be kept.

    The page holds it as text, so that it outlives the server; a client may send anything.
    """

    conversation_id: str = ""
    turn_ids: tuple[int, ...] = ()

    def to_json(self) -> str:
        return json.dumps({"conversation": self.conversation_id, "turns": self.turn_ids})

    @classmethod
    def from_json(cls, text: object) -> "Place":
        """What `to_json` wrote; anything else is the place of a new conversation."""
        try:
            value = json.loads(str(text))
            conversation_id, turn_ids = value["conversation"], value["turns"]
        except (ValueError, TypeError, KeyError, RecursionError):
            return cls()
        known = isinstance(conversation_id, str) and len(conversation_id) <= 64 and isinstance(turn_ids, list)
        if not known or len(turn_ids) > _MAX_TURNS or not all(type(turn) is int for turn in turn_ids):
            return cls()
        return cls(conversation_id, tuple(turn_ids))


class Keeper:
    """Keeps the conversations of one user, `owner`, about one corpus; keeps nothing where `store` is None.

    A question is answered, too, where its conversation cannot be kept: that is logged, and said by `notice`.
    """

    def __init__(self, store: ConversationStore | None, *, owner: str) -> None:
        self._store, self._owner = store, owner

    @property
    def keeps(self) -> bool:
        """Whether conversations are kept here; if not, the browser may."""
        return self._store is not None

    @property
    def notice(self) -> str:
        """What the user must know of the store, "" for nothing."""
        return (self._store.notice or "") if self._store else ""

    def begin(self, place: Place, question: str, *, corpus: str, turn: int) -> Place:
        """The place of a new question, which is asked as turn number `turn` (from 0); what stood there goes."""
        kept = (*place.turn_ids, *([0] * turn))[:turn]
        if self._store is None:
            return Place(place.conversation_id, (*kept, 0))
        instead_of = [turn_id for turn_id in place.turn_ids[turn:] if turn_id]
        try:
            begun = self._store.begin(
                self._owner, place.conversation_id or None, question, corpus=corpus, instead_of=instead_of
            )
        except ConversationError as error:
            logger.warning("%s", error)
            return Place(place.conversation_id, (*kept, 0))
        return Place(begun.conversation_id, (*kept, begun.turn_id))

    def finish(self, place: Place, answer: Answer) -> None:
        """Keeps the answer to the last question of `place`."""
        if self._store is not None and place.turn_ids and place.turn_ids[-1]:
            self._try(lambda store: store.finish(place.turn_ids[-1], answer))

    def cut(self, place: Place, *, turn: int) -> Place:
        """The place without the turns from number `turn` on, which go from the store too."""
        gone = [turn_id for turn_id in place.turn_ids[turn:] if turn_id]
        self._try(lambda store: store.drop(self._owner, place.conversation_id, gone))
        return replace(place, turn_ids=place.turn_ids[:turn]) if turn else Place()

    def turns(self, conversation_id: str) -> tuple[KeptTurn, ...] | None:
        """The turns of a conversation, None where there is no such one."""
        found = self._try(lambda store: store.conversation(self._owner, conversation_id))
        return found.turns if found else None

    def title(self, conversation_id: str) -> str:
        """The name of a conversation, "" where there is no such one."""
        found = self._try(lambda store: store.conversation(self._owner, conversation_id))
        return found.title if found else ""

    def headings(self, query: str, *, corpus: str) -> tuple[Heading, ...]:
        """The conversations about `corpus` that hold `query`, latest first."""
        return self._try(lambda store: store.headings(self._owner, corpus=corpus, query=query)) or ()

    def rate(self, place: Place, *, turn: int, liked: bool | None) -> bool:
        """Keeps a judgement of the answer to turn number `turn`; whether it could be is returned."""
        turn_id = place.turn_ids[turn] if 0 <= turn < len(place.turn_ids) else 0
        if not turn_id or self._store is None:
            return False
        self._try(lambda store: store.rate(self._owner, turn_id, liked))
        return True

    def change(self, what: str, conversation_id: str, title: str = "") -> None:
        """Renames, deletes or restores a conversation."""
        changes: Mapping[str, Callable[[ConversationStore], None]] = {
            "rename": lambda store: store.rename(self._owner, conversation_id, title),
            "delete": lambda store: store.delete(self._owner, conversation_id),
            "restore": lambda store: store.restore(self._owner, conversation_id),
        }
        if what in changes:
            self._try(changes[what])

    def _try(self, call: Callable[[ConversationStore], Any]) -> Any:
        try:
            return call(self._store) if self._store is not None else None
        except ConversationError as error:
            logger.warning("%s", error)
            return None


def to_browser(question: str, answer: Answer, *, place: Place) -> str:
    """A finished turn, as the browser keeps it where the server does not: title, turn number, whole answer."""
    value = {"title": title_of(question), "turn": len(place.turn_ids) - 1, "answer": whole_answer_to_dict(answer)}
    return json.dumps(value, ensure_ascii=False)


def from_browser(turns: object) -> tuple[KeptTurn, ...]:
    """The turns that a browser kept; such as cannot be read are left out."""
    kept: list[KeptTurn] = []
    for value in turns[:_MAX_TURNS] if isinstance(turns, Sequence) and not isinstance(turns, str) else ():
        try:
            answer = answer_from_dict(value) if isinstance(value, Mapping) else None
        except InputError:
            continue
        if answer is not None:
            kept.append(KeptTurn(0, answer.question, answer))
    return tuple(kept)
