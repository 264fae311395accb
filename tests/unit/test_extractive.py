"""Answers made of the abstracts' own sentences."""

from dataclasses import replace

from rag.domain import Abstained, Cite, Piece, Quote, RankedSentence, Source, Span
from rag.extractive import MAX_SENTENCES, ExtractiveWriter, choose_sentences, papers_alike
from rag.questions import read_question
from tests.builders import paper


def source(number: int, *probabilities: float, named: frozenset[str] = frozenset(), score: float = 0.5) -> Source:
    sentences = tuple(
        RankedSentence(Span(10 * i, 10 * i + 5), f"s{number}-{i}.", probability, probability)
        for i, probability in enumerate(probabilities)
    )
    return Source(number, paper(f"p{number}"), sentences, score, named)


def chosen(question: str, *sources: Source) -> list[str]:
    return [sentence.text for _, sentence in choose_sentences(read_question(question), sources)]


def test_the_best_sentences_of_the_first_paper_come_in_the_abstracts_order() -> None:
    assert chosen("What is X?", source(1, 0.5, 0.01, 0.9, 0.3), source(2, 0.9)) == ["s1-0.", "s1-2.", "s1-3."]


def test_a_sentence_far_behind_the_best_is_left_out_but_two_are_given() -> None:
    assert chosen("What is X?", source(1, 0.01, 0.9, 0.02)) == ["s1-1.", "s1-2."]


def test_never_more_than_five_sentences() -> None:
    assert len(chosen("What is X?", source(1, *[0.9] * 12))) == MAX_SENTENCES


def test_papers_named_in_the_question_are_answered_from_each() -> None:
    named_one, named_two = frozenset({"CoLA"}), frozenset({"MILS"})
    texts = chosen("What do CoLA and MILS do?", source(1, 0.9, named=named_one), source(2, 0.9, named=named_two))
    assert texts == ["s1-0.", "s2-0."]


def test_a_name_that_the_first_paper_holds_adds_no_paper() -> None:
    name = frozenset({"CoLA"})
    assert chosen("What does CoLA do?", source(1, 0.9, named=name), source(2, 0.9, named=name)) == ["s1-0."]


def test_a_comparison_without_names_takes_the_second_paper_too() -> None:
    assert chosen("Compare the two methods", source(1, 0.9), source(2, 0.9)) == ["s1-0.", "s2-0."]


def test_one_text_is_quoted_once() -> None:
    twin = RankedSentence(Span(0, 5), "Same text.", 0.9, 0.0)
    sources = [Source(1, paper("a"), (twin,)), Source(2, paper("b"), (twin,))]
    assert len(choose_sentences(read_question("Compare the two papers"), sources)) == 1


def test_a_comparison_within_one_paper_takes_no_second_one() -> None:
    asked = "Compared with token-level actions, what do latent actions improve?"
    assert chosen(asked, source(1, 0.9), source(2, 0.9)) == ["s1-0."]


def test_each_quote_is_followed_by_its_citation() -> None:
    pieces: list[Piece] = list(
        ExtractiveWriter().write(read_question("What is X?"), sources=[source(1, 0.9, 0.8)], history=())
    )
    assert pieces == [Quote("s1-0."), Cite(1), " ", Quote("s1-1."), Cite(1)]


def test_without_any_sentence_it_abstains() -> None:
    assert list(ExtractiveWriter().write(read_question("What?"), sources=[source(1)], history=())) == [Abstained()]


FIELD = "How do models sample faster?"


def alike(question: str, *sources: Source) -> list[int]:
    return [source.number for source in papers_alike(read_question(question), sources)]


def test_a_question_that_several_papers_fit_about_equally_is_answered_from_each() -> None:
    fitting = [source(1, 0.2, 0.9, score=0.6), source(2, 0.9, score=0.55), source(3, 0.9, score=0.52)]
    assert alike(FIELD, *fitting, source(4, 0.9, score=0.3)) == [1, 2, 3]
    written = list(ExtractiveWriter().write(read_question(FIELD), sources=fitting, history=()))
    assert [piece.text for piece in written if isinstance(piece, Quote)] == ["s1-1.", "s2-0.", "s3-0."]
    assert [piece.source for piece in written if isinstance(piece, Cite)] == [1, 2, 3]


def test_a_question_on_one_paper_is_answered_from_that_one() -> None:
    near = [source(number, 0.9, score=0.6) for number in (1, 2, 3)]
    assert alike(FIELD, *near[:2]) == []
    assert alike(FIELD, near[0], near[1], source(3, 0.9, score=0.4)) == []
    assert alike(FIELD, *(source(number, 0.9, score=0.3) for number in (1, 2, 3))) == []
    assert alike("How does CoLA sample?", source(1, 0.9, named=frozenset({"CoLA"}), score=0.6), *near[1:]) == []
    assert alike("Compare the two methods", *near) == []
    follow_up = replace(read_question("How do models of CoLA sample?"), own="How do they sample?")
    assert papers_alike(follow_up, near) == []
