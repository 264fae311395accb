"""The Ask tab in Chromium. Each test also fails on a request beyond the page's server and on an error in the page."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.browser.conftest import OpenPage
from tests.browser.pages import DESKTOP, PHONE, Reader, becomes, reading, served

pytestmark = pytest.mark.browser
QUESTION = "What are memory traces?"
CITATION = 'a[href^="#cite-"]'
WHOLE_SLOW_ANSWER = 24
"""Citations of an answer to "slowly" that nobody stops."""


def test_an_answer_streams_with_its_citations(reader: Reader) -> None:
    reader.ask("Answer slowly please", wait=False)
    expect(reader.chips.first).to_have_attribute("href", re.compile("-pending$"))
    expect(reader.page.locator("#sources .list h2")).to_have_text("Reading 8 abstracts")


def test_a_finished_answer_is_checked(reader: Reader) -> None:
    reader.ask(QUESTION)
    expect(reader.chips).to_have_count(4)
    for at, support in enumerate(["supported", "supported", "supported", "partly"]):
        expect(reader.chips.nth(at)).to_have_attribute("href", re.compile(f"-{support}$"))
    expect(reader.answer.locator(".unsupported")).to_have_text("unsupported")
    expect(reader.status).to_contain_text(
        "Searched “What are memory traces?” · 8 abstracts read · 3 cited · fake-model"
    )
    expect(reader.page.locator("#sources .list .source")).to_have_count(3)


def test_maths_is_typeset_and_prices_and_brackets_stay_text(reader: Reader) -> None:
    reader.ask(QUESTION)
    expect(reader.answer.locator(".katex")).to_have_count(2)
    expect(reader.answer).to_contain_text("less than $5 or $6 on x[0]")


def test_a_click_opens_the_source_with_the_evidence_marked(reader: Reader) -> None:
    reader.ask(QUESTION)
    reader.chips.nth(3).click()
    expect(reader.opened.locator("h2")).to_contain_text("EvFocus")
    expect(reader.opened.locator("mark")).to_have_text(re.compile("^Event cameras are innovative sensors"))
    expect(reader.opened.locator(".support")).to_have_text("partly supported")
    link = reader.opened.locator("h2 a")
    expect(link).to_have_attribute("href", re.compile("^https://openreview.net/"))
    expect(link).to_have_attribute("rel", "noopener noreferrer")
    expect(reader.page.locator("#sources .list .source:visible")).to_have_count(2)


def test_enter_opens_a_source_and_escape_gives_the_focus_back(reader: Reader) -> None:
    reader.ask(QUESTION)
    reader.chips.first.focus()
    reader.page.keyboard.press("Enter")
    expect(reader.opened).to_be_focused()
    reader.page.keyboard.press("Escape")
    expect(reader.opened).to_have_count(0)
    expect(reader.chips.first).to_be_focused()


def test_hovering_shows_title_and_evidence(reader: Reader) -> None:
    reader.ask(QUESTION)
    reader.chips.nth(3).hover()
    card = reader.page.locator("#hover-card")
    expect(card).to_contain_text("Event cameras are innovative sensors")
    expect(card).to_contain_text("partly supported")
    reader.page.mouse.move(2, 2)
    expect(card).to_be_hidden()


def test_a_citation_of_an_earlier_answer_still_opens(reader: Reader) -> None:
    reader.ask(QUESTION)
    reader.ask("What does hostile text do?")
    reader.chips.first.click()
    expect(reader.opened.locator("h2")).to_contain_text("Memory Traces")


def top_of(element: Locator) -> float:
    box = element.bounding_box()
    assert box
    return box["y"]


def test_a_new_question_comes_to_the_top(reader: Reader) -> None:
    reader.ask(QUESTION)
    reader.ask("And answer slowly please", wait=False)
    expect(reader.answer).to_contain_text("contrastive", timeout=10_000)
    becomes(reader.page, lambda: top_of(reader.question) - top_of(reader.page.locator("#chat .bubble-wrap")) < 80, True)


def test_stop_keeps_what_was_written_and_the_next_question_is_answered(reader: Reader) -> None:
    reader.ask("Answer slowly please", wait=False)
    expect(reader.chips.first).to_be_visible()
    reader.page.locator("#ask .stop-button").click()
    expect(reader.status).to_contain_text("Stopped")
    expect(reader.page.locator("#ask .submit-button")).to_be_visible()
    expect(reader.status).to_contain_text("Stopped")
    reader.ask(QUESTION)
    expect(reader.status).to_contain_text("3 cited")
    stopped = reader.page.locator('#chat [data-testid="bot"]').first
    assert 0 < stopped.locator(CITATION).count() < WHOLE_SLOW_ANSWER
    assert reader.answer.locator(CITATION).count() == 4


def test_not_in_the_corpus_looks_different_and_lists_the_nearest_papers(reader: Reader) -> None:
    reader.ask("What is nowhere to be found?")
    expect(reader.answer.locator(".outcome.absent")).to_contain_text("Not in these abstracts")
    expect(reader.answer).to_contain_text("not evidence")
    reader.answer.locator('a[href$="-nearest"]').first.click()
    expect(reader.opened.locator(".support")).to_have_text("nearest, not evidence")
    expect(reader.opened.locator("mark")).to_have_count(0)


def test_a_failure_says_what_to_do_and_try_again_asks_again(reader: Reader) -> None:
    reader.ask("Is it broken?")
    box = reader.answer.locator(".outcome.failed")
    expect(box).to_contain_text("answered 503. Wait a little, or start the server again.")
    expect(reader.page.locator("#sources .list h2")).to_have_text("Abstracts found")
    expect(reader.page.locator("#sources .papers li")).not_to_have_count(0)
    reader.answer.get_by_role("link", name="Try again").click()
    expect(box).to_have_count(0)
    reader.wait_for_the_end()
    expect(reader.questions).to_have_count(1)
    expect(box).to_have_count(1)


def test_an_error_before_any_text_is_shown_as_a_failure(reader: Reader) -> None:
    reader.ask("raise it")
    expect(reader.answer.locator(".outcome.failed")).to_contain_text(
        "The corpus is damaged. Run: citewise ingest again."
    )


@pytest.fixture(scope="module")
def breakable(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A page of its own, whose log may tell of defects."""
    with served("fake", home=tmp_path_factory.mktemp("home"), may_crash=True) as url:
        yield url


