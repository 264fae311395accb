"""Questions for a paper's record, and what it says."""

from math import inf

import pytest

from rag.domain import Abstained, Cite, Note, Piece, Recorded, Source
from rag.record import Field, RecordQuestion, RecordWriter, read_record_question, record_line, statement
from tests.builders import paper


@pytest.mark.parametrize(
    ("text", "field", "subject"),
    [
        ("Who wrote the Cape paper?", "authors", "Cape"),
        ("Who are the authors of the paper on memory traces?", "authors", "memory traces"),
        ("Who is the first author of SITAlign?", "authors", "SITAlign"),
        ("When was SITAlign published?", "year", "SITAlign"),
        ("In which year did the MILS paper appear?", "year", "MILS"),
        ("At which conference was ReVISE presented?", "venue", "ReVISE"),
        ("Where was Cape published?", "venue", "Cape"),
        ("Where can I read the MILS paper?", "url", "MILS"),
        ("link to the paper about event cameras", "url", "event cameras"),
        ("What is the arXiv id of NS-DPO?", "arxiv_id", "NS-DPO"),
        ("Who wrote it?", "authors", ""),
    ],
)
def test_the_field_and_the_paper_are_read(text: str, field: Field, subject: str) -> None:
    assert read_record_question(text) == RecordQuestion(field, subject)


@pytest.mark.parametrize(
    "text",
    [
        "At which URL is the code of MFSC?",
        "Where can I find the code of MFSC?",
        "Where was it tested?",
        "Who won Wimbledon in 2024?",
        "How tall is Mount Kilimanjaro and who first climbed it?",
        "When does the method fail?",
        "Which papers are by Ann Lee?",
        "On which model did the authors report it?",
        "What do the authors propose?",
        "For which learning regime do the authors of the paper on MDPs prove a bound?",
    ],
)
def test_what_abstracts_tell_is_no_question_for_a_record(text: str) -> None:
    assert read_record_question(text) is None


@pytest.mark.parametrize(
    ("field", "said"),
    [
        ("authors", "Ada Lovelace and Alan Turing are the authors of “Memory Traces”."),
        ("year", "The year of “Memory Traces” is 2025."),
        ("venue", "The venue of “Memory Traces” is ICML 2025."),
        ("url", "The link of “Memory Traces” is https://openreview.net/forum?id=p1."),
        ("arxiv_id", None),
        ("categories", None),
        ("title", "The title is “Memory Traces”."),
    ],
)
def test_a_field_is_said_in_a_sentence_or_not_at_all(field: Field, said: str | None) -> None:
    assert statement(paper(), field) == said


@pytest.mark.parametrize("field", ["authors", "year", "venue", "url", "arxiv_id", "categories", "title"])
def test_an_empty_record_says_nothing(field: Field) -> None:
    empty = paper(title="", authors=(), url=None, year=None, venue=None)
    assert statement(empty, field) is None


def written(source: Source, field: Field, subject: str = "") -> list[Piece]:
    return list(RecordWriter(RecordQuestion(field, subject)).write(None, sources=[source], history=(), until=inf))


def test_the_answer_is_cited_and_marked_as_from_the_record() -> None:
    pieces = written(Source(3, paper(), ()), "year")
    assert pieces == [
        Recorded("The year of “Memory Traces” is 2025."),
        Cite(3),
        Note("This is from the paper's record, not from its abstract."),
    ]


def test_what_the_record_does_not_give_is_not_guessed() -> None:
    assert written(Source(1, paper(year=None, venue="ICML 2025"), ()), "year") == [
        Note("The record of “Memory Traces” gives no year."),
        Abstained(),
    ]


def test_the_paper_whose_title_has_the_words_is_taken_before_one_whose_abstract_has() -> None:
    sources = [
        Source(1, paper("a", title="Other", abstract="Like Cape."), ()),
        Source(2, paper("b", title="Cape: X"), ()),
    ]
    pieces = list(RecordWriter(RecordQuestion("year", "Cape")).write(None, sources=sources, history=(), until=inf))
    assert pieces[1] == Cite(2)


def test_a_paper_in_one_line_names_three_authors_and_no_year_twice() -> None:
    assert record_line(paper(authors=("A", "B", "C", "D"))) == "“Memory Traces”, by A, B, C and others, ICML 2025."
    assert record_line(paper(venue="Nature", authors=())) == "“Memory Traces”, Nature 2025."
