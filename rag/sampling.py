"""Best of n: of several samples of a chat model the most complete one that the abstracts support well enough."""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from typing import NamedTuple, cast

from rag.domain import Abstained, Answer, Note, Piece, Source, TextPart, Usage
from rag.errors import CitewiseError
from rag.revising import Check, is_faulty

TEMPERATURE = 0.7
"""At 0 all samples are the same."""
LEAST_SUPPORT = 0.75
"""The mean support of a sample's sentences, partly counting half, from which it may be the answer."""
_LEAST_SHARE = 0.2
"""A sentence bears on the question from this share of the likeliest one's probability on."""


class _Sample(NamedTuple):
    pieces: list[Piece]
    answer: Answer


def best_sample(
    draw: Callable[[], Iterator[Piece]], *, samples: int, sources: Sequence[Source], check: Check
) -> Generator[TextPart, None, list[Piece]]:
    """The pieces of the best of `samples`, with the usage of all and a note; of an abstention where none is supported.

    Nothing is shown before the last sample is there: meanwhile empty parts give the consumer control. A sample that
    fails, as one does that is not there in time, is left out; where all fail, the first fault is raised.
    """
    drawn: list[_Sample] = []
    lost: list[Piece] = []
    faults: list[CitewiseError] = []
    for _ in range(samples):
        pieces: list[Piece] = []
        try:
            yield from _draw(draw(), pieces)
        except CitewiseError as error:
            faults.append(error)
            lost += [piece for piece in pieces if isinstance(piece, Usage)]
        else:
            drawn.append(_Sample(pieces, check(pieces)))
    if not drawn:
        raise faults[0]
    best = _choose(drawn, sources)
    others = [piece for sample in drawn if sample is not best for piece in sample.pieces if isinstance(piece, Usage)]
    compared = f"{len(drawn)} of {samples} samples of the model were compared"
    if best is None:
        return [Abstained(), *lost, *others, Note(f"{compared}: none was supported well enough.")]
    return [*best.pieces, *lost, *others, Note(f"{compared}: the most complete supported one is shown.")]


def completeness(answer: Answer, sources: Sequence[Source]) -> float:
    """The share, 0..1, of what bears on the question that the answer has its evidence in, weighted by probability."""
    evidence = {citation.paper.paper_id: [item.span for item in citation.evidence] for citation in answer.citations}
    likeliest = max((sentence.probability for source in sources for sentence in source.sentences), default=0.0)
    covered = total = 0.0
    for source in sources:
        for sentence in source.sentences:
            if sentence.probability >= _LEAST_SHARE * likeliest:
                total += sentence.probability
                spans = evidence.get(source.paper.paper_id, [])
                covered += sentence.probability * any(
                    span.start < sentence.span.end and sentence.span.start < span.end for span in spans
                )
    return covered / total if total else 0.0


def support(answer: Answer) -> float:
    """The mean support of the answer's sentences, 0..1: none for one with a number that no source has."""
    worth = [0.0 if is_faulty(sentence) else _WORTH[sentence.support] for sentence in answer.sentences]
    return sum(worth) / len(worth) if answer.citations and worth else 0.0


_WORTH = {"supported": 1.0, "partly": 0.5, "unsupported": 0.0}


def _draw(stream: Iterator[Piece], pieces: list[Piece]) -> Iterator[TextPart]:
    """Puts the stream's pieces into `pieces`, and closes it with its own."""
    with closing(cast(Generator[Piece, None, None], stream)):
        for piece in stream:
            pieces.append(piece)
            yield TextPart("")


def _choose(drawn: Sequence[_Sample], sources: Sequence[Source]) -> _Sample | None:
    fit = [s for s in drawn if s.answer.outcome == "answered" and support(s.answer) >= LEAST_SUPPORT]
    return max(
        fit,
        key=lambda sample: (completeness(sample.answer, sources), support(sample.answer), -len(sample.answer.text)),
        default=None,
    )
