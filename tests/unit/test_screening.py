"""What a weak model is not asked."""

from collections.abc import Iterator, Sequence
from math import inf

import pytest

from rag.domain import Piece, RankedSentence, Source, Span, Turn
from rag.questions import Question, read_question
from rag.screening import ScreenedWriter
from tests.builders import paper

ABSTRACT = "We present MILS, a training-free approach. It needs one discount parameter in its loss."


class Named:
    """Writes its name."""

    model: str | None = None
    prompt: str | None = None

    def __init__(self, name: str) -> None:
        self.name = name

    def write(
        self, question: Question, *, sources: Sequence[Source], history: Sequence[Turn], until: float = inf
    ) -> Iterator[Piece]:
        yield self.name


def source() -> Source:
    end = ABSTRACT.index(".") + 1
    spans = (Span(0, end), Span(end + 1, len(ABSTRACT)))
    sentences = tuple(RankedSentence(span, ABSTRACT[span.start : span.end], 0.9, 0.5) for span in spans)
    return Source(1, paper("p", title="MILS", abstract=ABSTRACT), sentences, 0.6, frozenset({"MILS"}))


@pytest.mark.parametrize(
    ("question", "writer"),
    [
        ("What is MILS?", "model"),
        ("What learning rate does MILS use?", "quotes"),
        ("On which data was MILS fine-tuned?", "quotes"),
        ("Which papers present MILS?", "model"),
    ],
)
def test_a_weak_model_is_asked_only_what_the_abstract_may_say(question: str, writer: str) -> None:
    screened = ScreenedWriter(Named("model"), instead=Named("quotes"))
    assert list(screened.write(read_question(question), sources=[source()], history=())) == [writer]
    assert list(screened.write(read_question(question), sources=[], history=())) == ["model"]
