"""Reading citations out of a model's text: what is a marker, what only looks like one, and what is left of the text."""

from collections.abc import Iterator

import pytest

from rag.citations import parse_citations
from rag.domain import Cite, Removed


def parsed(text: str, *, sources: int = 4) -> str:
    """The pieces as one string: ⟨1⟩ for a citation, ⟪[9]⟫ for a removed marker."""
    return "".join(
        f"⟨{piece.source}⟩" if isinstance(piece, Cite) else f"⟪{piece.marker}⟫" if isinstance(piece, Removed) else piece
        for piece in parse_citations([text], sources=sources)
    )


@pytest.mark.parametrize(
    ("marker", "cited"),
    [
        ("[1]", "⟨1⟩"),
        ("[1, 2]", "⟨1⟩⟨2⟩"),
        ("[1][2]", "⟨1⟩⟨2⟩"),
        ("[1] [2]", "⟨1⟩⟨2⟩"),
        ("[1], [2]", "⟨1⟩⟨2⟩"),
        ("[1-3]", "⟨1⟩⟨2⟩⟨3⟩"),
        ("[1–3]", "⟨1⟩⟨2⟩⟨3⟩"),
        ("[2; 1]", "⟨2⟩⟨1⟩"),
        ("[1, 3-4]", "⟨1⟩⟨3⟩⟨4⟩"),
        ("【1】", "⟨1⟩"),
        ("[^1]", "⟨1⟩"),
        ("[^1^]", "⟨1⟩"),
        ("[#1]", "⟨1⟩"),
        ("[Source 1]", "⟨1⟩"),
        ("[source: 1]", "⟨1⟩"),
        ("[Sources 1 and 2]", "⟨1⟩⟨2⟩"),
        ("[Source 1, Source 2]", "⟨1⟩⟨2⟩"),
        ("[Paper 1]", "⟨1⟩"),
        ("[S1]", "⟨1⟩"),
        ("[Source 1: Memory Traces]", "⟨1⟩"),
        ("(Source 1)", "⟨1⟩"),
        ("(see sources 1 and 2)", "⟨1⟩⟨2⟩"),
        ("(1)", "⟨1⟩"),
        ("(1, 2)", "⟨1⟩⟨2⟩"),
        ("[1†source]", "⟨1⟩"),
        ("【1†L3-L5】", "⟨1⟩"),
        ("［１］", "⟨1⟩"),
        ("[１]", "⟨1⟩"),
        ("[[1]]", "⟨1⟩"),
        ("([1], [2])", "⟨1⟩⟨2⟩"),
        ("**[1]**", "⟨1⟩"),
        (r"\[1\]", "⟨1⟩"),
        ("[1][1]", "⟨1⟩"),
        ("[1](https://example.org/a_(b))", "⟨1⟩"),
        ("[[1]](https://example.org)", "⟨1⟩"),
        ('[1](https://example.org "A title")', "⟨1⟩"),
    ],
)
def test_every_usual_form_of_a_marker_is_read(marker: str, cited: str) -> None:
    assert parsed(f"Traces help {marker}. So.") == f"Traces help{cited}. So."


@pytest.mark.parametrize(
    "text",
    [
        "the first entry x[0] and a[1] of it",
        "hidden_states[1] and self.x[2] and x[1][2]",
        "the code `x = [1]` and ``y[2] z`` here",
        "```python\nrows = [1]\n```\nthat was it",
        "~ $x_{[1]}$ and $$\n[1]\n$$ and \\([2]\\) and \\[ a [1] \\] here",
        "latex ``quotes [1]'' here",
        'they say "as in [1] and [12]" there',
        "they say “as in [1] and [12]” there",
        "scores in [0, 1], in [0,1] and in the range [1, 2]",
        "a 95% interval [95% CI] of [1,000] and [0.5, 0.9]",
        "(1) first, then (2) second",
        "by Eq. (1), f(1), step (2), and in 2024 (2024).",
        "for all i in [n] it holds",
        "a \\cite{vaswani2017} key",
        "the text [in brackets] and [a, b]",
    ],
)
def test_what_only_looks_like_a_marker_stays_as_it_is(text: str) -> None:
    assert parsed(text) == text


