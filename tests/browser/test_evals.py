"""The Evals tab: a run started on the page, its figures and cases, two runs side by side, and stopping."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.looks import in_every_look, inspecting

pytestmark = pytest.mark.browser
ENDED = re.compile(r"\d+ of \d+ answered and scored")
SECONDS = 90_000


def start_run(page: Page, *, limit: int) -> None:
    page.get_by_role("tab", name="Evals").click()
    page.get_by_label("First cases only (0: all)").fill(str(limit))
    page.get_by_role("button", name="Start a run").click()


def test_a_run_is_started_shown_and_compared(open_page: OpenPage) -> None:
    with open_page() as reader:
        page = reader.page
        progress, figures = page.locator("#evals-progress"), page.locator("#evals-figures")
        start_run(page, limit=3)
        expect(progress).to_contain_text("3 of 3 answered and scored", timeout=SECONDS)
        expect(figures.get_by_role("region", name="Metrics")).to_contain_text("recall@5", timeout=SECONDS)
        expect(figures.locator("figure svg").first).to_be_visible()
        cases = page.locator("#evals-cases details.case")
        expect(cases).to_have_count(3)
        cases.first.locator("summary").first.click()
        expect(cases.first).to_contain_text("papers retrieved")
        start_run(page, limit=2)
        expect(progress).to_contain_text("2 of 2 answered and scored", timeout=SECONDS)
        page.get_by_label("Compared with").click()
        page.get_by_role("option").nth(2).click()  # behind "none" and the run itself
        expect(figures).to_contain_text("Where it hurt and helped", timeout=SECONDS)
        expect(figures).to_contain_text("Cases that changed")


def test_a_run_is_stopped_and_keeps_what_was_answered(open_page: OpenPage) -> None:
    with open_page() as reader:
        page = reader.page
        start_run(page, limit=0)
        progress = page.locator("#evals-progress")
        expect(progress).to_contain_text(re.compile(r"[1-9]\d* of \d+ answered"), timeout=SECONDS)
        page.get_by_role("button", name="Stop", exact=True).click()
        expect(progress).to_contain_text(ENDED, timeout=SECONDS)
        answered, planned = map(int, re.findall(r"\d+", progress.inner_text())[:2])
        assert 0 < answered < planned


@in_every_look
def test_axe_finds_nothing(open_page: OpenPage, size: tuple[int, int], dark: bool) -> None:
    with open_page(size=size, dark=dark) as reader, inspecting(reader.page) as look:
        start_run(reader.page, limit=2)
        expect(reader.page.locator("#evals-progress")).to_contain_text(ENDED, timeout=SECONDS)
        expect(reader.page.locator("#evals-figures table").first).to_be_visible(timeout=SECONDS)
        expect(reader.page.locator("#evals-cases details.case").first).to_be_visible()
        look("run")
        reader.page.locator("#evals-cases details.case > summary").first.click()
        look("case")
        reader.page.get_by_label("Run", exact=True).click()
        expect(reader.page.get_by_role("option").first).to_be_visible()
        look("list of runs")
