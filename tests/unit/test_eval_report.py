"""Reports of runs: nothing of an answer is read as markup, what is shown is there, and plots show the figures."""

import re
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from evals.report.cases import highlighted, render_case
from evals.report.comparing import render_comparison
from evals.report.html import render_report, render_table
from evals.report.loading import Report
from evals.report.markdown import render_markdown
from evals.report.numbers import cell_text, difference_text, shown
from evals.report.plots import differences_spec, draw_plots, forest_spec, latency_spec, recall_spec
from evals.report.tables import refusal_rows
from evals.report.terminal import summary_table
from evals.results.comparison import compare
from evals.results.loading import Results
from evals.results.summary import summarise
from evals.running.records import Calls, Sample
from evals.scoring import Known, Score, score_answer
from evals.statistics.resampling import Difference
from rag.domain import Answer, Span
from tests.eval_builders import OTHER, UNANSWERABLE, answer, case, failed, nugget, results

HOSTILE = '<img src="https://evil.example/x.png" onerror=alert(1)> [link](https://evil.example) | `code` \u202egnp'
IDENTITY: dict[str, Any] = {
    "suite": "s",
    "gold": "a" * 64,
    "repeats": 1,
    "corpus": "c",
    "papers": "b" * 64,
    "embedding": "MiniLM",
    "writer": "chat",
    "model": "m",
    "endpoint": "http://127.0.0.1:9/v1",
    "prompts": ("answer/v1@0",),
    "judge": None,
    "settings": {"k": 8},
    "code": "d" * 64,
}
ABOUT: dict[str, Any] = {
    "identity": IDENTITY,
    "created": "2026-12-02T00:00:00+00:00",
    "citewise": "0.1.0",
    "commit": None,
    "prices": "2026-11",
    "seeds": {"bootstrap": 0},
}


def report_of(*asked: tuple[Any, Answer]) -> Report:
    """A report of answered cases, scored."""
    scores = {
        each.case_id: dict(score_answer(each, given, Known())) | dict(score_answer(each, given, Known(), timings=True))
        for each, given in asked
    }
    found = results(scores, **{each.case_id: each for each, _ in asked})
    found = Results(found.name, ABOUT | {"planned": len(asked)}, found.cases, found.scores, {})
    samples = {(each.case_id, 0): Sample(each.case_id, 0, given, Calls()) for each, given in asked}
    return Report(found, summarise(found), samples)


@pytest.fixture(scope="module")
def report() -> Report:
    return report_of(
        (case(nugget("decay"), case_id="good", question="Do traces decay?"), answer("Traces decay.")),
        (case(nugget("grow"), case_id="bad", question=HOSTILE, gold_answer="They grow."), answer(HOSTILE)),
        (case(case_id="none", **UNANSWERABLE), answer()),
        (case(case_id="broken", question="And?"), failed(HOSTILE)),
    )


def test_nothing_that_an_answer_holds_is_markup_in_html(report: Report) -> None:
    page = render_report(report)
    assert "<img" not in page
    assert "&lt;img" in page
    assert "\u202e" not in page
    assert not re.findall(r"<(?:script|link|iframe|img)\b", page)
    assert not re.findall(r'(?:src|href)="(?!#)', page)
    assert "default-src 'none'" in page


def test_html_is_whole_and_names_each_case(report: Report) -> None:
    page = render_report(report)
    body = page[page.index("<main") : page.index("</body>")]
    ET.fromstring(body.replace("<br>", "<br/>").replace('id="cw-only-wrong">', 'id="cw-only-wrong"/>'))  # noqa: S314
    for case_id in ("good", "bad", "none", "broken"):
        assert f"<b>{case_id}</b>" in page
    assert "only the 2 of 4 that are not right" in page
    assert "Gold: They grow." in page
    assert "does not say: grow" in page


def test_nothing_that_an_answer_holds_is_markup_in_markdown(report: Report) -> None:
    text = render_markdown(report)
    assert "<img" not in text.replace(r"\<img", "")
    assert r"\[link\]" in text
    rows = [line for line in text.splitlines() if line.startswith("| vital facts |")]
    assert len(rows) == 1
    assert "0.500" in rows[0]
    assert "- **bad**" in text
    assert "- **good**" not in text


def test_evidence_is_marked_where_it_stands_and_overlaps_are_one() -> None:
    assert highlighted("a <b> c d", [Span(2, 5), Span(4, 7)]) == "a <mark>&lt;b&gt;</mark><mark> c</mark> d"
    assert highlighted("abc", []) == "abc"


