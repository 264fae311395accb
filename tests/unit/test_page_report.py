"""What a measurement of the page calls a failure, how its figures stand beside their targets, and what it needs."""

import json
import sys
from dataclasses import replace

import pytest

from evals.page.asking import Asked, Readers
from evals.page.browser import BrowserError, chromium
from evals.page.loading import Load
from evals.page.report import PageReport, failures, to_record, to_table

OURS = Load(usable=600.0, requests=80, sent=430_000, decoded=1_200_000, document=32_000, outside=())
BARE = Load(usable=400.0, requests=50, sent=420_000, decoded=900_000, document=48_000, outside=())
FINE = PageReport(
    corpus="c",
    papers=19,
    processors=2,
    machine_load=0.5,
    loads=[OURS, OURS._replace(usable=700.0), OURS._replace(usable=1_600.0)],
    later=[OURS._replace(sent=40_000)],
    bare=[BARE],
    bare_later=[BARE],
    hasty=[Asked("Answer ready", 150.0)],
    asked=[Asked("Answer ready", 120.0), Asked("Answer ready", 140.0), Asked("No answer", None)],
    readers=2,
    together=Readers((0.5, 0.7), ()),
)


def cells(report: PageReport) -> dict[str, tuple[str, ...]]:
    """The rows of the table by their first cell."""
    columns = [list(column.cells) for column in to_table(report).columns]
    return {str(row[0]).strip(): tuple(map(str, row[1:])) for row in zip(*columns, strict=True)}


def test_figures_stand_beside_their_target_and_the_bare_page() -> None:
    rows = cells(FINE)
    assert rows["usable, ms p50 / p95"] == ("700 / 1,510", "1,500", "400 / 400", "1.75")
    assert rows["weight as sent, KB"] == ("430", "600", "420", "1.02")
    assert rows["first citation of 2 answers, ms p50 / p95"] == ("130 / 139", "200", "", "")
    assert rows["2 readers at once"][:2] == ("2 answered", "2")
    assert rows["failures"][0] == "none"


@pytest.mark.parametrize(
    ("report", "told"),
    [
        (FINE, []),
        (
            replace(FINE, loads=[OURS._replace(outside=("https://a.example/x",))]),
            ["asked another host: https://a.example/x"],
        ),
        (replace(FINE, hasty=[Asked("", None)]), ["1 questions without an end of their answer"]),
        (replace(FINE, together=Readers((), ("HTTP 500 for /x",))), ["HTTP 500 for /x"]),
    ],
)
def test_failures(report: PageReport, told: list[str]) -> None:
    assert failures(report) == told
    assert json.loads(json.dumps(to_record(report)))["failures"] == told


def test_without_playwright_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "playwright.sync_api", None)
    with pytest.raises(BrowserError, match="pip install playwright"), chromium():
        pass
