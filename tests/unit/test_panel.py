"""The panel beside the chat: sources with their evidence marked, and lines that say what happened and who writes."""

import html
import re
from dataclasses import replace

import pytest

from tests.builders import paper, scored
from tests.unit.test_render import TRACES, answer, cited
from ui.panel import hover_card, model_hint, reading_panel, source_card, sources_panel, status_line
from ui.render import CiteTarget


def test_the_evidence_sentence_is_marked_in_the_whole_abstract() -> None:
    shown = source_card(TRACES, CiteTarget("p-1_a", (2,), "supported"), number=1)
    assert "<mark>They need 22.3% less data than windows.</mark>" in shown
    assert "Memory traces are moving averages of observations. <mark>" in shown


def test_neighbouring_evidence_sentences_have_one_mark() -> None:
    assert source_card(TRACES, CiteTarget("p-1_a", (1, 2), "supported")).count("<mark>") == 1


@pytest.mark.parametrize(
    ("url", "linked"),
    [
        ("https://openreview.net/forum?id=a&b=1", True),
        ("http://openreview.net/", False),
        ("javascript:alert(1)", False),
        ("https://", False),
        ('https://a/"onclick="x', False),
        ("https://a b/", False),
        ("//evil.example/", False),
    ],
)
def test_only_https_addresses_become_links(url: str, linked: bool) -> None:
    shown = source_card(paper(url=url), CiteTarget("p1", (), ""))
    assert ('rel="noopener noreferrer"' in shown) is linked
    assert "onclick=" not in re.sub(r'"[^"]*"', "", shown)


def test_titles_authors_and_venues_are_escaped() -> None:
    hostile = paper(title="<b>T</b>", authors=("<i>A</i>",), venue="<u>V</u>", year=2024, arxiv_id='1"><x')
    for shown in (
        source_card(hostile, CiteTarget("p1", (), "supported")),
        hover_card(hostile, CiteTarget("p1", (1,), "partly")),
        reading_panel([scored(hostile)]),
    ):
        assert not re.search(r"<(b|i|u|x|q)>", shown)


def test_the_panel_counts_the_support_and_lists_what_was_read_besides() -> None:
    given = answer(
        "A [[1]]. B.", [("A.", (1,), "supported"), ("B.", (), "unsupported")], citations=(cited(TRACES, 1, 1),)
    )
    shown = sources_panel(given)
    assert "1 of 2 sentences supported by the cited abstract, <strong>1 unsupported</strong>." in shown
    assert "Also read (1), not cited" in shown


def test_the_status_line_says_what_happened() -> None:
    text = html.unescape(re.sub(r"<[^>]*>", "|", status_line(answer("A.", [], removed_markers=2))))
    assert text.startswith(
        "|Answer ready.||Searched “q” · 2 abstracts read · 2 cited · m · 1.5 s · 120 tokens · "
        "2 invented citations removed|"
    )


def test_a_failed_answer_shows_what_it_cited_and_what_was_found_and_calls_neither_evidence() -> None:
    given = answer("Half [[1]]", [("Half", (1,), "supported")], outcome="failed", problem="Cut.", fix="Wait.")
    shown = sources_panel(given)
    assert "no answer was finished" in shown
    assert "Not evidence" not in shown
    assert given.citations[0].paper.title in shown
    refused = sources_panel(replace(given, outcome="not_in_corpus", citations=()))
    assert "Not evidence" in refused


def test_the_page_says_who_writes_and_why() -> None:
    assert "CITEWISE_BASE_URL" in model_hint("extractive", "no model endpoint is configured.")
    assert "no model endpoint is configured." in model_hint("extractive", "no model endpoint is configured.")
    said = model_hint("local", "--writer says so. <b>tiny</b> is weak: trust nothing.")
    assert said.startswith("Answers are written by a model")
    assert "&lt;b&gt;tiny" in said
    assert "CITEWISE_BASE_URL" not in said
