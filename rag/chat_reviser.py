"""The reviser that asks a chat model: one more call names what is wrong in an answer and asks for it without that."""

import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from typing import cast

from rag.chat_writer import Model, read_reply
from rag.context import Context
from rag.domain import Piece, Source
from rag.errors import EndpointError
from rag.llm import Completion
from rag.prompting import Prompt, fill_revise_prompt


class ChatReviser:
    """Revises answers by a chat model. `label` names the prompt, `deadline` is in seconds since the question came."""

    def __init__(
        self,
        *,
        model: Model,
        prompt: Prompt,
        context_tokens: int,
        max_output_tokens: int,
        context: Context,
        rounds: int,
        deadline: float,
    ) -> None:
        self._model, self._prompt, self._context = model, prompt, context
        self._budget = context_tokens - max_output_tokens
        self.rounds, self.deadline, self.label = rounds, deadline, prompt.label

    def revise(
        self, question: str, *, sources: Sequence[Source], answer: str, faults: Sequence[str], seconds: float
    ) -> Iterator[Piece]:
        """The pieces of the corrected answer, then its usage, within `seconds`. Raises EndpointError."""
        filled = fill_revise_prompt(
            self._prompt,
            question=question,
            sources=sources,
            answer=answer,
            faults=faults,
            budget=self._budget,
            context=self._context,
        )
        stream = _within(self._model.stream(filled.messages), seconds=seconds)
        yield from read_reply(stream, sources=filled.sources)


def _within(stream: Iterator[str | Completion], *, seconds: float) -> Iterator[str | Completion]:
    """The stream, ended with an error once `seconds` have passed; it gives control while nothing comes."""
    end = time.perf_counter() + seconds
    with closing(cast(Generator[str | Completion, None, None], stream)):
        for item in stream:
            if isinstance(item, str) and time.perf_counter() > end:
                raise EndpointError(
                    "There was no time left for it.",
                    fix="Raise CITEWISE_DEADLINE, or set CITEWISE_REVISE=0.",
                    kind="timeout",
                    retryable=True,
                )
            yield item
