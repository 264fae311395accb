"""The HTML of a run and of a comparison opens from disk, asks nothing of any host, and axe finds no fault in it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.looks import faults
from tests.browser.pages import DESKTOP, PHONE
from tests.contract.test_cli import run

pytestmark = pytest.mark.browser
CASES = 40


@pytest.fixture(scope="module")
def pages(seed_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with report.html, of the first cases of the seed suite, and compare.html, of what k = 1 costs."""
    folder = tmp_path_factory.mktemp("report")
    runs = ("--out", str(folder))
    for k in ("8", "1"):
        options = ("--writer", "extractive", "--limit", str(CASES), "-k", k, *runs)
        asked = run("eval", "run", "seed", *options, home=seed_home)
        assert asked.returncode == 0, asked.stderr
    before, after = sorted(path.parent.name for path in folder.glob("*/run.json"))
    for command in (("report", before), ("compare", before, after)):
        page = folder / f"{command[0]}.html"
        assert run("eval", *command, "--html", str(page), *runs, home=seed_home).returncode == 0
    return folder


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
def test_the_report_opens_from_disk(browser: Browser, pages: Path, size: tuple[int, int]) -> None:
    with opened(browser, pages / "report.html", size=size) as page:
        expect(page.locator("figure svg")).to_have_count(3)
        expect(page.get_by_role("row", name="vital facts", exact=False).first).to_be_visible()
        page.locator("details.case > summary").first.click()
        expect(page.locator("details.case").first.locator(".answer")).to_be_visible()
        page.locator("details.case").first.locator("details summary", has_text="[1]").click()
        expect(page.locator("details.case").first.locator("mark").first).to_be_visible()
        page.locator("#cw-only-wrong").check()
        expect(page.locator("details.case.right").first).to_be_hidden()
        expect(page.locator("details.case.wrong").first).to_be_visible()
        assert faults(page) == []


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_the_comparison_opens_from_disk(browser: Browser, pages: Path, size: tuple[int, int]) -> None:
    with opened(browser, pages / "compare.html", size=size) as page:
        expect(page.locator("figure svg")).to_have_count(1)
        row = page.get_by_role("region", name="Metrics").get_by_role("row").filter(has_text="recall@5")
        expect(row).to_contain_text("-0.")
        flips = page.get_by_role("region", name="Cases that changed")
        expect(flips.get_by_role("row").nth(1)).to_contain_text("worse")
        expect(page.get_by_role("region", name="Where it hurt and helped")).to_be_visible()
        assert faults(page) == []
