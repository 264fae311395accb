"""Answers that never came to their end, as failed ones: stopped, refused, or lost with the server."""

from collections.abc import Sequence

from rag.domain import Answer, Citation, Cited, Marker, Paper, Retrieved, TextPart, Timings, Usage
from rag.errors import CitewiseError
from ui.render import streamed_text


def stopped_answer(question: str, found: Retrieved | None, parts: Sequence[TextPart | Cited]) -> Answer:
    """What there was of an answer when its reader stopped it; its citations are not checked."""
    text, spans = streamed_text(parts)
    numbers: dict[int, Paper] = {part.number: part.paper for part in parts if isinstance(part, Cited)}
    cited = [part.number for part in parts if isinstance(part, Cited)]
    return _failed(
        question,
        "It was stopped before it was finished.",
        "Its citations are not checked.",
        searched=found.searched if found else question,
        text=text,
        markers=tuple(Marker(span, number) for span, number in zip(spans, cited, strict=True)),
        citations=tuple(Citation(number, paper, ()) for number, paper in numbers.items()),
        retrieved=found.papers if found else (),
    )


def unanswered(question: str, error: CitewiseError) -> Answer:
    """The answer to a question that could not even be searched for."""
    return _failed(question, error.problem, error.fix)


def lost_answer(question: str) -> Answer:
    """The answer that is not there: the page's process ended while it was being written, or its record is damaged."""
    return _failed(question, "It was not finished.", "Ask again.")


def _failed(question: str, problem: str, fix: str, **known: object) -> Answer:
    nothing: dict[str, object] = {
        "searched": "",
        "text": "",
        "sentences": (),
        "markers": (),
        "citations": (),
        "retrieved": (),
    }
    return Answer(
        question=question,
        outcome="failed",
        writer="",
        model=None,
        prompt=None,
        usage=Usage(),
        timings=Timings(),
        problem=problem,
        fix=fix,
        **(nothing | known),  # type: ignore[arg-type]
    )
