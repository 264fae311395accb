"""What a weak model is not asked: questions whose answer the abstracts do not give, or that they contradict."""

from collections.abc import Iterator, Sequence
from math import inf

from rag.domain import Piece, Source, Turn
from rag.extractive import papers_asked_about
from rag.near_miss import unsaid
from rag.premises import find_correction
from rag.questions import Question
from rag.wrapping import WrappedWriter


class ScreenedWriter(WrappedWriter):
    """A writer that a small model stands behind; such models answer what nobody told them.

    Where the abstracts do not say what is asked for, or contradict what the question takes for granted, `instead` says
    so, and no model is called.
    """

    def write(
        self, question: Question, *, sources: Sequence[Source], history: Sequence[Turn], until: float = inf
    ) -> Iterator[Piece]:
        """The pieces of the one or the other writer."""
        writer = self._instead if _is_unanswered(question, sources) else self._writer
        yield from writer.write(question, sources=sources, history=history, until=until)


def _is_unanswered(question: Question, sources: Sequence[Source]) -> bool:
    asked_about = papers_asked_about(question, sources)
    if not asked_about or question.many.form != "prose":
        return False
    contradicted = find_correction(question, asked_about[0]) is not None
    return contradicted or unsaid(question, [source.paper for source in asked_about]) is not None