@pytest.mark.parametrize(
    ("text", "tidied"),
    [
        ("It helps [9].", "It helps⟪[9]⟫."),
        ("It helps [0], too.", "It helps⟪[0]⟫, too."),
        ("It helps [9] a lot.", "It helps⟪[9]⟫ a lot."),
        ("[9] It helps.", "⟪[9]⟫It helps."),
        ("It helps [1, 9].", "It helps⟨1⟩⟪[1, 9]⟫."),
        ("It helps [1], [9].", "It helps⟨1⟩⟪[9]⟫."),
        ("It helps [9] and [1].", "It helps⟪[9]⟫⟨1⟩."),
        ("It helps ([9]).", "It helps⟪[9]⟫."),
        ("It helps [3-9].", "It helps⟨3⟩⟨4⟩⟪[3-9]⟫."),
        ("It helps [1-999999].", "It helps⟨1⟩⟨2⟩⟨3⟩⟨4⟩⟪[1-999999]⟫."),
        ("It helps (Source 9).", "It helps⟪(Source 9)⟫."),
        ("It helps 【4:0†source】.", "It helps⟪【4:0†source】⟫."),
        ("It helps [insert reference].", "It helps⟪[insert reference]⟫."),
        ("It helps [citation needed].", "It helps⟪[citation needed]⟫."),
        ("It helps [ref].", "It helps⟪[ref]⟫."),
        ("It helps [Smith et al., 2020].", "It helps⟪[Smith et al., 2020]⟫."),
        ("It helps[9]a lot", "It helps⟪[9]⟫ a lot"),
    ],
)
def test_a_marker_of_no_given_source_is_removed_without_a_trace_and_reported(text: str, tidied: str) -> None:
    assert parsed(text) == tidied


@pytest.mark.parametrize("text", ["[[9]1]", "[1, [9]2]", "[source [9]1]", "[[9][9]1]"])
def test_removing_a_marker_makes_no_other(text: str) -> None:
    left = parsed(text).replace("⟪[9]⟫", "")
    assert parsed(left) == left


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("See [the paper](https://evil.example/x?a=[1]) now", "See the paper now"),
        ("See [the paper](//evil.example) now", "See the paper now"),
        ("See [a label of far more than forty characters, as titles are](https://evil.example) now",
         "See [a label of far more than forty characters, as titles are] now"),
        ("See ![alt](https://evil.example/pixel.png)", "See "),
        ("Text [1].\n\n[1]: https://evil.example\n[^2]: A note\n", "Text⟨1⟩.\n\n\n\n"),
        ("[1]: It helps.", "⟨1⟩ It helps."),
    ],
)  # fmt: skip
def test_no_link_image_or_definition_survives(text: str, left: str) -> None:
    assert parsed(text) == left


@pytest.mark.parametrize(
    "appended",
    [
        "References:\n[1] Memory Traces\n[2] Another",
        "**Sources:**\n- [1] Memory Traces, https://example.org\n  and more\n",
        "## References\n\n1. Memory Traces\n2. Another",
        "Sources: [1] Memory Traces, [2] Another",
        "参考文献\n[1] Memory Traces",
    ],
)
def test_an_appended_reference_list_is_dropped(appended: str) -> None:
    assert parsed(f"It helps [1].\n\n{appended}").rstrip() == "It helps⟨1⟩."


def test_text_goes_on_behind_a_reference_list() -> None:
    assert parsed("Yes [1].\nReferences:\n[1] Memory Traces\n\nIt helps [1].") == "Yes⟨1⟩.\nIt helps⟨1⟩."


def test_a_list_that_an_answer_begins_with_is_the_answer() -> None:
    assert parsed("Sources:\n- noise [1]\n- drift [2]") == "Sources:\n- noise⟨1⟩\n- drift⟨2⟩"


@pytest.mark.parametrize(
    "text", ["References are rare.", "Sources\nof noise are many", "Sources: the data", "References"]
)
def test_a_word_that_could_head_a_list_is_text_where_no_list_follows(text: str) -> None:
    assert parsed(text) == text


def test_marker_at_the_start_of_a_line_keeps_the_space_behind_it() -> None:
    assert parsed("[1] It helps.\n- [2] It pays.") == "⟨1⟩ It helps.\n-⟨2⟩ It pays."


def test_amounts_in_dollars_do_not_open_math() -> None:
    assert parsed("It costs $5 [1], $5M [2] or $5-$10 [3].") == "It costs $5⟨1⟩, $5M⟨2⟩ or $5-$10⟨3⟩."


def test_contexts_that_are_never_closed_end_with_their_line() -> None:
    assert parsed('An "open [1]\nquote [1]. An `open [1]\ntick [2]. An $x [1]\nend [3].') == (
        'An "open [1]\nquote⟨1⟩. An `open [1]\ntick⟨2⟩. An $x [1]\nend⟨3⟩.'
    )


def test_text_and_citations_come_as_soon_as_they_are_certain() -> None:
    seen: list[str] = []

    def deltas() -> Iterator[str]:
        for delta in ["Traces help", " [1", "]", ".", " More", " follows [the"]:
            seen.append(delta)
            yield delta

    arrived = [(piece, "".join(seen)) for piece in parse_citations(deltas(), sources=4)]
    assert arrived[:4] == [
        ("Traces help", "Traces help"),
        (Cite(1), "Traces help [1]."),
        (".", "Traces help [1]."),
        (" More", "Traces help [1]. More"),
    ]


def test_an_opened_bracket_is_held_back_no_longer_than_a_marker_may_be() -> None:
    given = 0

    def deltas() -> Iterator[str]:
        nonlocal given
        for character in "[" + "x" * 200:
            given += 1
            yield character

    next(parse_citations(deltas(), sources=4))
    assert given <= 44
