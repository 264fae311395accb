"""No accessibility fault that axe-core finds, in any state, on a desktop and a phone, light and dark."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import OpenPage
from tests.browser.pages import DESKTOP, PHONE, Reader

pytestmark = pytest.mark.browser
AXE = (Path(__file__).parent / "axe" / "axe.min.js").read_text(encoding="utf-8")


def faults(reader: Reader) -> list[str]:
    """What axe-core finds on the page as it is: rule, impact and the first node."""
    if not reader.page.evaluate("Boolean(window.axe)"):
        reader.page.evaluate(AXE)
    result: dict[str, Any] = reader.page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [f"{fault['id']} ({fault['impact']}): {fault['nodes'][0]['html'][:200]}" for fault in result["violations"]]


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_axe_finds_nothing(open_page: OpenPage, size: tuple[int, int], dark: bool) -> None:
    with open_page(size=size, dark=dark) as reader:
        found = {"empty": faults(reader)}
        reader.ask("What are memory traces?")
        found["answered"] = faults(reader)
        reader.chips.nth(3).click()
        expect(reader.opened).to_be_focused()
        reader.page.wait_for_timeout(300)  # the sheet's way up
        found["source"] = faults(reader)
        reader.page.keyboard.press("Escape")
        reader.ask("What is nowhere in here?")
        found["absent"] = faults(reader)
        reader.ask("Is it broken?")
        found["failed"] = faults(reader)
        assert not {state: listed for state, listed in found.items() if listed}


def test_the_page_is_used_by_keyboard_alone(open_page: OpenPage) -> None:
    with open_page() as reader:
        page = reader.page
        expect(page.locator("#ask textarea")).to_be_focused()
        page.keyboard.type("What are memory traces?")
        page.keyboard.press("Enter")
        expect(reader.questions).to_have_count(1)
        reader.wait_for_the_end()
        for _ in range(12):
            page.keyboard.press("Shift+Tab")
            if page.evaluate("document.activeElement.matches('#chat a[href^=\"#cite-\"]')"):
                break
        focused = page.locator(":focus")
        expect(focused).to_have_attribute("href", "#cite-cJCROTFMEM-1-partly")
        assert focused.evaluate("element => getComputedStyle(element).outlineStyle") == "solid"
        expect(page.locator("#hover-card")).to_be_visible()
        page.keyboard.press("Enter")
        expect(reader.opened).to_be_focused()
        page.keyboard.press("Tab")
        expect(reader.opened.locator("h2 a")).to_be_focused()
        page.keyboard.press("Escape")
        expect(page.locator('#chat a[href="#cite-cJCROTFMEM-1-partly"]')).to_be_focused()


def test_only_the_status_line_speaks_while_an_answer_streams(open_page: OpenPage) -> None:
    with open_page() as reader:
        reader.ask("What are memory traces?", wait=False)
        expect(reader.chips.first).to_be_visible()
        assert reader.page.locator('#chat [aria-live="polite"], #chat [aria-live="assertive"]').count() == 0
        expect(reader.answer).to_have_attribute("aria-label", "Answer")
        reader.wait_for_the_end()
        expect(reader.status).to_have_attribute("role", "status")
