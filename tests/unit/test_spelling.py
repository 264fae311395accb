"""Typing errors in questions, told by what English and the corpus have."""

import pytest

from rag.spelling import misspelt_words, respell
from tests.builders import paper

TRACES = paper(title="Memory Traces", abstract="We introduce SITAlign for observations of diffusion models.")
KNOWN = {"memori", "trace", "observ", "diffus"}


def idf(term: str) -> float:
    return 1.0 if term in KNOWN else 5.0


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("Waht is gained from obsevations?", "What is gained from observations?"),
        ("What do difusion modls do?", "What do diffusion models do?"),
        ("What is SITAling?", "What is SITAlign?"),
        ("withotu beign caleld", "without being called"),
        ("What maes it dangrous?", "What makes it dangerous?"),
    ],
)
def test_a_typing_error_is_read_as_what_was_meant(text: str, read: str) -> None:
    assert respell(text, misspelt_words(text, [TRACES], idf=idf)) == read


@pytest.mark.parametrize(
    "text",
    [
        "Is it used by any police force?",
        "What is the boiling point of ethanol?",
        "What does Llama-2 do on GSM8K?",
        "Why memory traces?",
        "What is the rate of CRISPR?",
        "xyz qqqqq zzzyx",
        "",
        "记忆",
    ],
)
def test_words_that_are_english_known_or_like_nothing_stay(text: str) -> None:
    assert misspelt_words(text, [TRACES], idf=idf) == {}
