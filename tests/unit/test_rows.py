"""Lists and tables of the abstracts' own sentences."""

from dataclasses import replace

import pytest

from rag.bearing import LISTED, Bearing, bearing, least_listed, probability, subjects_of
from rag.domain import Abstained, Cite, Label, Piece, Quote, RankedSentence, Recorded, Source, Span
from rag.keyword import analyze
from rag.questions import read_question
from rag.rows import MAX_ROWS, write_list, write_table
from tests.builders import paper


def source(number: int, *texts: str, bears: float = 0.9, named: str = "", title: str = "") -> Source:
    sentences = tuple(RankedSentence(Span(i, i + 1), text, 0.5, 0.5) for i, text in enumerate(texts))
    return Source(
        number,
        paper(f"p{number}", title=title or f"Title {number}", abstract=" ".join(texts)),
        sentences,
        named=frozenset({named} - {""}),
        bears=bears,
    )


def listed(question: str, *sources: Source, total: int | None = None) -> list[Piece]:
    return list(write_list(replace(read_question(question), total=total), sources))


def text_of(pieces: list[Piece]) -> str:
    return "".join(piece.text for piece in pieces if isinstance(piece, Label | Quote | Recorded))


def test_each_row_is_a_title_a_quote_and_a_citation_the_likeliest_first() -> None:
    pieces = listed(
        "Which papers study privacy?",
        source(1, "Privacy matters.", bears=0.5),
        source(2, "Cats sleep.", "We study privacy.", bears=0.9),
        source(3, "Nothing.", bears=0.1),
    )
    assert pieces == [
        Label("- “Title 2”: ", names="Title 2"),
        Quote("We study privacy."),
        Cite(2),
        Label("\n- “Title 1”: ", names="Title 1"),
        Quote("Privacy matters."),
        Cite(1),
    ]


def test_without_a_paper_that_bears_on_it_the_list_is_an_abstention() -> None:
    assert listed("Which papers study privacy?", source(1, "Cats.", bears=0.1)) == [Abstained()]


def test_a_count_is_of_all_that_were_found_and_rows_are_bounded() -> None:
    sources = [source(i, f"We study privacy {i}.") for i in range(1, MAX_ROWS + 4)]
    text = text_of(listed("How many papers study privacy?", *sources))
    assert text.startswith(f"{MAX_ROWS + 3} of the {MAX_ROWS + 3} papers that were looked at:\n\n- “")
    assert text.endswith("\n\n… and 3 more.")
    assert text.count("- “") == MAX_ROWS


def test_where_filters_alone_decide_the_count_is_exact_and_rows_are_from_the_record() -> None:
    pieces = listed("How many papers are there?", source(1, "One.", bears=1.0), total=12)
    assert pieces[0] == Label("12 papers:")
    assert pieces[2] == Recorded("“Title 1”, by Ada Lovelace, Alan Turing, ICML 2025.")
    assert text_of(pieces).endswith("… and 2 more.")


def test_items_are_rows_only_where_a_sentence_names_one() -> None:
    named = source(1, "We evaluate on the Procgen2 benchmark.")
    vague = source(2, "We evaluate on multiple benchmarks.")
    assert text_of(listed("List every benchmark", named, vague)).count("- “") == 1


def table(question: str, *sources: Source) -> list[Piece]:
    return list(write_table(read_question(question), sources, most=2))


COLA = source(1, "RL is hard.", "We propose CoLA.", "CoLA improves by 42.4%.", named="CoLA")
MILS = source(2, "Training is expensive.", "We present MILS.", "MILS improves 3 tasks.", named="MILS")


def test_a_comparison_has_a_row_for_each_aspect_and_a_citation_in_each_cell() -> None:
    pieces = table("Compare CoLA and MILS", COLA, MILS)
    assert text_of(pieces).replace("| |", "|  |") == (
        "|  | CoLA | MILS |\n|---|---|---|\n"
        "| Problem | RL is hard. | Training is expensive. |\n"
        "| Method | We propose CoLA. | We present MILS. |\n"
        "| Result | CoLA improves by 42.4%. | MILS improves 3 tasks. |"
    )
    assert sum(isinstance(piece, Cite) for piece in pieces) == sum(isinstance(piece, Quote) for piece in pieces) == 6


def test_a_comparison_in_something_has_a_row_for_each_paper() -> None:
    text = text_of(table("Compare the training of CoLA and MILS", COLA, MILS))
    assert [line.split("|")[1].strip() for line in text.split("\n")[2:]] == ["CoLA", "MILS"]


def test_sentences_that_do_not_fit_into_cells_become_a_list() -> None:
    pipes = source(1, "We propose a bound of |S||A|.", named="CoLA")
    text = text_of(table("Compare CoLA and MILS", pipes, MILS))
    assert text.startswith("- Problem · CoLA: —\n")
    assert "- Method · CoLA: We propose a bound of |S||A|.\n" in text


def test_a_title_cannot_end_a_cell() -> None:
    piped = source(1, "We propose X.", title="A | B")
    assert "| A / B |" in text_of(table("Compare CoLA and MILS", piped, MILS))


def features(question: str, title: str, *sentences: str) -> Bearing:
    return bearing(
        read_question(question).many,
        title=title,
        sentences=[frozenset(analyze(sentence)) for sentence in sentences],
        cosines=[0.3] * len(sentences),
        idf=lambda term: 1.0,
    )


def test_words_of_a_subject_count_together_and_apart() -> None:
    asked = "Which papers study code generation?"
    together = features(asked, "T", "We study code generation.")
    apart = features(asked, "T", "Image generation is hard.", "Our code is public.")
    assert together == Bearing(0.3, 1.0, 1.0, 1.0)
    assert apart == Bearing(0.3, 1.0, 1.0, 0.5)
    assert probability(together) > probability(apart)


def test_one_part_of_a_subject_that_is_joined_by_or_is_enough() -> None:
    asked = "Which papers are about blurred or generated images?"
    assert features(asked, "T", "Blurred images are sharpened.").part == 1.0


def test_a_list_without_a_subject_has_nothing_to_embed() -> None:
    assert subjects_of(read_question("List all papers").many) == ()


def test_where_nothing_is_probable_the_papers_that_stand_out_are_listed() -> None:
    assert least_listed([0.9, 0.3]) == LISTED
    assert least_listed([0.3, 0.1]) == pytest.approx(0.2)
    assert least_listed([0.39]) == pytest.approx(0.234)
    assert least_listed([]) == pytest.approx(0.2)
