"""Answers as Markdown and HTML: the citations stand where the markers are, and no text of others becomes markup."""

import re
from dataclasses import replace

import pytest

from rag.domain import (
    Answer,
    AnswerSentence,
    Citation,
    Cited,
    Evidence,
    Marker,
    Span,
    Support,
    TextPart,
    Timings,
    Turn,
    Usage,
)
from rag.sentences import split_sentences
from tests.builders import paper, scored
from ui.render import (
    CiteTarget,
    answer_markdown,
    answer_text,
    cite_href,
    locate_sentences,
    message_markdown,
    parse_cite,
    question_text,
    streaming_markdown,
    turns_of,
)
from ui.rich_text import question_markdown, rich_html, rich_markdown

TRACES = paper("p-1_a", title="Memory Traces")
OTHER = paper("q2", title="Windows", abstract="Windows forget. Traces do not forget.")


def cited(paper_, number: int, *sentences: int) -> Citation:
    spans = [split_sentences(paper_.abstract)[n - 1] for n in sentences]
    return Citation(number, paper_, tuple(Evidence(paper_.abstract[s.start : s.end], s) for s in spans))


def answer(text: str, sentences: list[tuple[str, tuple[int, ...], Support]], **fields: object) -> Answer:
    """An answer whose markers are the `[[n]]` of `text`; a single `[n]` in it is text."""
    plain, markers = "", []
    for piece in re.split(r"(\[\[\d+\]\])", text):
        if piece.startswith("[["):
            number = piece[2:-2]
            markers.append(Marker(Span(len(plain), len(plain) + len(number) + 2), int(number)))
            piece = piece[1:-1]
        plain += piece
    values: dict[str, object] = {
        "question": "q",
        "searched": "q",
        "outcome": "answered",
        "text": plain,
        "sentences": tuple(AnswerSentence(said, numbers, support, "") for said, numbers, support in sentences),
        "markers": tuple(markers),
        "citations": (cited(TRACES, 1, 2), cited(OTHER, 2, 1)),
        "retrieved": (scored(TRACES), scored(OTHER)),
        "writer": "chat",
        "model": "m",
        "prompt": None,
        "usage": Usage(100, 20, 1),
        "timings": Timings(1.0, 2.0, 1500.0),
    }
    return Answer(**{**values, **fields})  # type: ignore[arg-type]


def chips(markdown: str) -> list[tuple[str, str]]:
    return re.findall(r"\[(\d+)\]\((#cite-\S+) ", markdown)


def test_each_marker_becomes_a_link_that_names_its_paper_sentences_and_support() -> None:
    shown = answer_markdown(
        answer(
            "Traces average [[1]]. Windows forget [[2]].",
            [("Traces average.", (1,), "supported"), ("Windows forget.", (2,), "partly")],
        )
    )
    assert chips(shown) == [("1", "#cite-p%2D1%5Fa-2-supported"), ("2", "#cite-q2-1-partly")]


def test_only_the_given_spans_are_citations() -> None:
    shown = answer_markdown(answer("As in [1] and x[0] [[1]].", [("As in [1] and x[0].", (1,), "supported")]))
    assert len(chips(shown)) == 1
    assert "As in &#91;1&#93; and x&#91;0&#93;[1](#cite-" in shown


def test_a_marker_behind_the_full_stop_belongs_to_the_sentence_before_it() -> None:
    shown = answer_markdown(
        answer("A one. [[1]] B two. [[2]]", [("A one.", (1,), "partly"), ("B two.", (2,), "supported")])
    )
    assert [href.rsplit("-", 1)[1] for _, href in chips(shown)] == ["partly", "supported"]


def test_a_marker_that_opens_its_sentence_has_the_support_of_that_sentence() -> None:
    shown = answer_markdown(
        answer("A one.\n[[2]] B two.", [("A one.", (), "unsupported"), ("B two.", (2,), "supported")])
    )
    assert [href.rsplit("-", 1)[1] for _, href in chips(shown)] == ["supported"]


def test_an_unsupported_sentence_is_marked_behind_its_citations() -> None:
    shown = answer_markdown(
        answer("A one [[1]]. B two.", [("A one.", (1,), "unsupported"), ("B two.", (), "supported")])
    )
    assert re.search(r'\)\. ?<span class="unsupported" title="[^"]+">unsupported</span> B two', shown)


