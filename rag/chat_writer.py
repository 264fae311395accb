"""The writer that asks a chat model: one call a question, streamed, its citations read while it streams."""

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Protocol

from rag.citations import parse_citations
from rag.domain import Abstained, Note, Piece, Source, Turn
from rag.llm import Completion
from rag.prompting import Message, Prompt, fill_answer_prompt
from rag.questions import Question

SENTINEL = "not in the sources"
_LONGEST_START = 60
"""Characters of a reply that are held back at most until it is clear whether it begins with the sentinel."""


class Model(Protocol):
    """A chat model, as the writer needs it."""

    model: str | None

    def stream(self, messages: Sequence[Message]) -> Iterator[str | Completion]:
        """The reply's text as it comes, then how it ended."""
        ...


class ChatWriter:
    """Writes by a chat model from numbered sources."""

    name = "chat"

    def __init__(self, *, model: Model, prompt: Prompt, context_tokens: int, max_output_tokens: int) -> None:
        self._model, self._prompt = model, prompt
        self._budget = context_tokens - max_output_tokens
        self.prompt = prompt.label

    @property
    def model(self) -> str | None:
        return self._model.model

    def write(self, question: Question, *, sources: Sequence[Source], history: Sequence[Turn]) -> Iterator[Piece]:
        """The answer's pieces as they come, then the usage.

        Raises EndpointError, also amid the pieces, where the endpoint fails.
        """
        filled = fill_answer_prompt(
            self._prompt, question=question.text, sources=sources, history=history, budget=self._budget
        )
        if filled.sources < len(sources):
            yield Note(f"{len(sources) - filled.sources} of {len(sources)} papers did not fit into the model's window.")
        ends: list[Completion] = []
        deltas = _text_of(self._model.stream(filled.messages), ends)
        start = ""
        for delta in deltas:
            start += delta
            if _may_abstain(start) is not None:
                break
            yield ""  # while nothing can be shown, the consumer gets control and may close
        if _may_abstain(start):
            yield Abstained()
            yield from ("" for _ in deltas)
        else:
            yield from parse_citations(chain([start], deltas), sources=filled.sources)
        yield ends[0].usage
        if ends[0].finish == "length":
            yield Note("The model's answer was cut at its length limit (CITEWISE_MAX_OUTPUT_TOKENS).")


def _text_of(stream: Iterator[str | Completion], ends: list[Completion]) -> Iterator[str]:
    """The stream's text; its end is put into `ends`."""
    for item in stream:
        if isinstance(item, Completion):
            ends.append(item)
        else:
            yield item


def _may_abstain(start: str) -> bool | None:
    """Whether a reply that begins with `start` is an abstention; None while that cannot be told."""
    words = " ".join(re.sub(r"[^a-z]+", " ", start.lower()).split())
    if words.startswith(SENTINEL):
        return True
    return None if SENTINEL.startswith(words) and len(start) < _LONGEST_START else False