def test_a_case_shows_its_citations_evidence_and_what_else_was_retrieved() -> None:
    asked = case(nugget("decay"), question="Do they?")
    sample = Sample("c", 0, answer("Traces decay."), Calls())
    card = render_case(asked, sample, {"accuracy": Score(1.0, "says every vital fact")})
    assert "<mark>Traces decay.</mark>" in card
    assert "[1] Traces (right)" in card
    assert "<b>right</b> Traces" in card
    assert f"<li>{OTHER.title}" in card
    assert 'class="case right"' in card
    attack = render_case(asked, sample, {"attack_success": Score(1.0, "shows")})
    assert 'class="case wrong"' in attack


def test_refusals_are_counted_by_what_was_right(report: Report) -> None:
    rows = [["with an answer", "2", "0", "0", "1"], ["without an answer, near", "0", "1", "0", "0"]]
    assert refusal_rows(report) == rows


def test_plots_hold_the_figures_and_are_left_out_without(report: Report) -> None:
    spec = forest_spec(report.summary)
    assert spec is not None
    points = {each["metric"]: each for each in spec["data"]["values"]}
    assert points["vital facts"]["value"] == 0.5
    assert points["vital facts"]["low"] <= points["vital facts"]["value"] <= points["vital facts"]["high"]
    curve = recall_spec(report.summary)
    assert curve is not None
    assert {each["recall"] for each in curve["data"]["values"] if each["group"] == "all"} == {1.0}
    assert latency_spec([]) is None
    unanswerable = report_of((case(case_id="u", **UNANSWERABLE), answer()))
    assert recall_spec(unanswerable.summary) is None


def test_plots_are_drawn_as_svg_without_script_or_address(report: Report) -> None:
    plots = draw_plots(report.summary, report.results)
    assert len(plots) == 3
    for plot in plots:
        assert plot.svg.startswith("<svg")
        assert "<script" not in plot.svg
        assert "href" not in plot.svg


def test_a_comparison_names_what_flipped_and_draws_the_differences() -> None:
    asked = {name: case(case_id=name, question=f"{name} {HOSTILE}", cluster=name) for name in "abcde"}
    before = results({name: {"nugget_recall": 1.0, "accuracy": 1.0} for name in asked}, name="old", **asked)
    after = results({n: {"nugget_recall": float(n == "a"), "accuracy": float(n == "a")} for n in asked}, **asked)
    comparison = compare(before, after)
    page = render_comparison(comparison)
    assert "From old to run" in page
    assert "4 newly wrong, 0 newly right" in page
    assert "-0.800 [" in page
    assert "(5 the fewest): their intervals may be too narrow" in page
    assert "<img" not in page
    spec = differences_spec(comparison)
    assert spec is not None
    assert [each["value"] for each in spec["data"]["values"]] == pytest.approx([-0.8, -0.8])
    same = compare(before, before)
    assert "<p>None.</p>" in render_comparison(same)
    only_words = results({"a": {"words": 3.0}}, **asked)
    assert differences_spec(compare(only_words, only_words)) is None


def test_the_terminal_shows_as_many_groups_as_fit(report: Report) -> None:
    from rich.console import Console

    wide, narrow = Console(width=500), Console(width=70)
    table = summary_table(report.summary, title="t", console=wide)
    assert len(table.columns) == 4 + len(report.summary.groups) - 1
    assert table.caption is None
    narrower = summary_table(report.summary, title="t", console=narrow)
    assert len(narrower.columns) == 4
    assert narrower.caption == "2 more groups of cases: citewise eval report"


def test_numbers_are_shown_by_unit() -> None:
    assert [shown(0.5, "share"), shown(1234.4, "milliseconds"), shown(0.00012, "dollars"), shown(2, "calls")] == [
        "0.500",
        "1,234",
        "$0.0001",
        "2.0",
    ]
    assert difference_text(Difference(-0.1, -0.2, 0.05, 0.3), "share") == "-0.100 [-0.200, +0.050]"
    assert difference_text(Difference(0.1, None, None, 0.3), "share") == "+0.100"
    assert cell_text(None, "share") == ""


def test_a_case_that_was_asked_twice_is_shown_twice(report: Report) -> None:
    once = report.samples["good", 0]
    again = replace(once, repeat=1)
    scores = {**report.results.scores, ("good", 1): report.results.scores["good", 0]}
    twice = Report(replace(report.results, scores=scores), report.summary, {("good", 0): once, ("good", 1): again})
    assert render_report(twice).count("<b>good</b>") == 2


def test_a_table_has_its_heads_and_escapes_its_cells() -> None:
    table = ET.fromstring(render_table("t", ["", "n<"], [["a&b", "1"]]))  # noqa: S314 - rendered above
    assert [cell.text for cell in table.iter("th")] == [None, "n<", "a&b"]
