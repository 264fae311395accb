"""A second opinion on support: a chat model judges, in one call, the sentences that the check by words has judged."""

import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from rag.domain import Answer, AnswerSentence, Note, Paper, Piece, Support, TextPart, Usage
from rag.errors import EndpointError
from rag.revising import lacks_a_figure
from rag.textnorm import contains_verbatim

Verdicts = Mapping[str, Support]
"""The verdict on each judged sentence, by its text."""

ATTEMPTS = 2
"""Calls for one answer: an unreadable reply is asked for once more."""
_WORDS: Mapping[str, Support] = {"supported": "supported", "partly": "partly", "unsupported": "unsupported"}
_LINE = re.compile(r"\W*(\d+)\W+([a-z]+)\W*", re.IGNORECASE)
_REASONS: Mapping[Support, str] = {
    "supported": "the cited abstracts say it",
    "partly": "the cited abstracts say only a part of it",
    "unsupported": "the cited abstracts do not say it",
}


class Judge(Protocol):
    """Who judges. `label` names the model and the prompt."""

    @property
    def label(self) -> str: ...

    def judge(
        self, sentences: Sequence[AnswerSentence], *, papers: Mapping[int, Paper], until: float
    ) -> Iterator[str | Usage]:
        """One reply, piece by piece, on the numbered sentences, and the call's usage, by `until`.

        Raises EndpointError.
        """
        ...


def judge_support(
    answer: Answer, *, judge: Judge, until: float
) -> Generator[TextPart, None, tuple[Verdicts, list[Piece]]]:
    """The judge's verdicts, by `until`, on the sentences of `answer` that cite; notes and usage to add to its pieces.

    Sentences that are verbatim in a cited abstract need no judge. Where the endpoint fails, or no reply can be read,
    there are no verdicts: those of the check by words stand, and a note says so. Empty parts give the consumer control.
    """
    papers = {citation.number: citation.paper for citation in answer.citations}
    open_to_doubt = [
        sentence for sentence in answer.sentences if sentence.citations and not _is_quote(sentence, papers)
    ]
    remarks: list[Piece] = []
    if not open_to_doubt:
        return {}, remarks
    for _ in range(ATTEMPTS):
        reply = ""
        try:
            for item in judge.judge(open_to_doubt, papers=papers, until=until):
                if isinstance(item, Usage):
                    remarks.append(item)
                else:
                    reply += item
                    yield TextPart("")
        except EndpointError as error:
            return {}, [*remarks, Note(f"The judge failed, the check by words stands: {error.problem}")]
        if verdicts := read_verdicts(reply, count=len(open_to_doubt)):
            remarks.append(Note(f"{len(verdicts)} sentence(s) were judged by a model ({judge.label})."))
            return {sentence.text: said for sentence, said in zip(open_to_doubt, verdicts, strict=True)}, remarks
    return {}, [*remarks, Note(f"The judge's reply could not be read ({judge.label}); the check by words stands.")]


def read_verdicts(reply: str, *, count: int) -> tuple[Support, ...] | None:
    """The verdicts on sentences 1..count, each exactly one of the three words; None for any other reply."""
    lines = [line for line in reply.splitlines() if line.strip()]
    found = [_LINE.fullmatch(line.strip()) for line in lines]
    read = {int(line[1]): _WORDS.get(line[2].lower()) for line in found if line}
    if len(read) != len(lines) or set(read) != set(range(1, count + 1)):
        return None
    verdicts = tuple(verdict for _, verdict in sorted(read.items()) if verdict)
    return verdicts if len(verdicts) == count else None


def apply_verdicts(answer: Answer, verdicts: Verdicts) -> Answer:
    """`answer` with the judge's verdicts. A number that is in no cited abstract stays a fault, whoever judges."""
    return replace(answer, sentences=tuple(_judged(sentence, verdicts) for sentence in answer.sentences))


def _judged(sentence: AnswerSentence, verdicts: Verdicts) -> AnswerSentence:
    verdict = verdicts.get(sentence.text)
    if verdict is None or (lacks_a_figure(sentence) and verdict == "supported"):
        return sentence
    if verdict == sentence.support:
        return sentence
    return replace(sentence, support=verdict, reason=f"{_REASONS[verdict]}, a model judged")


def _is_quote(sentence: AnswerSentence, papers: Mapping[int, Paper]) -> bool:
    return any(contains_verbatim(papers[number].abstract, quote=sentence.text) for number in sentence.citations)
