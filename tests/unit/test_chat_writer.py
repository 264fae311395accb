"""The writer that asks a chat model, with a model that says what a test wants."""

from collections.abc import Iterator, Sequence
from math import inf

import pytest

from rag.chat_writer import ChatWriter
from rag.context import Window
from rag.domain import Abstained, Cite, Note, Piece, Removed, Source, Turn, Usage
from rag.languages import LANGUAGES, LanguageChoice
from rag.llm import Completion, PromptTooLong
from rag.prompting import Message, load_prompt
from rag.questions import read_question
from rag.tokens import count_tokens
from tests.builders import paper


class Model:
    """Streams the given deltas; `messages` is what it was sent."""

    model = "test-model"

    def __init__(self, *deltas: str, finish: str = "stop", read: int = 10) -> None:
        self._deltas, self._finish, self._read = deltas, finish, read
        self.messages: Sequence[Message] = ()

    def stream(self, messages: Sequence[Message], *, until: float = inf) -> Iterator[str | Completion]:
        self.messages = messages
        yield from self._deltas
        yield Completion(usage=Usage(self._read, 5, 1), finish=self._finish)


def write(*deltas: str, finish: str = "stop", context_tokens: int = 4096, count: int = 2) -> list[Piece]:
    writer = ChatWriter(
        model=Model(*deltas, finish=finish),
        prompt=load_prompt("answer", "v1"),
        window=Window(context_tokens, 200),
    )
    given = [Source(number, paper(f"p{number}", abstract="word " * 300), ()) for number in range(1, count + 1)]
    return list(writer.write(read_question("What?"), sources=given, history=()))


def test_a_language_is_asked_for_at_the_end_and_a_model_that_does_not_obey_is_told_of() -> None:
    def notes(language: LanguageChoice, reply: str) -> list[str]:
        model = Model(reply)
        writer = ChatWriter(
            model=model, prompt=load_prompt("answer", "v1"), window=Window(4096, 200), language=language
        )
        pieces = list(writer.write(read_question("What decays?"), sources=[Source(1, paper(), ())], history=()))
        asked = model.messages[-1]["content"]
        assert asked.endswith("What decays?" if language == "auto" else f"\n\nAnswer in {LANGUAGES[language]}.")
        return [piece.text for piece in pieces if isinstance(piece, Note)]

    english, german = "The traces decay over time [1].", "Die Spuren zerfallen mit der Zeit [1]."
    assert "answered in English, although German" in notes("de", english)[0]
    assert "another language, although English" in notes("en", german)[0]
    assert notes("de", german) == notes("en", english) == notes("auto", english) == notes("auto", german) == []
    assert notes("ja", "記憶の痕跡は時間とともに減衰する [1]。") == notes("sv", "Spåren avtar med tiden [1].") == []


def text(pieces: list[Piece]) -> str:
    return "".join(piece for piece in pieces if isinstance(piece, str))


def test_text_and_citations_come_apart() -> None:
    pieces = write("Traces ", "decay [", "2]. They help [1].")
    assert [piece for piece in pieces if isinstance(piece, Cite)] == [Cite(2), Cite(1)]
    assert text(pieces) == "Traces decay. They help."
    assert pieces[-1] == Usage(10, 5, 1)


def test_a_marker_of_no_source_is_removed() -> None:
    pieces = write("Traces decay [9].")
    assert [piece for piece in pieces if isinstance(piece, Removed)] == [Removed("[9]")]


@pytest.mark.parametrize(
    "reply", [["NOT IN THE SOURCES"], ["Not in ", "the sources."], ["**NOT", " IN THE SOURCES**\n"]]
)
def test_the_models_own_abstention_is_one(reply: list[str]) -> None:
    assert [piece for piece in write(*reply) if piece] == [Abstained(), Usage(10, 5, 1)]


def test_an_answer_that_begins_alike_is_an_answer() -> None:
    assert text(write("Not in", " the least: it is fast [1].")) == "Not in the least: it is fast."


def test_the_start_of_an_answer_is_not_held_back_once_it_is_clear() -> None:
    assert write("Traces", " decay [1].")[0] == "Traces"


def test_an_answer_cut_at_the_limit_says_so() -> None:
    notes = [piece for piece in write("Traces decay [1].", finish="length") if isinstance(piece, Note)]
    assert "length limit" in notes[0].text


def test_papers_that_do_not_fit_are_named_and_cannot_be_cited() -> None:
    pieces = write("A [1]. B [8].", context_tokens=1200, count=8)
    assert "did not fit" in next(piece for piece in pieces if isinstance(piece, Note)).text
    assert [piece for piece in pieces if isinstance(piece, Cite)] == [Cite(1)]


def test_while_nothing_can_be_shown_the_consumer_gets_control() -> None:
    pieces = write("", "Not", "", " in", " truth", "", ": it decays [", "", "1].")
    assert pieces.count("") >= 5
    assert text(pieces) == "Not in truth: it decays."


