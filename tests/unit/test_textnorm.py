"""One form for the same words, however they are typeset."""

import pytest

from rag.textnorm import contains_verbatim, match_form, normalize, quotations


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("opti- mizing", "optimizing"),
        ("pixel- and representation-level", "pixel- and representation-level"),
        (r"an \emph{augmentation-aware} bound", "an augmentation-aware bound"),
        (r"\textbf{\emph{nested}}", "nested"),
        (r"up to 6$\times$ faster", "up to 6x faster"),
        ("2.5× faster", "2.5x faster"),
        (r"6.5\% better", "6.5% better"),
        (r"the $\alpha$-divergence", "the alpha-divergence"),
        ("$5 and $6 each", "$5 and $6 each"),
        ("**M**ulti-view and _so_ on", "Multi-view and so on"),
        ("x_i stays", "x_i stays"),
        ("“quoted” and ``quoted''", '"quoted" and "quoted"'),
        ("non‑convex – or not", "non-convex - or not"),
        ("ﬁne　ｔｕｎｉｎｇ\n  text", "fine tuning text"),
        ("zero\u200bwidth", "zerowidth"),
        ("CO<sub>2</sub>", "CO2"),
    ],
)
def test_typesetting_is_taken_away(text: str, normal: str) -> None:
    assert normalize(text) == normal


def test_the_form_for_matching_has_no_case_and_no_hyphens() -> None:
    assert match_form("State-of-the-Art **LLMs**") == "state of the art llms"


def test_a_quote_is_verbatim_after_normalising_only_if_its_words_are_whole() -> None:
    abstract = r"We propose \emph{MFSC} for **M**ulti-view opti- mizing of $\alpha$."
    assert contains_verbatim(abstract, quote="MFSC for multi-view optimizing")
    assert not contains_verbatim(abstract, quote="FSC for multi-view")
    assert not contains_verbatim(abstract, quote="MFSC for single-view optimizing")
    assert not contains_verbatim(abstract, quote=" ")


def test_quotations_are_those_of_four_words_or_more() -> None:
    assert quotations('It calls “moving averages of past observations” a "trace".') == (
        "moving averages of past observations",
    )
