"""Tables in an answer's text: their cells, and the sentences in them."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.assembly import assemble
from rag.domain import Cite, Label, Piece, Quote, Recorded
from rag.tables import find_tables

TABLE = (
    "Before.\n| | CoLA | MILS |\n|---|:-:|---|\n| Method | It trains. | It prompts. |\n| Data | | Images. |\nBehind."
)


def cells(text: str) -> list[list[str]]:
    (table,) = find_tables(text)
    return [[text[start:end] for start, end in row] for row in (table.header, *table.rows)]


def test_a_table_has_its_cells_without_white_space() -> None:
    assert cells(TABLE) == [["", "CoLA", "MILS"], ["Method", "It trains.", "It prompts."], ["Data", "", "Images."]]
    (table,) = find_tables(TABLE)
    assert TABLE[table.span.start : table.span.end] == TABLE[8:-8]


@pytest.mark.parametrize("text", ["| a | b |", "| a |\n| b |", "a | b\n---|---\nc | d", "", "|---|"])
def test_what_has_no_ruler_or_no_outer_pipes_is_no_table(text: str) -> None:
    assert find_tables(text) == ()


def test_an_escaped_pipe_ends_no_cell() -> None:
    assert cells("| a |\n|---|\n| x \\| y |") == [["a"], ["x \\| y"]]


@given(st.lists(st.sampled_from(["| a | b |", "|---|---|", "text", "", "|", "| |", "\\|", "|-|"]), max_size=12))
def test_cells_lie_within_their_table_and_tables_apart(lines: list[str]) -> None:
    text = "\n".join(lines)
    position = 0
    for table in find_tables(text):
        assert position <= table.span.start < table.span.end <= len(text)
        position = table.span.end
        spans = [cell for row in (table.header, *table.rows) for cell in row]
        assert all(table.span.start < start <= end < table.span.end for start, end in spans)
        assert all(left.end <= right.start for left, right in pairwise(spans))


def test_each_cell_of_a_models_table_is_a_sentence_of_its_own_with_its_citation() -> None:
    pieces: list[Piece] = [
        "| | CoLA | MILS |\n|---|---|---|\n| Method | It trains",
        Cite(2),
        " | It prompts",
        Cite(1),
        " |",
    ]
    sentences = assemble(pieces).sentences
    assert [(s.text, s.sources, s.label) for s in sentences] == [
        ("It trains", (2,), "Method · CoLA"),
        ("It prompts", (1,), "Method · MILS"),
    ]


def test_a_long_first_cell_or_header_is_checked_as_a_sentence() -> None:
    long = "This method is better than all others that we know of today"
    assert [s.text for s in assemble([f"| x | {long} |\n|---|---|\n| {long} | |"]).sentences] == [long, long]


def test_a_marker_in_the_first_cell_belongs_to_what_its_row_says() -> None:
    pieces: list[Piece] = ["One.\n| a | b |\n|---|---|\n| CoLA", Cite(3), " | It trains. |"]
    assert [(s.text, s.sources) for s in assemble(pieces).sentences] == [("One.", ()), ("It trains.", (3,))]


def test_a_label_is_no_sentence_and_names_those_behind_it() -> None:
    pieces: list[Piece] = [
        Label("2 papers:"),
        Label("\n\n- “A title.”: ", names="A title."),
        Quote("It is so. It is."),
        Cite(1),
        Label("\n- ", names="B"),
        Recorded("“B”, by Ann Lee, 2025."),
        Cite(2),
        Label("\n\n… and 3 more.", names=""),
    ]
    answer = assemble(pieces)
    assert [(s.text, s.label, s.is_recorded) for s in answer.sentences] == [
        ("It is so. It is.", "A title.", False),
        ("“B”, by Ann Lee, 2025.", "B", True),
    ]
    assert answer.text.startswith("2 papers:\n\n- “A title.”: It is so. It is. [1]\n- “B”")


@given(
    st.lists(
        st.one_of(
            st.text("ab|- .\n", max_size=12),
            st.builds(Quote, st.text("ab|. \n", max_size=8)),
            st.builds(Label, st.text("a|-\n", max_size=6)),
            st.builds(Cite, st.integers(1, 3)),
        ),
        max_size=10,
    )
)
def test_any_pieces_give_sentences_in_order_that_stand_in_the_text(pieces: list[Piece]) -> None:
    answer = assemble(pieces)
    position = 0
    for sentence in answer.sentences:
        assert sentence.text
        assert answer.plain.find(sentence.text, position) >= position
        position = sentence.end - len(sentence.text)
    assert all(answer.text[m.span.start : m.span.end] == f"[{m.number}]" for m in answer.markers)
