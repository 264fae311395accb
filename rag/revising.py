"""Verify and revise: what the check finds wrong in an answer is sent back, and what stays wrong may be dropped."""

import re
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Protocol

from rag.assembly import assemble
from rag.domain import Abstained, Answer, AnswerSentence, Cite, Note, Piece, Quote, Source, TextPart, Usage
from rag.errors import EndpointError

Check = Callable[[Sequence[Piece]], Answer]
"""Puts an answer together from its pieces and checks every sentence."""

_FIGURE_IS_MISSING = re.compile(r"\W*\d.* (?:not|none) (?:in|of) the cited abstracts?")
"""The reason of a verdict on a sentence with a number that the cited abstracts do not have."""


class Reviser(Protocol):
    """Who corrects answers, at most `rounds` times each. `label` names its prompt."""

    rounds: int
    label: str

    def revise(
        self, question: str, *, sources: Sequence[Source], answer: str, faults: Sequence[str], until: float
    ) -> Iterator[Piece]:
        """The corrected answer's pieces, by `until` at the latest (in `time.monotonic`). Raises EndpointError."""
        ...


def revise(
    pieces: Sequence[Piece],
    *,
    question: str,
    sources: Sequence[Source],
    reviser: Reviser,
    check: Check,
    until: float,
) -> Generator[TextPart, None, list[Piece]]:
    """Returns the pieces of the best answer after the reviser's rounds, with notes on them and the usage of all calls.

    A revision is kept only where fewer of its sentences are wrong. Meanwhile empty parts give the consumer control.
    `until` is when the question's time is up, in `time.monotonic`.
    """
    kept = list(pieces)
    for _ in range(reviser.rounds):
        answer = check(kept)
        faulty = [sentence for sentence in answer.sentences if is_faulty(sentence)]
        if answer.outcome != "answered" or not faulty:
            break
        revised: list[Piece] = []
        try:
            for piece in reviser.revise(
                question, sources=sources, answer=_as_written(kept), faults=_listed(faulty), until=until
            ):
                revised.append(piece)
                yield TextPart("")
        except EndpointError as error:
            kept.append(Note(f"A revision of the answer failed, the first one stands: {error.problem}"))
            break
        if not _is_better(check(revised), answer):
            kept += [*_usages(revised), Note("A revision of the answer did no better; the first one stands.")]
            break
        told = f"The answer was revised ({reviser.label}): {len(faulty)} sentence(s) said what no cited abstract says."
        kept = [*_usages(kept), *revised, Note(told)]
    return kept


def drop_unsupported(pieces: Sequence[Piece], *, check: Check) -> list[Piece]:
    """`pieces` without the sentences that are unsupported, and a note on how many there were.

    Where no sentence with a citation is left, the answer is an abstention.
    """
    answer = check(pieces)
    dropped = sum(sentence.support == "unsupported" for sentence in answer.sentences)
    if not dropped:
        return list(pieces)
    assembled = assemble(pieces)
    text: list[Piece] = []
    position, any_is_cited = 0, False
    for place, sentence in zip(assembled.sentences, answer.sentences, strict=True):
        gap, position = assembled.plain[position : place.end - len(place.text)], place.end
        if sentence.support != "unsupported":
            text += [gap if text else "", place.text, *map(Cite, place.sources)]
            any_is_cited |= bool(sentence.citations)
    remarks = [piece for piece in pieces if not isinstance(piece, str | Quote | Cite)]
    if not any_is_cited:
        text = [Abstained()]
    return [*text, *remarks, Note(f"{dropped} sentence(s) that no cited abstract supports were left out.")]


def is_faulty(sentence: AnswerSentence) -> bool:
    """Whether a sentence is unsupported, or has a number that no cited abstract has."""
    return sentence.support == "unsupported" or (sentence.support == "partly" and lacks_a_figure(sentence))


def lacks_a_figure(sentence: AnswerSentence) -> bool:
    """Whether the check by words found a number in a sentence that no cited abstract has."""
    return _FIGURE_IS_MISSING.match(sentence.reason) is not None


def total_usage(pieces: Sequence[Piece]) -> Usage:
    """The usage of all calls; a count is None where one of them did not tell it."""
    usages = _usages(pieces)
    return Usage(
        _sum([usage.prompt_tokens for usage in usages]),
        _sum([usage.completion_tokens for usage in usages]),
        sum(usage.calls for usage in usages),
    )


def _sum(counts: Sequence[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known and len(known) == len(counts) else None


def _usages(pieces: Sequence[Piece]) -> list[Usage]:
    return [piece for piece in pieces if isinstance(piece, Usage)]


def _as_written(pieces: Sequence[Piece]) -> str:
    """The answer with the numbers of the sources, as a writer was given them."""
    texts = [f" [{piece.source}]" if isinstance(piece, Cite) else piece for piece in pieces]
    return "".join(text for text in texts if isinstance(text, str)).strip()


def _listed(faulty: Sequence[AnswerSentence]) -> list[str]:
    return [f"“{' '.join(sentence.text.split())}”: {sentence.reason}" for sentence in faulty]


def _is_better(revised: Answer, first: Answer) -> bool:
    """Whether fewer sentences are wrong. An abstention is better only than an answer without a supported sentence."""
    if revised.outcome == "not_in_corpus":
        return not any(sentence.support == "supported" for sentence in first.sentences)
    wrong, wrong_before = (sum(map(is_faulty, answer.sentences)) for answer in (revised, first))
    return bool(revised.citations) and wrong < wrong_before
