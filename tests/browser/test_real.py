"""The page with the real assistant on the seed corpus and no key: from the question to the marked sentence."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.pages import reading, served

pytestmark = pytest.mark.browser


def test_a_question_is_answered_with_a_citation_that_opens_its_sentence(browser: Browser, tmp_path: Path) -> None:
    with served("real", home=tmp_path) as url, reading(browser, url) as reader:
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
