"""Remembers complete replies of chat models, so that a killed or repeated run pays for no call twice."""

import hashlib
import json
import re
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass, field
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

from evals.prices import cost
from evals.running.errors import RunError
from evals.running.records import Calls
from rag.domain import Usage
from rag.errors import EndpointError
from rag.private_folder import make_private
from rag.prompting import Message

if TYPE_CHECKING:
    from rag.chat_writer import Model
    from rag.llm import Completion, Endpoint

_SCHEMA = "CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, reply TEXT NOT NULL) WITHOUT ROWID"
_FENCE = re.compile(r"(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])")
"""The random fence of a request (`rag.prompting`): no two requests have the same, so that no key may hold it."""
_PLACE = "\ue0f0{}\ue0f1"
"""What stands for the fence in keys and stored replies: characters that no text has."""


@dataclass(slots=True)
class Recorder:
    """What the model calls of one sample were. `repeat` is part of their keys."""

    repeat: int
    sent: list[float | None] = field(default_factory=list)
    """What each call that was sent cost."""
    cached: int = 0
    faults: list[str] = field(default_factory=list)
    is_slowed: bool = False
    """Whether an endpoint asked to be asked less: too many requests, or a request had to be repeated."""

    def calls(self) -> Calls:
        """The same in numbers."""
        known = [dollars for dollars in self.sent if dollars is not None]
        dollars = sum(known) if len(known) == len(self.sent) else None
        return Calls(len(self.sent), self.cached, dollars, tuple(self.faults))


_RECORDER: ContextVar[Recorder | None] = ContextVar("recorder", default=None)


@contextmanager
def recording(repeat: int) -> Iterator[Recorder]:
    """Records the calls that this thread makes."""
    recorder = Recorder(repeat)
    token = _RECORDER.set(recorder)
    try:
        yield recorder
    finally:
        _RECORDER.reset(token)


class CallCache:
    """Replies in a SQLite file. Safe to use from several threads; use as a context manager."""

    def __init__(self, path: Path) -> None:
        self._path, self._lock = path, threading.Lock()
        with self._errors():
            make_private(path.parent)
            self._connection = sqlite3.connect(path, timeout=30.0, check_same_thread=False)
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute(_SCHEMA)

    def __enter__(self) -> "CallCache":
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def connect(self, make: "Callable[[Endpoint], Model]") -> "Callable[[Endpoint], Model]":
        """How chat models are made whose calls go through this cache; `make` makes those that call."""
        return lambda endpoint: CachedModel(make(endpoint), endpoint=endpoint, cache=self)

    def get(self, key: str) -> str | None:
        """The stored reply, None where there is none."""
        with self._lock, self._errors():
            row = self._connection.execute("SELECT reply FROM replies WHERE key = ?", [key]).fetchone()
        return row[0] if row else None

    def put(self, key: str, reply: str) -> None:
        """Stores a complete reply."""
        with self._lock, self._errors(), self._connection:
            self._connection.execute("INSERT OR REPLACE INTO replies VALUES (?, ?)", [key, reply])

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            problem = f"The cache of model calls {self._path} cannot be used: {error}."
            raise RunError(
                problem, fix="Free disk space, or delete it: complete samples are kept elsewhere."
            ) from error


class CachedModel:
    """A chat model whose complete replies are stored, and given again for the same messages.

    What an endpoint without a model's name serves is not known before its first reply: until then nothing is looked up.
    """

    def __init__(self, model: "Model", *, endpoint: "Endpoint", cache: CallCache) -> None:
        self._model, self._endpoint, self._cache = model, endpoint, cache
        self.model = model.model

    def stream(self, messages: Sequence[Message], *, until: float = inf) -> "Iterator[str | Completion]":
        """As the model streams; a stored reply comes as one piece, then with the usage that it once had."""
        from rag.llm import Completion

        recorder = _RECORDER.get() or Recorder(0)
        fences = _fences(messages)
        key = self._key(messages, fences, recorder.repeat)
        stored = self._cache.get(key) if self.model else None
        if stored is not None:
            reply = json.loads(stored)
            recorder.cached += 1
            yield _with_fences(reply["text"], fences)
            yield Completion(Usage(**reply["usage"]), reply["finish"])
            return
        text = ""
        try:
            for item in self._model.stream(messages, until=until):
                if isinstance(item, str):
                    text += item
                    yield item
                    continue
                self.model = self._model.model
                recorder.sent.append(cost(item.usage, model=self.model if self._endpoint.is_openai else None))
                recorder.is_slowed |= item.usage.calls > 1
                reply = {"text": _without(text, fences), "usage": asdict(item.usage), "finish": item.finish}
                self._cache.put(self._key(messages, fences, recorder.repeat), json.dumps(reply))
                yield item
        except EndpointError as error:
            recorder.sent.append(None)
            recorder.faults.append(error.kind)
            recorder.is_slowed |= error.kind == "rate_limited"
            raise

    def _key(self, messages: Sequence[Message], fences: Sequence[str], repeat: int) -> str:
        said = [{name: _without(text, fences) for name, text in message.items()} for message in messages]
        parameters: Mapping[str, object] = {
            "endpoint": self._endpoint.url,
            "model": self.model,
            "temperature": self._endpoint.temperature,
            "max_output_tokens": self._endpoint.max_output_tokens,
            "messages": said,
            "repeat": repeat,
        }
        return hashlib.sha256(json.dumps(parameters, sort_keys=True).encode()).hexdigest()


def _fences(messages: Sequence[Message]) -> tuple[str, ...]:
    system = "\n".join(message["content"] for message in messages if message["role"] == "system")
    return tuple(dict.fromkeys(_FENCE.findall(system)))


def _without(text: str, fences: Sequence[str]) -> str:
    for place, fence in enumerate(fences):
        text = text.replace(fence, _PLACE.format(place))
    return text


def _with_fences(text: str, fences: Sequence[str]) -> str:
    for place, fence in enumerate(fences):
        text = text.replace(_PLACE.format(place), fence)
    return text
