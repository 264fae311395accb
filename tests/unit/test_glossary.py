"""German and Chinese questions in English words, and what is left as it is."""

from importlib.resources import files

import pytest

from rag.abstention import is_unread
from rag.glossary import in_english, unread_share
from rag.near_miss import unsaid
from rag.questions import read_question
from tests.builders import paper


@pytest.mark.parametrize(
    "text",
    [
        "What are memory traces?",
        "",
        "NS-DPO",
        "Que propose cet article ?",
        "What does the paper of Die Zeit say?",
        "メモリトレースとは何ですか",
    ],
)
def test_what_is_neither_german_nor_chinese_stays_as_it_is(text: str) -> None:
    assert in_english(text) == text


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Um wie viel Prozent schlägt SITAlign das Verfahren?", {"percent", "SITAlign", "method"}),
        ("Welche Datensätze werden in den Experimenten verwendet?", {"datasets", "experiments"}),
        ("SITAlign 在 PKU-SafeRLHF 上的胜率提高了多少？", {"SITAlign", "PKU-SafeRLHF", "win"}),
    ],
)
def test_known_words_are_put_into_english_and_names_are_kept(text: str, words: set[str]) -> None:
    read = in_english(text).replace("?", " ").split()
    assert words <= set(read), read


def test_a_compound_is_read_by_its_parts() -> None:
    assert in_english("Was ist der Gedächtnisfehler?").split()[-2:] == ["memory", "error?"]


def test_what_a_question_asks_is_read_in_english_and_its_text_is_kept() -> None:
    text = "Wie viele Parameter hat die Verlustfunktion von NS-DPO?"
    question = read_question(text)
    assert question.text == text
    assert "number" in question.asks
    assert read_question("哪些论文讨论强化学习？").lists
    assert read_question("Welche Arbeiten handeln von Sprachmodellen?").lists


def test_a_german_noun_that_is_not_known_is_no_name_that_the_abstract_lacks() -> None:
    assert unsaid(read_question("Wie hat sich der Xylophonspieler in dem Verfahren bewährt?"), [paper()]) is None


@pytest.mark.parametrize("language", ["de", "zh"])
def test_the_word_lists_are_sorted_pairs_without_doubles(language: str) -> None:
    lines = files("rag.data").joinpath("glossary", f"{language}.tsv").read_text("utf-8").splitlines()
    words = [line.split("\t")[0] for line in lines]
    assert all(line.count("\t") == 1 for line in lines)
    assert words == sorted(set(words))


@pytest.mark.parametrize(
    ("text", "share"), [("埃菲尔铁塔有多高?", 5 / 8), ("什么是记忆轨迹?", 0.0), ("What is 塔?", 1.0), ("What?", 0.0)]
)
def test_how_much_of_a_chinese_question_is_not_read(text: str, share: float) -> None:
    assert unread_share(text) == pytest.approx(share)


@pytest.mark.parametrize(
    ("text", "unread"),
    [("埃菲尔铁塔有多高?", True), ("什么是记忆轨迹?", False), ("埃菲尔铁塔 Cape 隐私?", False), ("How tall?", False)],
)
def test_a_question_whose_subject_is_not_understood_is_not_answered_from_what_is_left(text: str, unread: bool) -> None:
    assert is_unread(read_question(text)) is unread
