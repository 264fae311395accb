"""The writer that asks a chat model: one call a question, streamed, its citations read while it streams."""

import re
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from itertools import chain
from math import inf
from typing import Protocol

from rag.citations import parse_citations
from rag.context import Window
from rag.domain import Abstained, Note, Piece, Source, Turn, Usage
from rag.languages import LANGUAGES, LanguageChoice, asked_in
from rag.llm import Completion, PromptTooLong
from rag.prompting import FilledPrompt, Message, Prompt, fill_answer_prompt
from rag.questions import Question
from rag.support.language import is_english, is_foreign
from rag.tokens import count_tokens

SENTINEL = "not in the sources"
_LONGEST_START = 60
"""Characters of a reply that are held back at most until it is clear whether it begins with the sentinel."""
_SMALLEST_WINDOW = 2048
_READ_WHOLE = 0.75
"""Share of our count of a prompt's tokens that a server reports at least which read all of it: tokenizers differ."""


class Model(Protocol):
    """A chat model, as a writer needs it."""

    model: str | None

    def stream(self, messages: Sequence[Message], *, until: float = inf) -> Iterator[str | Completion]:
        """The reply's text as it comes, then how it ended, by `until` at the latest (in `time.monotonic`)."""
        ...


class ChatWriter:
    """Writes by a chat model from numbered sources. `warning` is a remark that stands at each of its answers."""

    def __init__(
        self,
        *,
        model: Model,
        prompt: Prompt,
        window: Window,
        name: str = "chat",
        warning: str | None = None,
        language: LanguageChoice = "auto",
    ) -> None:
        self.name, self._warning, self._language = name, warning, language
        self._model, self._prompt, self._window = model, prompt, window
        self.prompt = prompt.label

    @property
    def model(self) -> str | None:
        return self._model.model

    def write(
        self, question: Question, *, sources: Sequence[Source], history: Sequence[Turn], until: float = inf
    ) -> Iterator[Piece]:
        """The answer's pieces as they come, then the usage.

        A prompt that the endpoint finds too long is shortened and sent once more. Raises EndpointError, also amid the
        pieces, where the endpoint fails.
        """
        if self._warning:
            yield Note(self._warning)
        sources = sources[: self._window.most_sources]
        filled = self._fill(question, sources, history, budget=self._window.budget)
        if filled.sources < len(sources):
            yield Note(f"{len(sources) - filled.sources} of {len(sources)} papers did not fit into the model's window.")
        try:
            yield from self._reply(filled, until=until)
            return
        except PromptTooLong as error:
            shorter = self._shorten(filled, question, sources, history, n_ctx=error.n_ctx)
            if shorter is None:
                raise
        yield Usage(prompt_tokens=0, completion_tokens=0, calls=1)  # the request that was refused
        yield Note(
            "The prompt was too long for the model: it was shortened from "
            f"{filled.sources} papers to {shorter.sources} and from {filled.turns} earlier turns to {shorter.turns}."
        )
        yield from self._reply(shorter, until=until)

    def _reply(self, sent: FilledPrompt, *, until: float) -> Iterator[Piece]:
        text = ""
        with closing(read_reply(self._model.stream(sent.messages, until=until), sources=sent.sources)) as pieces:
            for piece in pieces:
                yield piece
                if isinstance(piece, str):
                    text += piece
                if isinstance(piece, Usage) and (remark := cut_silently(sent, read=piece.prompt_tokens)):
                    yield Note(remark)
        if remark := wrong_language(text, asked=self._language):
            yield Note(remark)

    def _fill(
        self, question: Question, sources: Sequence[Source], history: Sequence[Turn], *, budget: int
    ) -> FilledPrompt:
        return fill_answer_prompt(
            self._prompt,
            question=asked_in(question.text, language=self._language),
            sources=sources,
            history=history,
            budget=budget,
            context=self._window.context,
        )

    def _shorten(
        self,
        sent: FilledPrompt,
        question: Question,
        sources: Sequence[Source],
        history: Sequence[Turn],
        *,
        n_ctx: int | None,
    ) -> FilledPrompt | None:
        """The prompt with the better half of its sources and the newer half of its turns, or less where `n_ctx` says.

        None where there is nothing to leave out.
        """
        budget = self._window.budget
        if n_ctx is not None:
            budget = min(budget, n_ctx - self._window.max_output_tokens)
        turns = history[len(history) - sent.turns // 2 :]
        shorter = self._fill(question, sources[: (sent.sources + 1) // 2], turns, budget=budget)
        return shorter if (shorter.sources, shorter.turns) != (sent.sources, sent.turns) else None


def cut_silently(sent: FilledPrompt, *, read: int | None) -> str | None:
    """A remark where a server tells that it `read` far fewer tokens than were sent, as Ollama does without an error."""
    tokens = sum(count_tokens(message["content"]) for message in sent.messages)
    if not read or tokens < _SMALLEST_WINDOW or read >= _READ_WHOLE * tokens:
        return None
    return (
        f"The server read only {read:,} of about {tokens:,} tokens, so some papers may not have reached the model: "
        "give it a larger window (with Ollama: OLLAMA_CONTEXT_LENGTH), or lower CITEWISE_CONTEXT_TOKENS."
    )


def wrong_language(text: str, *, asked: LanguageChoice) -> str | None:
    """A remark where an answer is in English and should not be, or should be and is not: small models do that."""
    if asked == "en" and is_foreign(text):
        said = "another language"
    elif asked not in ("auto", "en") and is_english(text):
        said = "English"
    else:
        return None
    return f"The model answered in {said}, although {LANGUAGES[asked]} was asked for; a larger one may obey."


def read_reply(stream: Iterator[str | Completion], *, sources: int) -> Generator[Piece]:
    """The pieces of a model's reply that was given the sources 1..`sources`, then its usage.

    Raises what the stream raises.
    """
    ends: list[Completion] = []
    deltas = _text_of(stream, ends)
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
        yield from parse_citations(chain([start], deltas), sources=sources)
    yield ends[0].usage
    if ends[0].finish == "length":
        yield Note("The model's answer was cut at its length limit (CITEWISE_MAX_OUTPUT_TOKENS).")


def _text_of(stream: Iterable[str | Completion], ends: list[Completion]) -> Iterator[str]:
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