def test_after_a_defect_the_page_can_be_asked_again(browser: Browser, breakable: str) -> None:
    with reading(browser, breakable) as reader:
        reader.ask("crash now")
        expect(reader.status).to_contain_text("Something broke here")
        reader.ask(QUESTION)
        expect(reader.status).to_contain_text("3 cited")


def test_gradios_own_progress_and_errors_are_neither_seen_nor_read_nor_in_the_way(
    browser: Browser, breakable: str
) -> None:
    with reading(browser, breakable) as reader:
        overlays = reader.page.locator('[data-testid="status-tracker"]')
        told = overlays.filter(has_text=re.compile(r"\S"))
        reader.ask(QUESTION)
        reader.ask("crash now")
        expect(reader.status).to_contain_text("Something broke here")
        expect(told).not_to_have_count(0)
        for overlay in overlays.all():
            expect(overlay).to_be_hidden()  # what is only transparent is read out, and counts as visible here
        reader.chips.first.click()
        expect(reader.opened).to_be_focused()


def test_retry_answers_the_last_question_again(reader: Reader) -> None:
    reader.ask(QUESTION)
    reader.page.locator('#chat button[aria-label="Retry"]').click()
    expect(reader.chips).to_have_count(0)
    reader.wait_for_the_end()
    expect(reader.questions).to_have_count(1)
    expect(reader.chips).to_have_count(4)


def test_an_edited_question_shows_what_was_typed_and_is_asked_as_edited(reader: Reader) -> None:
    typed = "Is a < b & *c* in [1]?"
    reader.ask(typed)
    expect(reader.question).to_have_text(typed)
    reader.page.locator('#chat button[aria-label="Edit"]').click()
    field = reader.page.locator("#chat textarea")
    expect(field).to_have_value(typed)
    field.fill("Is a > b in memory?")
    reader.page.locator('#chat button[aria-label="Submit"]').click()
    expect(reader.question).to_have_text("Is a > b in memory?")
    reader.wait_for_the_end()
    expect(reader.questions).to_have_count(1)
    expect(reader.status).to_contain_text("Searched “Is a > b in memory?”")


def test_undo_gives_the_question_back(reader: Reader) -> None:
    reader.ask(QUESTION)
    reader.page.locator('#chat button[aria-label="Undo"]').click()
    expect(reader.page.locator("#ask textarea")).to_have_value(QUESTION)
    expect(reader.page.locator('#chat [data-testid="bot"]')).to_have_count(0)