def test_a_repeated_sentence_keeps_its_own_support() -> None:
    shown = answer_markdown(
        answer("Same. [[1]] Same. [[2]]", [("Same.", (1,), "supported"), ("Same.", (2,), "partly")])
    )
    assert [href.rsplit("-", 1)[1] for _, href in chips(shown)] == ["supported", "partly"]


def test_sentences_are_found_across_line_breaks_and_markers() -> None:
    given = answer("A\n one [[1]] here. Next.", [("A one here.", (1,), "supported"), ("Next.", (), "supported")])
    assert [given.text[s.start : s.end] for s, _ in locate_sentences(given)] == ["A\n one [1] here.", "Next."]


def test_a_citation_stands_right_behind_its_word_so_that_no_line_ends_between() -> None:
    assert "average[1](" in answer_markdown(answer("Traces average [[1]].", [("Traces average.", (1,), "supported")]))


def test_a_chip_marks_the_evidence_of_its_own_sentence() -> None:
    first, second = "Windows forget.", "Traces do not forget."
    given = answer(
        f"{first} [[2]] {second} [[2]] Both. [[2]]",
        [(first, (2,), "supported"), (second, (2,), "supported"), ("Both.", (2,), "partly")],
        citations=(cited(OTHER, 2, 1, 2),),
    )
    one, two = (item.span for item in given.citations[0].evidence)
    found = (((one,),), ((two,),), ())
    checked = tuple(replace(said, evidence=spans) for said, spans in zip(given.sentences, found, strict=True))
    assert [href for _, href in chips(answer_markdown(replace(given, sentences=checked)))] == [
        "#cite-q2-1-supported",
        "#cite-q2-2-supported",
        "#cite-q2-1.2-partly",
    ]


def test_while_streaming_citations_stand_but_are_not_checked_yet() -> None:
    shown = streaming_markdown([TextPart("Traces **average"), TextPart("**."), Cited(1, TRACES), TextPart(" And")])
    assert shown.startswith("Traces <strong>average</strong>.[1](#cite-p%2D1%5Fa--pending ")
    assert shown.endswith(") And")


@pytest.mark.parametrize("paper_id", ["a-b_c", "10.1/x(y)", "ä b%2D", "-", "#cite-1-2-partly"])
def test_a_citation_address_gives_back_what_it_was_made_of(paper_id: str) -> None:
    href = cite_href(paper_id, (1, 12), "partly")
    assert parse_cite(href) == CiteTarget(paper_id, (1, 12), "partly")
    assert not re.search(r"[\s()<>\[\]_*]", href)


@pytest.mark.parametrize(
    "href", ["", "#cite-", "#cite-a-b-supported", "#cite-a-1-strong", "#cite--1-partly", "x#cite-a-1-partly"]
)
def test_what_is_no_citation_address_names_nothing(href: str) -> None:
    assert parse_cite(href) is None


ATTACKS = [
    "<img src=https://evil.example/a onerror=alert(1)>",
    "![leak](https://evil.example/a.png)",
    "[click](https://evil.example/) [1][2] [a]: https://evil.example/",
    "see https://evil.example/x and www.evil.example or me@evil.example",
    "```mermaid\ngraph\n```",
    "`${alert(1)}` ${alert(1)} </span><script>alert(1)</script>",
    "| a | b |\n| 1 | 2 |",
    "\ue000\\href{https://evil.example/}{x}\ue001 $\\includegraphics{https://evil.example/a.png}$",
    "%%%LATEX_BLOCK_0%%% ~~gone~~ # head",
    "# head\n=====\n    code\n+ plus\n> quote",
]


def test_a_table_stays_one_and_its_cells_are_escaped() -> None:
    text = "| | A |\n|---|---|\n| x | <img src=y> `z` [1] |\n\nNext."
    start = text.index("[1]")
    shown = rich_markdown(text, {Span(start, start + 3): "[1](#cite-p--pending)"}, {})
    assert shown.split("\n")[:2] == ["|  | A |", "| --- | --- |"]
    assert shown.split("\n")[2].startswith("| x | &lt;img") or "&#60;img" in shown
    assert shown.split("\n")[2].endswith("[1](#cite-p--pending) |")
    assert shown.endswith("\n\nNext.")
    assert shown.split("\n")[2].count("|") == 3


