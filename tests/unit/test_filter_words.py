"""Filters read from a question: those that the corpus can tell, in clear forms, and nothing of other questions."""

import pytest

from rag.facets import Facets
from rag.filter_words import asks_only_for_papers, filters_in
from rag.filters import Filters
from tests.builders import paper

FACTS = Facets.build(
    [
        paper("a", authors=("Yisen Wang", "Jingyi Cui"), year=2025, venue="ICML 2025"),
        paper("b", authors=("Sabine Müller", "Adam", "李明"), year=2023, venue="Journal of Machine Intelligence"),
        paper("c", authors=("Mohamad El Hajj Chehade",), year=2024, venue="Nature"),
    ]
)


def read(question: str) -> Filters:
    return filters_in(question, facts=lambda: FACTS).filters


@pytest.mark.parametrize(
    ("question", "authors"),
    [
        ("papers by Yisen Wang on alignment", ("Yisen Wang",)),
        ("papers by yisen wang", ("yisen wang",)),
        ("What is proposed by Yisen Wang?", ("Yisen Wang",)),
        ("Which papers are written by Sabine Muller and Yisen Wang?", ("Sabine Muller", "Yisen Wang")),
        ("papers from Wang and Cui about drift", ("Wang", "Cui")),
        ("Tell me of Yisen Wang's papers.", ("Yisen Wang",)),
        ("What are El Hajj Chehade’s papers about?", ("Chehade",)),
        ("What did Jingyi Cui publish?", ("Jingyi Cui",)),
        ("papers by 李明", ("李明",)),
        ("papers by Yann LeCun", ()),
        ("How is it trained by Adam?", ()),
        ("How is it trained by adam wang?", ()),
        ("By how much does it gain?", ()),
        ("papers by wang", ()),
        ("What does Wang say?", ()),
    ],
)
def test_authors_of_the_corpus_are_recognised(question: str, authors: tuple[str, ...]) -> None:
    assert read(question) == Filters(authors=authors)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What was shown on drift in ICML 2025?", Filters(venues=("ICML 2025",))),
        ("What is new at the ICML?", Filters(venues=("ICML",))),
        ("What was shown in ICML 2024?", Filters(venues=("ICML",), years=(2024, 2024))),
        (
            "papers in the Journal of Machine Intelligence",
            Filters(venues=("Journal of Machine Intelligence",)),
        ),
        ("How do frogs behave in nature?", Filters()),
        ("What was shown in NeurIPS?", Filters()),
    ],
)
def test_venues_of_the_corpus_are_recognised(question: str, expected: Filters) -> None:
    assert read(question) == expected


@pytest.mark.parametrize(
    ("question", "years"),
    [
        ("papers from 2024", (2024, 2024)),
        ("Which papers on alignment from 2024 are there?", (2024, 2024)),
        ("papers about reward drift since 2023", (2023, 9999)),
        ("papers on drift after 2023", (2024, 9999)),
        ("papers published before 2024", (1, 2023)),
        ("papers on drift from 2023 to 2024", (2023, 2024)),
        ("articles between 2024 and 2023", (2023, 2024)),
        ("papers from 2023 on", (2023, 9999)),
        ("papers published in 2024", (2024, 2024)),
        ("papers on drift up to 2024", (1, 2024)),
        ("Who won Wimbledon in 2024?", None),
        ("papers on elections in 2020", None),
        ("papers on data from 2020", None),
        ("Which papers use data from 2020?", None),
        ("What happened since 2023?", None),
        ("papers from 20245", None),
    ],
)
def test_years_are_recognised_in_clear_forms(question: str, years: tuple[int, int] | None) -> None:
    assert read(question) == Filters(years=years)


def test_years_are_no_filter_where_the_corpus_has_none() -> None:
    undated = Facets.build([paper(year=None)])
    assert filters_in("papers from 2024", facts=lambda: undated).filters.is_empty


def test_the_topic_is_what_is_left() -> None:
    reading = filters_in("papers by Yisen Wang on alignment since 2023 in ICML", facts=lambda: FACTS)
    assert reading.filters == Filters(authors=("Yisen Wang",), venues=("ICML",), years=(2023, 9999))
    assert reading.topic == "papers on alignment"


@pytest.mark.parametrize("question", ["What are memory traces?", "By how much does it gain?", "What is used in it?"])
def test_a_question_without_such_words_stays_and_the_corpus_is_not_asked(question: str) -> None:
    def fail() -> Facets:
        raise AssertionError("the corpus was asked")

    reading = filters_in(question, facts=fail)
    assert reading.filters.is_empty
    assert reading.topic == question


def test_questions_for_papers_as_such_are_told_from_those_with_a_subject() -> None:
    assert asks_only_for_papers("Which papers are there?")
    assert asks_only_for_papers("Summarize the papers")
    assert not asks_only_for_papers("papers on alignment")
