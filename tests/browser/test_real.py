"""The page with the real assistant on the seed corpus and no key: from the question to the marked sentence."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.browser.pages import Reader, served

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served("real", home=tmp_path_factory.mktemp("real")) as url:
        yield url


def test_a_question_is_answered_with_a_citation_that_opens_its_sentence(reader: Reader) -> None:
    reader.ask("By how much does SITAlign beat the multi-objective decoding baseline on PKU-SafeRLHF?")
    expect(reader.answer).to_contain_text("22.3%")
    expect(reader.status).to_contain_text("quoted, no model")
    marked = []
    for chip in reader.chips.all():
        chip.click()
        expect(reader.opened).to_be_focused()
        expect(reader.opened.locator("h2")).to_contain_text("Satisficing Alignment")
        marked += reader.opened.locator("mark").all_inner_texts()
    assert any("by a margin of 22.3%" in sentence for sentence in marked)
    reader.ask("What is the boiling point of ethanol?")
    expect(reader.answer.locator(".outcome.absent")).to_be_visible()


def test_what_is_asked_back_is_answered_by_a_click_on_an_option(reader: Reader) -> None:
    reader.ask("What is the main result?")
    expect(reader.answer).to_contain_text("Which paper do you mean?")
    expect(reader.status).to_contain_text("Asked back")
    expect(reader.chips).to_have_count(0)
    expect(reader.suggested).to_have_count(4)
    title = reader.suggested.nth(1).inner_text()
    expect(reader.answer.locator("li").nth(1)).to_have_text(title)
    reader.suggested.nth(1).click()
    expect(reader.question).to_have_text(title)
    reader.wait_for_the_end()
    expect(reader.status).to_contain_text("Searched “What is the main result?")
    expect(reader.chips.first).to_be_visible()
    reader.chips.first.click()
    expect(reader.opened.locator("h2")).to_have_text(title)
    expect(reader.opened.locator("mark").first).to_be_visible()


def test_a_comparison_is_a_table_whose_words_stay_whole(reader: Reader) -> None:
    reader.ask("Compare SITAlign and ReVISE")
    expect(reader.answer.locator("th")).to_have_count(3)
    for name in ("Method", "Result"):
        cell = reader.answer.locator("td", has_text=re.compile(f"^{name}$"))
        lines = cell.evaluate(
            "cell => { const all = new Range(); all.selectNodeContents(cell); return all.getClientRects().length }"
        )
        assert lines == 1
    assert reader.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
