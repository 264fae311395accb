"""No accessibility fault that axe-core finds on the Ask tab in any state, and only the status line speaks."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import OpenPage
from tests.browser.looks import at_every_size, inspecting

pytestmark = pytest.mark.browser


@at_every_size
def test_axe_finds_nothing_in_any_answer(open_page: OpenPage, size: tuple[int, int]) -> None:
    with open_page(size=size) as reader, inspecting(reader.page) as look:
        look("empty")
        reader.ask("What are memory traces?")
        look("answered")
        reader.chips.nth(3).hover()
        look("hovered")
        reader.chips.nth(3).click()
        expect(reader.opened).to_be_focused()
        look("source")
        reader.page.keyboard.press("Escape")
        for state in ("nowhere", "vague", "broken"):
            reader.ask(f"Is it {state}?")
            look(state)


@at_every_size
def test_axe_finds_nothing_in_what_opens(open_page: OpenPage, size: tuple[int, int]) -> None:
    with open_page(size=size) as reader, inspecting(reader.page) as look:
        reader.ask("What are memory traces?")
        for part in ("settings", "history", "filters"):
            if not reader.page.locator(f'[data-toggle="{part}"]').is_visible():
                continue  # a wide window shows the conversations always
            reader.toggle(part)
            look(part)
            reader.page.keyboard.press("Escape")
        reader.page.locator("#tools summary").click()
        look("export")
        reader.page.keyboard.press("Escape")
        reader.page.locator("#tabs [role=tab]").first.focus()
        reader.page.keyboard.press("?")
        look("shortcuts")


def test_only_the_status_line_speaks_while_an_answer_streams(open_page: OpenPage) -> None:
    with open_page() as reader:
        reader.ask("What are memory traces?", wait=False)
        expect(reader.chips.first).to_be_visible()
        assert reader.page.locator('#chat [aria-live="polite"], #chat [aria-live="assertive"]').count() == 0
        expect(reader.answer).to_have_attribute("aria-label", "Answer")
        reader.wait_for_the_end()
        expect(reader.status).to_have_attribute("role", "status")