def test_a_cell_cannot_break_out_of_its_table() -> None:
    shown = rich_markdown("| a |\n|---|\n| 1 \\| 2 |\n- item", {}, {})
    assert shown.split("\n")[2].count("|") == 2


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_markdown_of_others_reaches_the_chat(attack: str) -> None:
    shown = rich_markdown(attack, {}, {})
    assert not re.search(
        r"[<>`~|!\[\]]|https?://|www\.|@|%%%|^\s*(\+|=|>|#| {4})", re.sub(r"</?(strong|em|code)>", "", shown)
    )
    assert not re.search(r"[\ue000-\ue003][^\ue000-\ue003]*\\(href|includegraphics)", shown)


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_html_of_others_reaches_the_panel(attack: str) -> None:
    shown = rich_html(attack)
    assert not re.search(r"<(?!/?(strong|em|code|br|mark|math|m[a-z]+)[ >/])", shown)
    assert "href" not in re.sub(r">[^<]*<", "><", f">{shown}<")


def test_list_paragraphs_and_headings_of_an_answer_stay() -> None:
    shown = rich_markdown("## Short\nTwo ways:\n- one\n- **two**\n3) three\n\nThe end.\nReally.", {}, {})
    assert shown == (
        "\n\n<strong>Short</strong>\n\nTwo ways:\n\n- one\n- <strong>two</strong>\n3. three\n\nThe end. Really."
    ).lstrip("\n")


@pytest.mark.parametrize("text", ["-5% of it", "1.5 times", "+ more", "== none", "--- cut", "2024. A year"])
def test_a_line_of_text_does_not_become_a_list_or_a_rule(text: str) -> None:
    first = rich_markdown(text, {}, {})[:6]
    assert not re.match(r"[-+=]|\d+[.)] ", first)


def test_prices_are_no_maths_and_maths_is_marked_for_katex() -> None:
    shown = rich_markdown("It costs $5 and $6, runs in $O(n^2)$ and 7$\\times$ faster.", {}, {})
    assert shown == "It costs $5 and $6, runs in \ue000O(n^2)\ue001 and 7\ue000\\times\ue001 faster."


def test_questions_come_back_as_they_were_typed() -> None:
    typed = "Is a < b & *c* in [1]?\n- really `x`"
    assert question_text(question_markdown(typed)) == typed


def test_history_holds_the_words_without_chips_marks_and_boxes() -> None:
    first = answer_markdown(
        answer("A <b> $x^2$ [[1]]. B.", [("A <b> $x^2$.", (1,), "supported"), ("B.", (), "unsupported")])
    )
    absent = message_markdown(answer("", [], outcome="not_in_corpus", citations=()))
    messages = [
        ("user", question_markdown("a?")),
        ("assistant", first),
        ("user", "b?"),
        ("assistant", absent),
        ("user", "c?"),
    ]
    assert turns_of(messages) == (Turn("a?", "A <b> $x^2$. B."), Turn("b?", ""))
    assert turns_of(messages, latest=1) == (Turn("b?", ""),)


def test_not_in_corpus_names_the_nearest_papers_as_no_evidence() -> None:
    shown = message_markdown(answer("", [], outcome="not_in_corpus", citations=()))
    assert 'class="outcome absent"' in shown
    assert "not evidence" in shown
    assert "[Memory Traces](#cite-p%2D1%5Fa--nearest)" in shown


def test_a_failure_says_what_to_do_keeps_the_text_and_offers_to_ask_again() -> None:
    given = answer("Half [[1]]", [("Half", (1,), "supported")], outcome="failed", problem="<503>.", fix="Wait.")
    shown = message_markdown(given)
    assert shown.startswith("Half[1](")
    assert "&lt;503&gt;. Wait." in shown
    assert '<a href="#retry">' in shown
    assert answer_text(shown) == "Half"


def test_what_the_nearest_abstract_does_not_say_stands_in_the_answer() -> None:
    given = answer("", [], outcome="not_in_corpus", citations=(), notes=("It does not mention “accuracy”.",))
    assert "answers the question. It does not mention “accuracy”." in message_markdown(given)
