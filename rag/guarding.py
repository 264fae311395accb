"""Walls around a chat model: no hidden instruction reaches it, and nothing of its text shows that must not."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from math import inf
from typing import TYPE_CHECKING

from rag.cleaning import clean_deltas, visible, without_template_tokens
from rag.domain import Abstained, Cite, Note, Piece, Quote, Source, Turn
from rag.errors import CitewiseError, EndpointError
from rag.llm import Completion
from rag.prompting import Message
from rag.questions import Question
from rag.wrapping import WrappedWriter

if TYPE_CHECKING:
    from rag.chat_writer import Model

_FENCE = re.compile(r"(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])")
"""A request's fence as `rag.prompting` makes it, without the signs around it."""
RECITED_WORDS = 8
"""So many words in the prompt's own order are the prompt. The shortest refusal that it asks for has four."""
_LONGEST_WORD = 40
FEWEST_WORDS = 4
_NUMBER = re.compile(r"\d[\d.,]*\w{0,3}")
_WORD = re.compile(r"[\u3040-\u9fff\uac00-\ud7af]|\w(?:[\w'’.,-]*\w)?")


class GuardedModel:
    """A chat model that is sent no invisible character and no chat-template token, and whose text is cleaned.

    Its text never shows the request's fence, `secrets` (keys), or `RECITED_WORDS` words of the system prompt in a row.
    """

    def __init__(self, model: "Model", *, secrets: Collection[str] = ()) -> None:
        self._model, self._secrets = model, tuple(secrets)
        self.model = model.model

    def stream(self, messages: Sequence[Message], *, until: float = inf) -> Iterator[str | Completion]:
        """The cleaned text as it comes, then how it ended; where the endpoint fails, what was held back comes first."""
        sent = [{**message, "content": prompt_copy(message["content"])} for message in messages]
        system = "\n".join(message["content"] for message in sent if message["role"] == "system")
        given = "\n".join(message["content"] for message in sent if message["role"] != "system")
        hidden = (*dict.fromkeys(_FENCE.findall(system)), *self._secrets)
        ends: list[Completion | CitewiseError] = []
        deltas = _until_end(self._model.stream(sent, until=until), ends)
        yield from without_recital(clean_deltas(deltas, hidden=hidden, known=given), prompt=system)
        self.model = self._model.model
        for end in ends:
            if isinstance(end, CitewiseError):
                raise end
            yield end


def prompt_copy(text: str) -> str:
    """`text` as a model is sent it: nothing that its reader would not see, and no chat-template token."""
    return without_template_tokens(visible(text))


def _until_end(stream: Iterator[str | Completion], ends: list[Completion | CitewiseError]) -> Iterator[str]:
    """The stream's text; its end, or the fault that it ends with, is put into `ends`."""
    try:
        for item in stream:
            if isinstance(item, str):
                yield item
            else:
                ends.append(item)
    except CitewiseError as error:
        ends.append(error)


def without_recital(deltas: Iterable[str], *, prompt: str) -> Iterator[str]:
    """The text of `deltas` without the passages that repeat `prompt` word for word, `RECITED_WORDS` words or more.

    Case and punctuation do not count. What is held back are the words that may begin such a passage.
    """
    recital = _Recital(prompt)
    for delta in deltas:
        yield "".join(part for part in map(recital.take, delta) if part)
    yield recital.finish()


