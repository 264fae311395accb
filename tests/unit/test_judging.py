"""The judge of support: replies are read strictly, and what cannot be read changes nothing."""

from collections.abc import Iterator, Mapping, Sequence
from math import inf

import pytest

from rag.domain import Answer, AnswerSentence, Citation, Note, Paper, Piece, TextPart, Usage
from rag.errors import EndpointError
from rag.judging import Verdicts, apply_verdicts, judge_support, read_verdicts
from tests.builders import answer, paper

ABSTRACT = "NS-DPO has one discount parameter. It adapts to drift in preferences."
LOOSE = AnswerSentence("One parameter discounts old data.", (1,), "partly", "'old' is not in the cited abstract")
FIGURE = AnswerSentence("It has 7 parameters.", (1,), "partly", "7 is not in the cited abstract")
QUOTE = AnswerSentence("NS-DPO has one discount parameter.", (1,), "supported", "verbatim in the cited abstract")
UNCITED = AnswerSentence("Preferences are strange.", (), "unsupported", "no citation")


class ScriptedJudge:
    """Gives the replies in turn; an error is raised."""

    label = "strict-model, judge/v1@0"

    def __init__(self, *replies: str | EndpointError) -> None:
        self.replies = list(replies)
        self.asked: list[tuple[str, ...]] = []

    def judge(
        self, sentences: Sequence[AnswerSentence], *, papers: Mapping[int, Paper], until: float
    ) -> Iterator[str | Usage]:
        assert papers[1].abstract == ABSTRACT
        self.asked.append(tuple(sentence.text for sentence in sentences))
        reply = self.replies.pop(0)
        if isinstance(reply, EndpointError):
            raise reply
        yield from (reply[:3], reply[3:], Usage(10, 2, 1))


def answer_of(*sentences: AnswerSentence) -> Answer:
    return answer(sentences=sentences, citations=(Citation(1, paper(abstract=ABSTRACT), ()),))


def run(judge: ScriptedJudge, *sentences: AnswerSentence) -> tuple[Verdicts, list[Piece]]:
    """Drives the generator to its end."""
    steps = judge_support(answer_of(*sentences), judge=judge, until=inf)
    while True:
        try:
            assert next(steps) == TextPart("")
        except StopIteration as end:
            verdicts, remarks = end.value
            return verdicts, remarks


def notes(remarks: Sequence[Piece]) -> list[str]:
    return [remark.text for remark in remarks if isinstance(remark, Note)]


def test_cited_sentences_in_own_words_are_judged_in_one_call() -> None:
    judge = ScriptedJudge("1: supported\n2: unsupported")
    verdicts, remarks = run(judge, LOOSE, QUOTE, UNCITED, FIGURE)
    assert judge.asked == [(LOOSE.text, FIGURE.text)]
    assert verdicts == {LOOSE.text: "supported", FIGURE.text: "unsupported"}
    assert Usage(10, 2, 1) in remarks
    assert notes(remarks) == ["2 sentence(s) were judged by a model (strict-model, judge/v1@0)."]


def test_an_answer_of_quotes_costs_no_call() -> None:
    judge = ScriptedJudge()
    assert run(judge, QUOTE, UNCITED) == ({}, [])
    assert judge.asked == []


def test_an_unreadable_reply_is_asked_for_once_more() -> None:
    judge = ScriptedJudge("They look fine to me.", "1. Partly.")
    verdicts, remarks = run(judge, LOOSE)
    assert verdicts == {LOOSE.text: "partly"}
    assert sum(isinstance(remark, Usage) for remark in remarks) == 2


@pytest.mark.parametrize(
    ("judge", "told"),
    [
        (ScriptedJudge("yes", "1: maybe"), "could not be read"),
        (
            ScriptedJudge(EndpointError("It is down.", fix="Start it.", kind="unreachable", retryable=True)),
            "It is down",
        ),
    ],
    ids=["unreadable twice", "endpoint fails"],
)
def test_without_a_verdict_the_check_by_words_stands(judge: ScriptedJudge, told: str) -> None:
    verdicts, remarks = run(judge, LOOSE)
    assert verdicts == {}
    assert told in notes(remarks)[0]
    assert "the check by words stands" in notes(remarks)[0]


@pytest.mark.parametrize(
    ("reply", "verdicts"),
    [
        ("1: supported\n2: partly", ("supported", "partly")),
        ("2: partly\n1: supported\n", ("supported", "partly")),
        ("**1**: Supported.\n\n[2] - UNSUPPORTED", ("supported", "unsupported")),
        ("1: supported", None),
        ("1: supported\n2: partly\n3: partly", None),
        ("1: supported\n1: partly", None),
        ("1: supported\n2: probably", None),
        ("1: not supported\n2: partly", None),
        ("Verdicts:\n1: supported\n2: partly", None),
        ("1: supported because the source says so\n2: partly", None),
        ("", None),
    ],
)
def test_only_one_exact_word_a_sentence_is_a_verdict(reply: str, verdicts: tuple[str, ...] | None) -> None:
    assert read_verdicts(reply, count=2) == verdicts


def test_a_judge_moves_a_verdict_both_ways_and_says_so() -> None:
    raised, lowered = apply_verdicts(
        answer_of(LOOSE, QUOTE), {LOOSE.text: "supported", QUOTE.text: "unsupported"}
    ).sentences
    assert (raised.support, raised.reason) == ("supported", "the cited abstracts say it, a model judged")
    assert lowered.support == "unsupported"


def test_no_judge_excuses_a_number_that_no_cited_abstract_has() -> None:
    assert apply_verdicts(answer_of(FIGURE), {FIGURE.text: "supported"}).sentences == (FIGURE,)
    assert apply_verdicts(answer_of(FIGURE), {FIGURE.text: "unsupported"}).sentences[0].support == "unsupported"
