"""Questions to ask next: about the cited papers and those near to them, never one that was asked."""

from dataclasses import replace

import pytest

from rag.domain import Citation
from rag.suggestions import Suggestion, example_question, follow_up_questions, name_of
from tests.builders import answer, paper, scored

SITALIGN = paper("s", title="Bounded Rationality for LLMs", abstract="We propose SITAlign, an inference-time method.")
PREFILL = paper("f", title="Speculative Prefill: Turbocharging TTFT", abstract="It is fast.")
PLAIN = paper("p", title="Learning from Many Views", abstract="Views help.")


@pytest.mark.parametrize(
    ("given", "name"),
    [
        (PREFILL, "Speculative Prefill"),
        (SITALIGN, "SITAlign"),
        (PLAIN, None),
        (paper(title="Control from Multi-View Data", abstract="Multi-View data is used. We propose Multi-View."), None),
        (paper(title="On LoRA", abstract="LoRA is studied."), "LoRA"),
    ],
)
def test_a_method_is_called_by_its_name_in_title_or_abstract(given: object, name: str | None) -> None:
    assert name_of(given) == name  # type: ignore[arg-type]


def test_an_example_asks_for_what_a_title_names_first() -> None:
    assert example_question(PREFILL) == Suggestion("What is Speculative Prefill?", "f")
    assert example_question(PLAIN) is None


def suggested(*asked: str) -> list[str]:
    given = answer(
        "By how much does SITAlign win?", citations=(Citation(1, SITALIGN, ()),), retrieved=(scored(SITALIGN),) * 2
    )
    near = (scored(SITALIGN), scored(PREFILL), scored(PLAIN))
    return [found.question for found in follow_up_questions(replace(given, retrieved=near), asked=asked)]


def test_cited_and_near_papers_take_turns() -> None:
    assert suggested() == [
        "How does SITAlign work?",
        "What is Speculative Prefill?",
        "What problem does SITAlign address?",
        "What does the paper “Learning from Many Views” find?",
    ]


def test_what_was_asked_is_not_suggested() -> None:
    assert "How does SITAlign work?" not in suggested("how does sitalign work")


def test_two_cited_papers_are_compared_unless_they_were() -> None:
    cited = (Citation(1, SITALIGN, ()), Citation(2, PREFILL, ()))
    differs = "How does SITAlign differ from Speculative Prefill?"
    questions = [found.question for found in follow_up_questions(answer("What is new?", citations=cited), asked=[])]
    assert differs in questions
    compared = answer("Compare SITAlign with Speculative Prefill.", citations=cited)
    assert differs not in [found.question for found in follow_up_questions(compared, asked=[])]


def test_a_title_with_maths_or_a_question_is_not_quoted_in_one() -> None:
    odd = paper(title="Is $O(n)$ enough?", abstract="Yes.")
    given = answer(citations=(Citation(1, odd, ()),), retrieved=())
    assert list(follow_up_questions(given, asked=[])) == []
