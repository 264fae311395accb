"""Questions over many papers: which ones they are, and of what."""

import pytest

from rag.many import Many, read_many, says_in_what
from rag.questions import find_names, read_question


def read(text: str) -> Many:
    return read_many(text, names=find_names(text))


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("Which papers study differential privacy?", "differential privacy"),
        ("Are there papers on quantum computing?", "quantum computing"),
        ("Find me all recent papers about agents.", "agents"),
        ("papers using event cameras", "event cameras"),
        ("In which papers is reinforcement learning used?", "reinforcement learning used"),
        ("List every paper on partially observable environments", "partially observable environments"),
        ("List all papers", ""),
        ("Which methods are said to be robust?", "robust"),
        ("What approaches need no training?", "training-free"),
    ],
)
def test_a_list_is_of_papers_on_its_subject(text: str, subject: str) -> None:
    assert read(text)[:2] == ("list", subject)


@pytest.mark.parametrize(
    "text", ["How many papers use GPT-4?", "Count the papers on privacy", "the number of papers on X"]
)
def test_a_count_is_asked_for(text: str) -> None:
    assert read(text).form == "count"


@pytest.mark.parametrize(
    ("text", "form", "subject"),
    [
        ("How many papers about diffusion models are there?", "count", "diffusion models"),
        ("How many papers are there?", "count", ""),
        ("Wie viele Artikel handeln von Präferenzen?", "count", "preferences"),
        ("Wie viele Publikationen über Diffusionsmodelle gibt es?", "count", "diffusion models"),
        ("Gibt es Studien über Datenschutz?", "list", "privacy"),
        ("有哪些论文关于隐私?", "list", "privacy"),
        ("关于隐私的论文有哪些?", "list", "privacy"),
        ("关于强化学习的论文有多少篇?", "count", "reinforcement learning"),
        ("有没有论文研究隐私?", "list", "privacy"),
    ],
)
def test_whether_there_are_papers_may_be_asked_in_any_of_the_languages(text: str, form: str, subject: str) -> None:
    assert read_question(text).many[:2] == (form, subject)


@pytest.mark.parametrize(
    ("text", "items", "subject"),
    [
        ("List every benchmark", "evaluation", ""),
        ("Which benchmarks are used in these papers?", "evaluation", ""),
        ("List all datasets used for reinforcement learning", "evaluation", "reinforcement learning"),
        ("What are all the limitations mentioned by the papers?", "problem", ""),
    ],
)
def test_items_of_a_kind_are_listed(text: str, items: str, subject: str) -> None:
    assert (read(text).items, read(text).subject) == (items, subject)


@pytest.mark.parametrize(
    "text",
    [
        "On which benchmarks does LLaVA-ReID outperform baselines?",
        "Which methods does it outperform?",
        "Which methods do CoLA and MILS propose?",
        "Which benchmarks does CoLA use?",
        "Which three models make up CoLA?",
        "What does the paper propose?",
        "Which paper adds a latent action space?",
        "How many types of error must be controlled?",
    ],
)
def test_a_question_about_one_paper_is_prose(text: str) -> None:
    assert read(text).form == "prose"


@pytest.mark.parametrize(
    ("text", "needs_two"),
    [
        ("Compare CoLA and MILS", True),
        ("What is the difference between the two?", True),
        ("The tree paper and the wave paper both face it. How does each get around it?", True),
        ("Compared with RL on tokens, what do latent actions improve?", False),
        ("How does it differ from what other works do?", False),
    ],
)
def test_a_comparison_of_papers_is_told_from_one_within_a_paper(text: str, needs_two: bool) -> None:
    assert (read(text).form, read(text).needs_two) == ("table", needs_two)


def test_what_is_joined_by_or_is_several_subjects_that_share_their_end() -> None:
    assert read("Which papers are about blurred or sharp images?").parts == ("blurred images", "sharp images")
    assert read("papers on privacy (of users, or of data)").parts == ()


def test_a_subject_is_read_without_the_words_that_became_filters() -> None:
    question = read_question("Papers by Ann Lee on privacy", topic="Papers on privacy")
    assert question.many.subject == "privacy"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("Compare CoLA and MILS", False),
        ("How is CoLA different from MILS?", False),
        ("Compare the data of CoLA and MILS", True),
    ],
)
def test_a_comparison_may_say_in_what(text: str, says: bool) -> None:
    question = read_question(text)
    assert says_in_what(question.terms, names=question.names) is says
