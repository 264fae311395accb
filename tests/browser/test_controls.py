"""Filters, suggestions, settings and shortcuts of the Ask tab in Chromium."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import OpenPage
from tests.browser.pages import PHONE, Reader, settle

pytestmark = pytest.mark.browser
QUESTION = "What are memory traces?"
_NOTE_WHAT_MOVES = """window.moved = [];
for (const kind of ["animationstart", "transitionrun"]) document.addEventListener(kind, () => window.moved.push(
  ...document.getAnimations().filter((each) => each.effect.getComputedTiming().duration > 1)));"""


def test_a_filter_limits_what_is_read_until_its_chip_is_removed(reader: Reader) -> None:
    reader.toggle("filters")
    expect(reader.page.locator("#filter-years :is(input, textarea)")).to_be_focused()
    reader.page.locator("#filter-years :is(input, textarea)").fill("1999")
    chip = reader.page.locator('#chips [data-drop="years"]')
    expect(chip).to_contain_text("Years: 1999")
    reader.ask("nowhere: nothing is that old")
    expect(reader.status).to_contain_text("0 abstracts read")
    chip.click()
    expect(chip).to_have_count(0)
    reader.ask("nowhere to be found")
    expect(reader.status).to_contain_text("8 abstracts read")
    reader.page.locator("#filter-years :is(input, textarea)").fill("soon")
    expect(reader.page.locator("#chips .problem")).to_contain_text("no year")
    reader.page.keyboard.press("Escape")
    expect(reader.page.locator("#filters")).to_be_hidden()


def test_a_filter_that_words_set_is_shown_and_can_be_taken_back(reader: Reader) -> None:
    reader.ask("nowhere: papers by Hua Huang on cameras")
    chip = reader.page.locator('#chips [data-drop="read"]')
    expect(chip).to_contain_text("Papers by Hua Huang, as you wrote")
    chip.click()
    expect(chip).to_have_count(0)
    reader.wait_for_the_end()
    expect(reader.questions).to_have_count(1)


def test_the_answer_from_all_papers_can_be_stopped(reader: Reader) -> None:
    reader.ask("What are memory traces in papers by Hua Huang?")
    reader.page.locator('#chips [data-drop="read"]').click()
    reader.page.locator("#ask .stop-button").click()
    expect(reader.page.locator("#ask .submit-button")).to_be_visible(timeout=20_000)
    expect(reader.status).to_contain_text("Stopped")
    assert reader.chips.count() < 4


def test_a_suggestion_asks_and_gives_way_to_the_next(reader: Reader) -> None:
    reader.ask(QUESTION)
    suggestion = reader.suggested.first
    asked = suggestion.inner_text()
    suggestion.click()
    expect(reader.questions).to_have_count(2)
    expect(reader.question).to_have_text(asked)
    reader.wait_for_the_end()
    expect(reader.suggested).to_have_count(3)
    expect(reader.page.locator("#ask textarea")).to_be_focused()


def test_settings_are_kept_by_the_browser_without_waiting_for_the_server(reader: Reader) -> None:
    reader.toggle("settings")
    expect(reader.page.locator("#settings")).to_contain_text("one call a question")
    expect(reader.page.locator("#models option")).to_have_count(2)
    reader.page.context.set_offline(True)
    reader.page.get_by_label("Quote the abstracts").check()
    reader.page.locator("#settings input[type=number]").fill("12")
    reader.page.get_by_label("Language of answers").click()
    reader.page.get_by_role("option", name="German").click()
    reader.page.context.set_offline(False)
    reader.again()
    reader.toggle("settings")
    expect(reader.page.get_by_label("Quote the abstracts")).to_be_checked()
    expect(reader.page.locator("#settings input[type=number]")).to_have_value("12")
    expect(reader.page.get_by_label("Language of answers")).to_have_value("German")
    reader.page.keyboard.press("Escape")
    expect(reader.page.locator("#settings")).to_be_hidden()
    expect(reader.page.locator('#tools [data-toggle="settings"]')).to_be_focused()
    reader.ask(QUESTION)


def test_a_question_mark_shows_the_shortcuts_and_escape_gives_the_focus_back(reader: Reader) -> None:
    tab = reader.page.locator("#tabs [role=tab]").first
    tab.focus()
    reader.page.keyboard.press("?")
    dialog = reader.page.get_by_role("dialog", name="Keyboard")
    expect(dialog).to_be_visible()
    reader.page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(tab).to_be_focused()
    reader.page.locator("#ask textarea").press("?")
    expect(dialog).to_be_hidden()


@pytest.mark.parametrize(
    ("question", "told"),
    [
        (QUESTION, "Answer ready."),
        ("Is it nowhere?", "No answer in these abstracts."),
        ("Is it vague?", "Asked back."),
        ("Is it broken?", "No answer."),
    ],
)
def test_the_end_of_an_answer_is_announced(reader: Reader, question: str, told: str) -> None:
    expect(reader.status).to_have_attribute("role", "status")
    reader.ask(question, wait=False)
    reader.wait_for_the_end()
    expect(reader.status).to_have_text(re.compile(f"^{re.escape(told)}"))


def test_the_options_of_what_is_asked_back_outlive_a_reload(reader: Reader) -> None:
    reader.ask("Is it vague?")
    expect(reader.page.locator("#sources .list h2")).to_have_text("Papers that fit")
    expect(reader.suggested).to_have_count(4)
    reader.again()
    expect(reader.suggested).to_have_count(4)
    reader.suggested.first.click()
    reader.wait_for_the_end()
    expect(reader.questions).to_have_count(2)
    expect(reader.chips).to_have_count(4)


@pytest.mark.parametrize("still", [False, True])
def test_nothing_moves_for_who_wants_no_motion(open_page: OpenPage, still: bool) -> None:
    with open_page(still=still) as reader:
        reader.page.evaluate(_NOTE_WHAT_MOVES)
        reader.toggle("settings")
        settle(reader.page)
        assert bool(reader.page.evaluate("window.moved.length")) is not still


def test_on_a_phone_the_drawers_fit_and_all_can_be_reached(open_page: OpenPage) -> None:
    with open_page(size=PHONE) as reader:
        reader.ask(QUESTION)
        for part, drawer in (("history", "#history"), ("settings", "#settings")):
            reader.page.locator(f'[data-toggle="{part}"]').tap()
            expect(reader.page.locator(drawer)).to_be_in_viewport(ratio=0.9)
            close = reader.page.locator(f"{drawer} .close")
            box = close.bounding_box()
            assert box
            assert min(box["width"], box["height"]) >= 44
            close.tap()
            expect(reader.page.locator(drawer)).to_be_hidden()
        reader.page.locator("#tools summary").tap()
        expect(reader.page.locator("#tools details ul")).to_be_in_viewport(ratio=1)
        reader.page.locator("#tools summary").tap()
        reader.page.locator("h1").first.press("?")
        expect(reader.page.locator("#shortcuts")).to_be_in_viewport(ratio=1)
        reader.page.keyboard.press("Escape")
        assert reader.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        expect(reader.page.locator("#ask textarea")).to_be_in_viewport(ratio=1)
