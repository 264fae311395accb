"""Names in titles: which titles begin with one, and which questions call a paper by it."""

import pytest

from evals.naming import ABOUT_ONE, ABOUT_TWO, Named, questions
from rag.naming import calls, name_in_title


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Stacey: Promoting Stochastic Steepest Descent", "Stacey"),
        ("LLM-SRBench: A New Benchmark", "LLM-SRBench"),
        ("LMRL Gym: Benchmarks for Multi-Turn Reinforcement Learning", "LMRL Gym"),
        ("$\\mathcal{V}ista$: Something", None),
        ("Position: The AI Conference Peer Review Crisis", None),
        ("An analysis of five long words: part two", None),
        ("parrots: in lower case", None),
        ("Attention Is All You Need", None),
        ("A:B", None),
        ("", None),
    ],
)
def test_a_title_may_begin_with_a_name(title: str, name: str | None) -> None:
    assert name_in_title(title) == name


@pytest.mark.parametrize(
    ("question", "title", "is_called"),
    [
        ("What is SHIELD?", "SHIELD: A Vehicle Routing Solver", True),
        ("SHIELD: what is it?", "SHIELD: A Vehicle Routing Solver", True),
        ("How do Parrot and MixBridge differ?", "Parrot: Multilingual Visual Instruction Tuning", True),
        ("what is SHIELD-2?", "SHIELD: A Vehicle Routing Solver", False),
        ("Is ICLSHIELD safe?", "SHIELD: A Vehicle Routing Solver", False),
        ("Which papers shield a model?", "SHIELD: A Vehicle Routing Solver", False),
        ("Radio signals: who classifies them?", "Radio: Rate-Distortion Optimization", False),
        ("Who classifies them? Radio signals, say.", "Radio: Rate-Distortion Optimization", False),
        ("What does Radio compress?", "Radio: Rate-Distortion Optimization", True),
        ("What is QuEst?", "QuEST: Stable Training of LLMs", False),
        ("", "SHIELD: A Vehicle Routing Solver", False),
    ],
)
def test_a_question_calls_a_paper_by_the_name_in_its_title(question: str, title: str, is_called: bool) -> None:
    assert (calls(question, title) is not None) is is_called


def test_each_paper_is_asked_for_in_each_wording_and_beside_another() -> None:
    papers = [Named(name, name.lower()) for name in ("SHIELD", "Radio", "Banyan")]
    asked = list(questions(papers))
    assert len(asked) == len(papers) * len((*ABOUT_ONE, *ABOUT_TWO))
    assert [len(wanted) for _, _, wanted in asked] == [1] * 6 + [2] * 9
    assert all(name.upper() in question.upper() for _, question, wanted in asked for name in wanted)
