"""Which replies of a model are taken as the restated question."""

import pytest

from rag.domain import Turn
from rag.rewriting import LONGEST, plausible_question

HISTORY = (Turn("Which paper adds latent actions to LLMs?", "CoLA adds a latent action space."),)
QUESTION = "What does it score on math500?"


@pytest.mark.parametrize(
    ("reply", "restated"),
    [
        ("What does CoLA score on math500?", "What does CoLA score on math500?"),
        ('\n**Restated question:** "What does CoLA score?"\n', "What does CoLA score?"),
        ("Compare CoLA with its baseline", "Compare CoLA with its baseline"),
        ("Wie gut ist CoLA?", "Wie gut ist CoLA?"),
        ("CoLA 的得分是多少？", "CoLA 的得分是多少？"),
        ("", None),
        (" \n ", None),
        ('""', None),
        ("CoLA scores 42.4 on math500.", None),
        ("It gets 42.4 [1].", None),
        ("How may I help you today?", None),
        ("What does it score on math500?", None),
        ("What score does it get on Math 500?", None),
        ("How does CoLA differ from the method before it?", "How does CoLA differ from the method before it?"),
        ("What does CoLA score " + "very " * 70 + "well?", None),
    ],
)
def test_only_a_short_question_about_the_conversation_is_plausible(reply: str, restated: str | None) -> None:
    assert plausible_question(reply, question=QUESTION, history=HISTORY) == restated


def test_the_longest_question_is_plausible_still() -> None:
    reply = "What does CoLA score".ljust(LONGEST - 1, "y") + "?"
    assert plausible_question(reply, question=QUESTION, history=HISTORY) == reply
    assert plausible_question("?" + reply, question=QUESTION, history=HISTORY) is None
