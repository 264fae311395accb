"""Questions that are asked back."""

from dataclasses import replace
from math import inf

import pytest

from rag.clarifying import (
    WHICH_PAPER,
    WHICH_SUBJECT,
    Clarifier,
    is_crowded,
    is_general,
    may_ask_back,
    options_of,
    splitting_terms,
)
from rag.domain import AskedBack, Label, Source, Turn
from rag.followup import needs_rewriting, standalone_question
from rag.questions import read_question
from tests.builders import paper


def sources(*titles: str, scores: tuple[float, ...] = ()) -> list[Source]:
    levels = scores or (0.5,) * len(titles)
    return [
        Source(n, paper(f"p{n}", title=title, abstract=f"We study {title}."), (), score)
        for n, (title, score) in enumerate(zip(titles, levels, strict=True), start=1)
    ]


@pytest.mark.parametrize(
    "text",
    [
        "What is the main result?",
        "How does the method work?",
        "What are the limitations?",
        "What is the accuracy?",
        "Summarise the paper.",
    ],
)
def test_words_that_any_paper_may_have_say_too_little(text: str) -> None:
    assert is_general(text)


@pytest.mark.parametrize("text", ["What is Cape?", "hello", "", "???", "What is the main result of MILS?", "Why GPUs?"])
def test_a_word_that_tells_the_paper_is_enough(text: str) -> None:
    assert not is_general(text)


WEB, MULTI, HOME = "web agents", "many agents", "agents at home"


def test_many_papers_about_as_near_as_each_other_are_a_crowd() -> None:
    asked = read_question("Tell me about agents")
    assert is_crowded(asked, sources(WEB, MULTI, HOME))
    assert not is_crowded(asked, sources(WEB, MULTI))
    assert not is_crowded(asked, sources(WEB, MULTI, HOME, scores=(0.9, 0.2, 0.2)))


def test_a_title_that_says_it_all_is_meant_before_abstracts_that_do() -> None:
    asked = read_question("Who wrote the paper on memory traces?")
    papers = sources("memory traces", "traces in a memory", "memory of past traces")
    assert is_crowded(asked, papers)
    others = [replace(source, paper=replace(source.paper, title="Other")) for source in papers[1:]]
    assert not is_crowded(asked, [papers[0], *others])


@pytest.mark.parametrize(
    "text",
    [
        "Which papers are about agents?",
        "Compare agents",
        "What do agents of AdvAgent do?",
        "How are web agents attacked online?",
    ],
)
def test_a_question_that_says_more_or_asks_for_many_is_not_asked_back(text: str) -> None:
    assert not is_crowded(read_question(text), sources(WEB, MULTI, HOME))


def asked_back(question: str, given: list[Source], history: tuple[Turn, ...] = ()) -> tuple[str, tuple[str, ...]]:
    pieces = list(Clarifier().write(read_question(question), sources=given, history=history, until=inf))
    (options,) = [piece.options for piece in pieces if isinstance(piece, AskedBack)]
    return "".join(piece.text for piece in pieces if isinstance(piece, Label)), options


def test_few_papers_are_offered_by_title() -> None:
    text, options = asked_back("Tell me about agents", sources(WEB, MULTI, HOME))
    assert text == f"{WHICH_PAPER}\n\n- {WEB}\n- {MULTI}\n- {HOME}"
    assert options == (WEB, MULTI, HOME) == options_of(text)


MANY = sources(*(f"{name} {topic}" for topic in ("tabular forests", "protein folding") for name in "ABCD"))


def test_many_papers_are_split_by_what_their_titles_share() -> None:
    text, options = asked_back("What is the main result?", MANY)
    assert set(options) == {"tabular forests", "protein folding"}
    assert text.startswith(WHICH_SUBJECT)


def test_after_a_subject_titles_are_offered_and_then_nothing_is_asked_back() -> None:
    asked = read_question("What is the main result?")
    by_subject = Turn("What?", f"{WHICH_SUBJECT}\n\n- a\n- b")
    assert asked_back(asked.text, MANY, (by_subject,))[0].startswith(WHICH_PAPER)
    assert may_ask_back(asked, MANY, history=(by_subject,))
    assert not may_ask_back(asked, MANY, history=(Turn("What?", f"{WHICH_PAPER}\n\n- a\n- b"),))
    assert not may_ask_back(asked, [], history=())


def test_terms_that_all_or_one_have_split_nothing() -> None:
    papers = [source.paper for source in sources(*(f"graph neural networks {i}" for i in range(8)))]
    assert splitting_terms(papers, besides=frozenset()) == ()


ASKED = Turn("What is the main result?", f"{WHICH_PAPER}\n\n- Cape: A mechanism\n- MILS\n- Memory Traces")


@pytest.mark.parametrize(
    ("reply", "meant"),
    [
        ("Cape", "Cape"),
        ("SITAlign", "SITAlign"),
        ("the second one", "MILS"),
        ("2", "MILS"),
        ("option 3.", "Memory Traces"),
        ("the last one", "Memory Traces"),
        ("number 9", "number 9"),
        ("the one on event cameras", "the one on event cameras"),
    ],
)
def test_a_short_reply_answers_what_was_asked_back(reply: str, meant: str) -> None:
    assert standalone_question(reply, [ASKED], lean="goes on") == f"What is the main result? ({meant})"
    assert not needs_rewriting(reply, [ASKED], lean="goes on")


def test_another_question_is_not_taken_for_a_reply() -> None:
    question = "What are memory traces?"
    assert standalone_question(question, [ASKED], lean="stands alone") == question
