"""The HTML of a run opens from disk: it shows the figures, asks nothing of any host, and axe finds no fault in it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.pages import DESKTOP, PHONE
from tests.browser.test_access import AXE
from tests.contract.test_cli import run

pytestmark = pytest.mark.browser
CASES = 40


@pytest.fixture(scope="module")
def report(seed_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of the first cases of the seed suite."""
    folder = tmp_path_factory.mktemp("report")
    runs, page = ["--out", str(folder)], folder / "report.html"
    asked = run("eval", "run", "seed", "--writer", "extractive", "--limit", str(CASES), *runs, home=seed_home)
    assert asked.returncode == 0, asked.stderr
    assert run("eval", "report", "last", "--html", str(page), *runs, home=seed_home).returncode == 0
    return page


@contextmanager
def opened(browser: Browser, file: Path, *, size: tuple[int, int] = DESKTOP) -> Iterator[Page]:
    """The file in Chromium, which must ask for nothing but the file and complain of nothing."""
    context = browser.new_context(viewport={"width": size[0], "height": size[1]})
    page = context.new_page()
    asked: list[str] = []
    complaints: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(file.as_uri())
    try:
        yield page
    finally:
        context.close()
    assert asked == [file.as_uri()]
    assert complaints == []


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_the_report_opens_from_disk(browser: Browser, report: Path, size: tuple[int, int]) -> None:
    with opened(browser, report, size=size) as page:
        expect(page.locator("figure svg")).to_have_count(3)
        expect(page.get_by_role("row", name="vital facts", exact=False).first).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        page.locator("details.case > summary").first.click()
        expect(page.locator("details.case").first.locator(".answer")).to_be_visible()
        page.locator("details.case").first.locator("details summary", has_text="[1]").click()
        expect(page.locator("details.case").first.locator("mark").first).to_be_visible()
        page.locator("#cw-only-wrong").check()
        expect(page.locator("details.case.right").first).to_be_hidden()
        expect(page.locator("details.case.wrong").first).to_be_visible()
        found = page.evaluate(f"{AXE}; axe.run(document, {{resultTypes: ['violations']}})")
        assert [f"{fault['id']}: {fault['nodes'][0]['html'][:200]}" for fault in found["violations"]] == []
