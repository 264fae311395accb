"""Every action by keyboard alone: Tab leads to it, the focus is seen there, and a key does it."""

import re

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.looks import press, tab_to
from tests.browser.pages import Reader

pytestmark = pytest.mark.browser
QUESTION = "What are memory traces?"


def ask(reader: Reader, question: str = QUESTION) -> None:
    """Types a question into the box, which has the focus."""
    asked = reader.questions.count()
    expect(reader.page.locator("#ask textarea")).to_be_focused()
    reader.page.keyboard.type(question)
    reader.page.keyboard.press("Enter")
    expect(reader.questions).to_have_count(asked + 1)


def button(reader: Reader, name: str) -> Locator:
    """The button below the last message that has it."""
    return reader.page.locator(f'#chat button[aria-label="{name}"]').last


def test_a_citation_is_opened_read_and_left(reader: Reader) -> None:
    ask(reader)
    reader.wait_for_the_end()
    chip = reader.page.locator('#chat a[href="#cite-cJCROTFMEM-1-partly"]')
    tab_to(chip, key="Shift+Tab")
    expect(reader.page.locator("#hover-card")).to_be_visible()
    expect(chip).to_have_attribute("aria-describedby", "hover-card")
    reader.page.keyboard.press("Enter")
    expect(reader.opened).to_be_focused()
    reader.page.keyboard.press("Tab")
    expect(reader.opened.locator("h2 a")).to_be_focused()
    reader.page.keyboard.press("Escape")
    expect(chip).to_be_focused()


def test_an_answer_is_judged_copied_asked_again_corrected_and_taken_back(reader: Reader) -> None:
    ask(reader)
    reader.wait_for_the_end()
    press(button(reader, "Like"), back=True)
    expect(reader.status).to_contain_text("you like this answer")
    press(button(reader, "Copy message"), back=True)
    reader.page.wait_for_function("async () => (await navigator.clipboard.readText()).length > 0")
    press(button(reader, "Retry"), back=True)
    expect(reader.chips).to_have_count(0)
    reader.wait_for_the_end()
    press(button(reader, "Edit"), back=True)
    tab_to(reader.page.locator("#chat textarea"))
    reader.page.keyboard.press("Control+A")
    reader.page.keyboard.type("And in short?")
    press(button(reader, "Submit"))
    expect(reader.question).to_have_text("And in short?")
    expect(reader.status).to_contain_text("Searched “And in short?” · 8 abstracts read", timeout=20_000)
    reader.wait_for_the_end()
    press(button(reader, "Undo"), back=True)
    expect(reader.questions).to_have_count(0)
    expect(reader.page.locator("#ask textarea")).to_have_value("And in short?")


def test_examples_suggestions_and_stop(reader: Reader) -> None:
    press(reader.page.locator("#examples button").first, back=True)
    expect(reader.questions).to_have_count(1)
    reader.wait_for_the_end()
    press(reader.suggested.first)
    expect(reader.questions).to_have_count(2)
    reader.wait_for_the_end()
    ask(reader, "Answer slowly please")
    expect(reader.chips.last).to_have_attribute("href", re.compile("-pending$"))
    press(reader.page.locator("#ask .stop-button"))
    expect(reader.status).to_contain_text("Stopped")


def test_a_failed_answer_is_tried_again(reader: Reader) -> None:
    ask(reader, "Is it broken?")
    reader.wait_for_the_end()
    press(reader.answer.get_by_role("link", name="Try again"), back=True)
    expect(reader.answer.locator(".outcome.failed")).to_have_count(0)
    reader.wait_for_the_end()
    expect(reader.questions).to_have_count(1)


