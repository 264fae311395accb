"""Text on a terminal: its markup as styles there, word for word in a pipe, and never anything that steers it."""

import io

import pytest
from rich.console import Console

from rag.cli.answer_table import AnswerPrinter
from rag.cli.screen import typeset

SENTENCE = r"**CoLA** employs an \emph{inverse model}, 7$\times$ faster, for $5 and \url{https://a.org}."
SHOWN = "CoLA employs an inverse model, 7x faster, for $5 and https://a.org."


def _terminal(*, is_one: bool) -> Console:
    return Console(file=io.StringIO(), force_terminal=is_one, width=200, markup=False, highlight=False)


def test_markup_is_shown_as_styles_on_a_terminal() -> None:
    text = typeset(SENTENCE, out=_terminal(is_one=True))
    assert text.plain == SHOWN
    assert {text.plain[span.start : span.end]: span.style for span in text.spans if span.style} == {
        "CoLA": "bold",
        "inverse model": "italic",
    }


def test_a_pipe_gets_the_text_word_for_word() -> None:
    out = _terminal(is_one=False)
    AnswerPrinter(out).add(f"{SENTENCE}\n")
    assert isinstance(out.file, io.StringIO)
    assert out.file.getvalue() == f"{SENTENCE}\n"


@pytest.mark.parametrize("is_one", [True, False])
def test_nothing_steers_the_terminal(is_one: bool) -> None:
    assert "\x1b" not in typeset("\x1b[2J\\emph{\x1b]0;x\x07}", out=_terminal(is_one=is_one)).plain
