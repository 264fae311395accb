"""Text of abstracts as HTML: its emphasis and maths are rendered, and nothing of it becomes markup."""

import html
import re

import pytest

from rag.domain import Span
from rag.inline import parse_runs
from ui.mathml import to_mathml
from ui.rich_text import clean, escape_markdown, rich_html


def test_marks_and_emphasis_nest() -> None:
    text = "One **two three** four $x$."
    assert rich_html(text, highlights=[Span(8, 23)]) == (
        "One <strong>tw</strong><mark><strong>o three</strong> four </mark>" + (to_mathml("x") or "") + "."
    )


def test_latex_that_smuggles_markup_is_shown_as_text() -> None:
    shown = rich_html(r"$\text{<img src=x onerror=alert(1)>}$ $\href{javascript:alert(1)}{x}$ $\style{color:red}{y}$")
    assert "<img" not in shown
    assert "javascript" not in shown
    assert "style" not in shown


@pytest.mark.parametrize(
    "latex", [r"\frac{a}", "x^", r"\left( x", "{" * 3000, r"\unknowncommand{x}", r"\begin{aligned} a"]
)
def test_broken_latex_falls_back_to_its_own_text(latex: str) -> None:
    converted = to_mathml(latex)
    assert converted is None or converted.startswith("<math")
    assert html.unescape(re.sub(r"<[^>]*>", "", rich_html(f"${latex[:300]}$"))).strip("$")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("**M**ulti-view", "<strong>M</strong>ulti-view"),
        (r"\emph{all} \textbf{b}", "<em>all</em> <strong>b</strong>"),
        (r"{\em non-stationary} Schr\"odinger", "<em>non-stationary</em> Schrödinger"),
        (r"\href{https://x.example/}{here} 95\% \$5", "here 95% $5"),
        ("2**3 * 4**5, A* and B*, snake_case_name", "2**3 * 4**5, A* and B*, snake_case_name"),
        ("US$5, $5/$6, $20M-$30M, between $5 and $6", "US$5, $5/$6, $20M-$30M, between $5 and $6"),
        ("``quoted'' x[0] [12]", "``quoted&#x27;&#x27; x[0] [12]"),
    ],
)
def test_markup_of_abstracts_is_rendered_and_all_else_stays(text: str, shown: str) -> None:
    assert rich_html(text) == shown


def test_every_run_stands_where_it_says() -> None:
    runs = parse_runs("a **b $c$** d", cuts=[Span(0, 1)])
    assert [(run.start, run.end, run.text, run.kind) for run in runs] == [
        (0, 1, "a", "text"),
        (1, 2, " ", "text"),
        (4, 6, "b ", "text"),
        (6, 9, "c", "math"),
        (11, 13, " d", "text"),
    ]


def test_invisible_characters_go_and_joiners_stay() -> None:
    assert clean("a\u202eb\u200bc\ufe0f\U000e0041\ud800\x00\ue000 d\u200de\u0301") == "abc d\u200dé"


def test_escaped_markdown_is_the_text_again_once_decoded() -> None:
    text = 'a*b_c`[d](e)!<f>&amp;\\g#h|i~j"k https://l @m'
    assert html.unescape(escape_markdown(text)) == text