def test_filters_settings_and_shortcuts(reader: Reader) -> None:
    page = reader.page
    filters = page.locator('#tools [data-toggle="filters"]')
    press(filters)
    page.keyboard.type("2024")
    page.keyboard.press("Escape")
    expect(filters).to_be_focused()
    press(page.locator('#chips [data-drop="years"]'), back=True)
    expect(page.locator("#chips button")).to_have_count(0)
    settings = page.locator('#tools [data-toggle="settings"]')
    press(settings)
    press(page.get_by_label("Quote the abstracts"), "Space")
    expect(page.get_by_label("Quote the abstracts")).to_be_checked()
    press(page.get_by_label("Private questions"), "Space")
    expect(page.get_by_label("Private questions")).to_be_checked()
    page.keyboard.press("Escape")
    expect(settings).to_be_focused()
    press(page.locator('#tools [data-show="shortcuts"]'))
    expect(page.get_by_role("dialog", name="Keyboard")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="Keyboard")).to_be_hidden()


def test_an_answer_is_exported(reader: Reader) -> None:
    ask(reader)
    reader.wait_for_the_end()
    menu = reader.page.locator("#tools summary")
    press(menu)
    with reader.page.expect_download() as waiting:
        press(reader.page.get_by_role("button", name="Last answer as BibTeX"))
    assert waiting.value.suggested_filename == "what-are-memory-traces.bib"
    expect(menu).to_be_focused()


def test_conversations_are_begun_found_renamed_deleted_and_brought_back(reader: Reader) -> None:
    page = reader.page
    ask(reader, "A pelican question")
    reader.wait_for_the_end()
    opener = page.locator('#header [data-toggle="history"]')
    press(opener, back=True)
    expect(page.locator("#history .new")).to_be_focused()
    page.keyboard.press("Enter")
    expect(reader.questions).to_have_count(0)
    press(opener, back=True)
    tab_to(page.locator("#history input[type=search]"))
    page.keyboard.type("PELICAN")
    expect(reader.listed).to_have_text(["A pelican question"])
    press(page.locator("#history .rename"))
    page.keyboard.type("Of pelicans")
    page.keyboard.press("Enter")
    expect(reader.listed).to_have_text(["Of pelicans"])
    expect(reader.listed).to_be_focused()
    press(page.locator("#history .delete"))
    expect(page.locator("#history .restore")).to_be_focused()
    page.keyboard.press("Enter")
    expect(reader.listed).to_have_text(["Of pelicans"])
    press(reader.listed)
    expect(reader.question).to_have_text("A pelican question")
    expect(page.locator("#ask textarea")).to_be_focused()


def test_tabs_are_changed_and_a_paper_is_asked_about(reader: Reader) -> None:
    page = reader.page
    press(page.get_by_role("tab", name="Corpus"), back=True)
    papers = page.locator("#corpus-list ul.papers a")
    expect(papers.first).to_be_visible()
    press(papers.nth(1))
    expect(page.locator("#corpus-paper article")).to_be_focused()
    press(page.get_by_role("button", name="Ask about this paper"))
    expect(page.locator("#ask textarea")).to_be_focused()
    expect(page.locator('#chips [data-drop="scope"]')).to_be_visible()
    press(page.get_by_role("tab", name="Evals"), back=True)
    tab_to(page.get_by_label("First cases only (0: all)"))
    page.keyboard.press("Control+A")
    page.keyboard.type("1")
    press(page.get_by_role("button", name="Start a run"))
    expect(page.locator("#evals-progress")).to_contain_text("1 of 1 answered and scored", timeout=90_000)
    press(page.locator("#evals-cases details.case > summary").first)
    expect(page.locator("#evals-cases details.case").first).to_contain_text("papers retrieved")


def test_a_run_is_stopped(reader: Reader) -> None:
    page = reader.page
    press(page.get_by_role("tab", name="Evals"), back=True)
    press(page.get_by_role("button", name="Start a run"))
    progress = page.locator("#evals-progress")
    expect(progress).to_contain_text(re.compile(r"[1-9]\d* of \d+ answered"), timeout=90_000)
    press(page.get_by_role("button", name="Stop", exact=True))
    expect(progress).to_contain_text(re.compile(r"\d+ of \d+ answered and scored"), timeout=90_000)
    answered, planned = map(int, re.findall(r"\d+", progress.inner_text())[:2])
    assert 0 < answered < planned