class _Recital:
    """Holds the words that stand in the prompt in the same order; from `RECITED_WORDS` of them on, drops them."""

    def __init__(self, prompt: str) -> None:
        self._prompt = f" {' '.join(filter(None, map(_plain, prompt.split())))} "
        self._held: list[tuple[str, str]] = []
        """Each held word, plain ("" for bare punctuation), with the text that it stands in."""
        self._word = ""
        self._is_long = False
        self._recites = False

    def take(self, character: str) -> str:
        self._word += character
        if self._is_long or not character.isspace():
            if len(self._word) <= _LONGEST_WORD and not self._is_long:
                return ""
            shown = self._let_go() if not self._is_long else ""
            self._is_long, self._recites = not character.isspace(), False
            text, self._word = shown + self._word, ""
            return text
        text, self._word = self._word, ""
        return self._end_word(text)

    def finish(self) -> str:
        text, self._word = self._word, ""
        shown = self._end_word(text) if text and not self._is_long else text
        return shown + self._let_go()

    def _end_word(self, text: str) -> str:
        plain = _plain(text)
        if not plain:
            if self._held or self._recites:
                self._held.append(("", text))
                return ""
            return text
        shown = ""
        while self._held and not self._is_recited(plain):
            shown += self._drop_or_let_go()
        if not self._is_recited(plain):
            return shown + text
        self._held.append((plain, text))
        if sum(bool(word) for word, _ in self._held) >= RECITED_WORDS:
            self._recites = True
        return shown

    def _is_recited(self, plain: str) -> bool:
        words = [word for word, _ in self._held if word]
        return f" {' '.join([*words, plain])} " in self._prompt

    def _drop_or_let_go(self) -> str:
        if self._recites:
            self._held.clear()
            self._recites = False
            return ""
        return self._held.pop(0)[1]

    def _let_go(self) -> str:
        shown = "" if self._recites else "".join(text for _, text in self._held)
        self._held.clear()
        self._recites = False
        return shown


def _plain(word: str) -> str:
    return re.sub(r"[\W_]+", "", word).casefold()


class GuardedWriter(WrappedWriter):
    """A writer whose reply is not shown where it is a word or two without a citation: nothing in it can be checked.

    An abstract that says "answer with X" gets its X this way, and X then stands in an abstract, once. Where the reply
    is a number, or a name that a paper has in its title or in two sentences, `instead` answers; else it is a failure.
    """

    def write(
        self, question: Question, *, sources: Sequence[Source], history: Sequence[Turn], until: float = inf
    ) -> Iterator[Piece]:
        """The writer's pieces; in place of a number or a name that cannot be checked, those of `instead`.

        Raises EndpointError in place of another reply that is too short to be checked.

        What the writer remarks beside its text is passed on at once, and so is a short text that a fault cuts off.
        """
        held = ""
        settled = False
        try:
            for piece in self._writer.write(question, sources=sources, history=history, until=until):
                if settled or not isinstance(piece, str):
                    if isinstance(piece, Cite | Quote | Abstained) and not settled:
                        settled = True
                        yield held
                    yield piece
                    continue
                held += piece
                settled = not _is_too_short(held)
                yield held if settled else ""
        except CitewiseError:
            if not settled:
                yield held
            raise
        if settled:
            return
        if not _is_quantity(held) and not any(_is_named(held, source) for source in sources):
            said = "a word or two and no citation, which cannot be checked" if held.strip() else "nothing to show"
            raise EndpointError(
                f"The model replied with {said}.",
                fix="Ask again or ask for a sentence; a stronger model cites.",
                kind="uncheckable",
                retryable=True,
            )
        yield Note("The model replied with a word or two and no citation, which cannot be checked: quoted instead.")
        yield from self._instead.write(question, sources=sources, history=history, until=until)


def _is_too_short(text: str) -> bool:
    return len(text) <= _LONGEST_WORD * 2 and len(_WORD.findall(text)) < FEWEST_WORDS


def _is_quantity(text: str) -> bool:
    """Whether a reply is a number, maybe with its unit: 22.3%, 40 GB."""
    words = _WORD.findall(text)
    numbers = [word for word in words if _NUMBER.fullmatch(word)]
    return bool(numbers) and len(words) - len(numbers) <= 1


def _is_named(text: str, source: Source) -> bool:
    """Whether a paper has these words, in order, in its title or in two sentences of its abstract."""
    words = " ".join(_WORD.findall(text)).casefold()
    name = re.compile(rf"(?<!\w){re.escape(words)}(?!\w)")
    held = [sentence for sentence in source.sentences if name.search(sentence.text.casefold())]
    return bool(words) and (len(held) > 1 or name.search(source.paper.title.casefold()) is not None)
