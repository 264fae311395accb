"""What exported files hold, and that nothing of an attacker's in them does anything."""

import json
import re
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from evals.injections import load_payloads
from rag.answer_json import answer_from_dict
from rag.bibtex import bibtex_entries
from rag.domain import Answer, AnswerSentence, Citation, Evidence, Paper, Span
from rag.errors import SettingsError
from rag.ris import ris_records
from tests.browser.fake_assistant import HOSTILE
from tests.builders import answer, paper
from ui.exporting import FORMS, cited_papers, export, form_of

SAID = "Memory traces are moving averages of observations."
DOUBTED = answer(
    text=f"{SAID} [1] All else too.",
    sentences=(
        AnswerSentence(SAID, (1,), "partly", "it says less", ((Span(0, 5),),)),
        AnswerSentence("All else too.", (), "unsupported", "No cited abstract says so."),
    ),
    notes=("One paper was left out.",),
)


def test_markdown_holds_text_support_notes_and_footnotes_with_evidence() -> None:
    text = export([DOUBTED], title="t", form="md")
    assert text.startswith("# What are memory traces?\n")
    assert f"{SAID}[^1] **\\[partly supported: it says less\\]** All else too." in text
    assert "All else too. **\\[unsupported: No cited abstract says so\\]**" in text
    assert "> One paper was left out." in text
    assert (
        f"[^1]: Memory Traces. Ada Lovelace, Alan Turing. ICML 2025. <https://openreview.net/forum?id=p1>. “{SAID}”"
        in text
    )


def test_footnotes_of_a_conversation_do_not_meet() -> None:
    text = export([answer(), answer("And then?")], title="Traces", form="md")
    assert text.startswith("# Traces\n\n## What are memory traces?\n")
    assert re.findall(r"^\[\^([\d-]+)\]:", text, re.MULTILINE) == ["1-1", "2-1"]
    page = export([answer(), answer("And then?")], title="Traces", form="html")
    assert re.findall(r'<li id="(c[\d-]+)"', page) == re.findall(r'href="#(c[\d-]+)"', page) == ["c1-1", "c2-1"]


def test_html_holds_its_style_marks_support_and_loads_nothing() -> None:
    page = export([DOUBTED], title="t", form="html")
    assert "default-src 'none'" in page
    assert '<a class="partly" href="#c1-1" title="partly supported">1</a>' in page
    assert '<span class="unsupported">[unsupported: No cited abstract says so]</span>' in page
    assert f"<blockquote>{SAID}</blockquote>" in page
    assert not re.search(r"<(?:script|link|img|iframe)|\ssrc=|@import|url\(", page)


@pytest.mark.parametrize(
    ("outcome", "told"), [("not_in_corpus", "Not in these abstracts"), ("failed", "The answer failed")]
)
@pytest.mark.parametrize("form", ["md", "html"])
def test_other_outcomes_do_not_look_like_answers(outcome: str, told: str, form: str) -> None:
    given = answer(
        outcome=outcome, text="", sentences=(), markers=(), citations=(), problem="It broke.", fix="Mend it."
    )
    shown = export([given], title="t", form=form)
    assert told in shown
    assert ("It broke. Mend it." in shown) is (outcome == "failed")


def test_json_holds_answers_that_can_be_read_again() -> None:
    value = json.loads(export([DOUBTED], title="t", form="json"))
    assert value["title"] == "t"
    assert [answer_from_dict(turn) for turn in value["turns"]] == [DOUBTED]


def test_each_cited_paper_stands_once_in_a_bibliography() -> None:
    twice = [answer(), answer("And then?")]
    assert [held.paper_id for held in cited_papers(twice)] == ["p1"]
    assert export(twice, title="t", form="bib").count("@inproceedings") == 1
    assert export(twice, title="t", form="ris").count("TY  - CONF") == 1


def test_papers_of_one_author_and_year_get_keys_that_differ() -> None:
    entries = bibtex_entries([paper(f"p{n}") for n in range(30)])
    keys = re.findall(r"^@\w+\{(\w+),", entries, re.MULTILINE)
    assert keys[:3] == ["lovelace2025memory", "lovelace2025memorya", "lovelace2025memoryb"]
    assert len(set(keys)) == 30


def test_a_ris_record_holds_what_is_known_and_nothing_else() -> None:
    record = ris_records([paper(venue=None, year=None, url=None, authors=("Ada\nLovelace",), categories=("cs.LG",))])
    assert record.splitlines() == [
        "TY  - GEN",
        "TI  - Memory Traces",
        "AU  - Ada Lovelace",
        "AB  - Memory traces are moving averages of observations. They need 22.3% less data than windows.",
        "ID  - p1",
        "KW  - cs.LG",
        "ER  - ",
    ]


@pytest.mark.parametrize("name", ["notes", "notes.docx", "html"])
def test_a_name_without_a_known_suffix_is_an_error_that_lists_them(name: str) -> None:
    with pytest.raises(SettingsError, match=r"\.md, \.html"):
        form_of(Path(name))
    assert form_of(Path("A.HTML")) == "html"


def citing(hostile: Paper, said: str) -> Answer:
    """An answer that repeats a hostile text and cites a hostile paper."""
    cited = Citation(1, hostile, (Evidence(hostile.abstract, Span(0, len(hostile.abstract))),))
    sentence = AnswerSentence(said, (1,), "unsupported", said)
    return answer(said, text=said, sentences=(sentence,), markers=(), citations=(cited,), retrieved=(), notes=(said,))


def assert_harmless(given: Answer) -> None:
    for form in FORMS:
        export([given], title=given.question, form=form)
    page = export([given], title=given.question, form="html")
    body = page[page.index("<body>") :]
    assert not re.search(r"<(?:script|img|iframe|svg|object|embed|form|input|base|link|meta)\b", body)
    assert not re.search(r"<[^>]*\s(?:on\w+|style|src|srcset|action)\s*=", body)
    assert not re.search(r'href="(?!#c|https://)', body)
    shown = MarkdownIt("commonmark", {"html": True}).render(export([given], title=given.question, form="md"))
    assert not re.search(r"<(?:script|img|iframe|svg|object|embed|form|input|base|link|meta)\b", shown)
    assert not re.search(r'href="(?!https://)', shown)


def test_a_hostile_paper_is_exported_as_text() -> None:
    assert_harmless(citing(HOSTILE, HOSTILE.abstract))
    page = export([citing(HOSTILE, HOSTILE.abstract)], title="t", form="html")
    assert "&lt;script&gt;window.pwned=1&lt;/script&gt;" in page
    assert "https://evil.example" not in re.sub(r">[^<]*<", "><", page)


def test_injections_are_exported_as_text(shared_data: Path) -> None:
    payloads = load_payloads(shared_data / "injections" / "injections_dev.jsonl")
    assert payloads
    for payload in payloads:
        assert_harmless(citing(paper(title=payload.text[:200], abstract=payload.text), payload.text))
