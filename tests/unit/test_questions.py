"""Questions taken apart."""

import pytest

from rag.questions import find_names, read_question


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("What is NS-DPO?", ("NS-DPO",)),
        ("Which models make up CoLA on math500?", ("CoLA", "math500")),
        ("What is Llama-3.1 and LLaVA-ReID?", ("Llama-3", "LLaVA-ReID", "LLaVA", "ReID")),
        ("Was stellt das AdvAgent-Paper fest?", ("AdvAgent-Paper", "AdvAgent")),
        ("What are memory traces?", ()),
    ],
)
def test_names_are_words_with_capitals_or_digits_inside(text: str, names: tuple[str, ...]) -> None:
    assert find_names(text) == names


@pytest.mark.parametrize(
    ("text", "ask"),
    [
        ("Why is clipping prohibitive?", "problem"),
        ("On which benchmarks was it evaluated?", "evaluation"),
        ("Where is its code released?", "availability"),
        ("How many error types are there?", "number"),
        ("What regret bound is proved?", "theory"),
    ],
)
def test_what_is_asked_for_is_recognised(text: str, ask: str) -> None:
    assert ask in read_question(text).asks


def test_a_compound_question_has_its_parts() -> None:
    question = read_question("How does NS-DPO stay efficient, and what is the added element used for?")
    assert [part.text for part in question.parts] == [
        "How does NS-DPO stay efficient",
        "what is the added element used for",
    ]
    assert question.texts[0] == question.text


def test_a_plain_question_has_no_parts() -> None:
    assert read_question("What are memory traces?").parts == ()


@pytest.mark.parametrize("text", ["Which papers study privacy?", "List all papers on RL", "papers about diffusion"])
def test_questions_for_papers_are_recognised(text: str) -> None:
    assert read_question(text).many.form == "list"


@pytest.mark.parametrize(
    "text",
    [
        "On which benchmarks does it win?",
        "What does the paper propose?",
        "How does it differ from what other works do?",
    ],
)
def test_questions_about_one_paper_do_not_list_papers(text: str) -> None:
    assert not read_question(text).lists


def test_a_definition_question_knows_what_is_to_be_defined() -> None:
    assert read_question("What are memory traces, in RL?").defines == read_question("memory traces").terms
    assert read_question("Who proves a bound?").defines == frozenset()


@pytest.mark.parametrize(
    "text", ["Compare CoLA and MILS", "How does A differ from B?", "the difference between A and B"]
)
def test_comparisons_are_recognised(text: str) -> None:
    assert read_question(text).many.form == "table"


@pytest.mark.parametrize("text", ["Does any paper use differential privacy?", "What is difference-in-differences?"])
def test_words_that_only_begin_alike_compare_nothing(text: str) -> None:
    assert read_question(text).many.form != "table"