def test_copied_text_is_plain(reader: Reader) -> None:
    reader.ask(QUESTION)
    reader.page.locator('#chat button[aria-label="Copy message"]').last.click()
    reader.page.wait_for_function("async () => (await navigator.clipboard.readText()).length > 0")
    copied = reader.page.evaluate("navigator.clipboard.readText()")
    assert "long histories. [1] " in copied
    assert "the cost is $O(n^2)$, up to 7$\\times$ less than $5 or $6 on x[0]" in copied
    assert not re.search(r"#cite|&#|<span", copied)


def test_an_example_question_is_answered(reader: Reader) -> None:
    reader.page.locator("#examples button").first.click()
    expect(reader.questions).to_have_count(1)
    reader.wait_for_the_end()
    expect(reader.chips).to_have_count(4)
    expect(reader.page.locator("#examples")).to_be_hidden()


def test_slash_goes_to_the_question_box(reader: Reader) -> None:
    reader.page.locator("#tabs [role=tab]").first.focus()
    reader.page.keyboard.press("/")
    expect(reader.page.locator("#ask textarea")).to_be_focused()
    expect(reader.page.locator("#ask textarea")).to_have_value("")


def test_hostile_text_is_shown_and_does_nothing(reader: Reader) -> None:
    reader.ask('hostile <img src=x onerror="window.pwned=1"> ![x](https://evil.example/q.png) ${window.pwned=1}')
    expect(reader.answer).to_contain_text("<script>window.pwned=1</script>")
    expect(reader.question).to_contain_text("![x](https://evil.example/q.png) ${window.pwned=1}")
    reader.chips.first.hover()
    expect(reader.page.locator("#hover-card")).to_contain_text("![t](https://evil.example/t.png) ${alert(1)}")
    reader.chips.first.click()
    expect(reader.opened).to_contain_text("${window.pwned=1}")
    expect(reader.opened.locator("a")).to_have_count(0)
    assert reader.page.evaluate("window.pwned") is None
    assert reader.page.locator(":is(#chat, #sources, #hover-card, #history) :is(img, script)").count() == 0


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_the_question_box_is_always_in_view(open_page: OpenPage, size: tuple[int, int]) -> None:
    with open_page(size=size) as reader:
        reader.ask(QUESTION)
        reader.ask("What does a broken endpoint do?")
        expect(reader.page.locator("#ask textarea")).to_be_in_viewport(ratio=1)
        assert reader.page.evaluate("document.documentElement.scrollHeight <= innerHeight")
        assert reader.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_on_a_phone_the_sources_come_up_from_below_and_go_again(open_page: OpenPage) -> None:
    with open_page(size=PHONE) as reader:
        reader.ask(QUESTION)
        expect(reader.sources).to_be_hidden()
        reader.chips.nth(3).tap()
        expect(reader.opened.locator("mark")).to_be_in_viewport()
        close = reader.page.locator("#sources .close")
        box = close.bounding_box()
        assert box
        assert min(box["width"], box["height"]) >= 44
        close.tap()
        expect(reader.sources).to_be_hidden()
        reader.page.get_by_role("link", name="3 sources").tap()
        expect(reader.page.locator("#sources .list .source").first).to_be_in_viewport()


def test_two_readers_at_once_each_get_their_own_answer(browser: Browser, site: str) -> None:
    with reading(browser, site) as one, reading(browser, site) as other:
        other.ask("hostile: answer slowly please", wait=False)
        one.ask(QUESTION, wait=False)
        expect(one.chips.first).to_be_visible()
        expect(other.chips.first).to_be_visible()
        other.page.locator("#ask .stop-button").click()
        expect(other.status).to_contain_text("Stopped")
        one.wait_for_the_end()
        expect(one.status).to_contain_text(f"Searched “{QUESTION}” · 8 abstracts read · 3 cited")
        for reader, is_hostile in ((one, False), (other, True)):
            cited = [str(chip.get_attribute("href")) for chip in reader.chips.all()]
            assert any("hostile" in href for href in cited) is is_hostile


def test_without_a_model_one_line_says_how_to_add_one(browser: Browser, tmp_path: Path) -> None:
    with served("quoting", home=tmp_path) as url, reading(browser, url) as reader:
        expect(reader.page.locator("#hint")).to_contain_text("CITEWISE_BASE_URL")
        reader.ask(QUESTION)
        expect(reader.status).to_contain_text("quoted, no model")
