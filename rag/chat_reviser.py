"""The reviser that asks a chat model: one more call names what is wrong in an answer and asks for it without that."""

from collections.abc import Iterator, Sequence

from rag.chat_writer import Model, read_reply
from rag.context import Window
from rag.domain import Piece, Source
from rag.languages import LanguageChoice, asked_in
from rag.prompting import Prompt, fill_revise_prompt


class ChatReviser:
    """Revises answers by a chat model. `label` names the prompt."""

    def __init__(
        self, *, model: Model, prompt: Prompt, window: Window, rounds: int, language: LanguageChoice = "auto"
    ) -> None:
        self._model, self._prompt, self._window, self._language = model, prompt, window, language
        self.rounds, self.label = rounds, prompt.label

    def revise(
        self, question: str, *, sources: Sequence[Source], answer: str, faults: Sequence[str], until: float
    ) -> Iterator[Piece]:
        """The corrected answer's pieces, then its usage, by `until` (in `time.monotonic`). Raises EndpointError."""
        filled = fill_revise_prompt(
            self._prompt,
            question=asked_in(question, language=self._language),
            sources=sources[: self._window.most_sources],
            answer=answer,
            faults=faults,
            budget=self._window.budget,
            context=self._window.context,
        )
        yield from read_reply(self._model.stream(filled.messages, until=until), sources=filled.sources)