class Overflowing(Model):
    """Refuses the first prompts as too long, then streams; `prompts` keeps what it was sent."""

    def __init__(self, *deltas: str, refusals: int, n_ctx: int | None = None) -> None:
        super().__init__(*deltas)
        self._refusals, self._n_ctx = refusals, n_ctx
        self.prompts: list[str] = []

    def stream(self, messages: Sequence[Message], *, until: float = inf) -> Iterator[str | Completion]:
        self.prompts.append("\n".join(message["content"] for message in messages))
        yield ""
        if len(self.prompts) <= self._refusals:
            raise PromptTooLong("It is too long.", fix="Shorten it.", kind="context_too_long", n_ctx=self._n_ctx)
        yield from super().stream(messages)


def overflow(model: Overflowing, *, count: int = 8, turns: int = 0, abstract: str = "word " * 30) -> Iterator[Piece]:
    writer = ChatWriter(
        model=model,
        prompt=load_prompt("answer", "v1"),
        window=Window(4096, 200),
    )
    given = [Source(number, paper(f"p{number}", abstract=abstract), ()) for number in range(1, count + 1)]
    history = [Turn(f"question {number}?", "An answer.") for number in range(1, turns + 1)]
    return writer.write(read_question("What?"), sources=given, history=history)


def test_a_prompt_that_is_too_long_loses_the_lower_half_of_its_sources_and_its_older_turns() -> None:
    model = Overflowing("It decays [4]. Or so [5].", refusals=1)
    pieces = list(overflow(model, count=7, turns=3))
    assert "[7] " in model.prompts[0]
    assert "[4] " in model.prompts[1]
    assert "[5] " not in model.prompts[1]
    assert "question 3?" in model.prompts[1]
    assert "question 2?" not in model.prompts[1]
    assert [piece for piece in pieces if isinstance(piece, Cite | Removed)] == [Cite(4), Removed("[5]")]
    assert [piece for piece in pieces if isinstance(piece, Usage)] == [Usage(0, 0, 1), Usage(10, 5, 1)]
    notes = [piece.text for piece in pieces if isinstance(piece, Note)]
    assert "from 7 papers to 4 and from 3 earlier turns to 1" in notes[0]


def test_a_window_that_the_server_tells_is_kept_to() -> None:
    model = Overflowing("It decays [1].", refusals=1, n_ctx=1000)
    list(overflow(model, abstract="word " * 120))
    assert count_tokens(model.prompts[1]) <= 800
    assert "[2] " in model.prompts[1]
    assert "[4] " not in model.prompts[1]


def test_a_second_overflow_is_the_failure_and_the_shortening_is_told() -> None:
    pieces: list[Piece] = []
    with pytest.raises(PromptTooLong):
        pieces.extend(overflow(Overflowing(refusals=2)))
    assert "shortened" in next(piece.text for piece in pieces if isinstance(piece, Note))


def test_where_there_is_nothing_to_leave_out_nothing_is_sent_again() -> None:
    model = Overflowing(refusals=2)
    with pytest.raises(PromptTooLong):
        list(overflow(model, count=1))
    assert len(model.prompts) == 1


def test_a_bound_on_the_sources_keeps_the_best_ones_without_a_remark() -> None:
    model = Overflowing("It decays [2]. Or so [3].", refusals=0)
    writer = ChatWriter(model=model, prompt=load_prompt("answer", "v1"), window=Window(4096, 200, most_sources=2))
    given = [Source(number, paper(f"p{number}"), ()) for number in range(1, 5)]
    pieces = list(writer.write(read_question("What?"), sources=given, history=()))
    assert "[2] " in model.prompts[0]
    assert "[3] " not in model.prompts[0]
    assert [piece for piece in pieces if isinstance(piece, Cite | Removed | Note)] == [Cite(2), Removed("[3]")]


@pytest.mark.parametrize(("read", "told"), [(2048, True), (2600, False), (3500, False), (0, False)])
def test_a_server_that_cuts_the_prompt_without_an_error_is_noticed_by_its_count(read: int, told: bool) -> None:
    model = Model("Traces decay [1].", read=read)
    writer = ChatWriter(model=model, prompt=load_prompt("answer", "v1"), window=Window(8192, 200))
    sources = [Source(number, paper(f"p{number}", abstract="word " * 300), ()) for number in range(1, 10)]
    pieces = list(writer.write(read_question("What?"), sources=sources, history=()))
    sent = sum(count_tokens(message["content"]) for message in model.messages)
    assert 2731 < sent < 3466  # of which 2,048 is less than three quarters, and 2,600 is not
    notes = [piece.text for piece in pieces if isinstance(piece, Note)]
    assert notes == [note for note in notes if "OLLAMA_CONTEXT_LENGTH" in note]
    assert bool(notes) is told
