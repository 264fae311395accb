"""The Corpus tab in Chromium, with the real assistant: find, read, ask about, add, remove, and look at the facts."""

import json
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, expect

from rag.assistant import Assistant
from rag.domain import Paper
from tests.browser.fake_assistant import HOSTILE
from tests.browser.looks import at_every_size, inspecting, press, tab_to
from tests.browser.pages import Reader, reading, served
from tests.builders import paper

pytestmark = pytest.mark.browser
RECORD = {
    "id": "zeta-1",
    "title": "Zetafold: Folding Quantum Maps",
    "abstract": "Zetafold folds quantum maps in 17 steps. It needs no supervision at all.",
}
BIBTEX = r"""
@article{kappa1,
  title = {{Kappalens}: Steady Mirrors},
  author = {M{\"u}ller, Zo{\"e} and It{\=o}, Kenji},
  journal = {Journal of Mirrors},
  year = 2024,
  abstract = {Mirrors drift at night. {Kappalens} lowers the drift of telescopes by 42\% with a spring.}
}
@article{kappa2, title = {No Abstract Here}, year = 2024}
"""


@pytest.fixture(scope="module")
def site(seed_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The page on the packaged papers, a hostile one, and enough further ones for a second page."""
    home = tmp_path_factory.mktemp("corpus") / "home"
    shutil.copytree(seed_home, home)
    Assistant.open(home=home, writer="extractive").add_papers([HOSTILE, *_further()])
    with served("real", home=home) as url:
        yield url


def _further() -> Iterator[Paper]:
    for number in range(40):
        year, category = 2020 + number % 4, "cs.LG" if number % 2 else "cs.CL"
        yield paper(f"f{number}", title=f"Further paper {number}", year=year, categories=(category,), venue="FURTHER")


@pytest.fixture
def reader(browser: Browser, site: str) -> Iterator[Reader]:
    with reading(browser, site) as reader:
        yield at_corpus(reader)


def at_corpus(reader: Reader) -> Reader:
    reader.page.get_by_role("tab", name="Corpus").click()
    expect(links(reader).first).to_be_visible()
    return reader


def links(reader: Reader) -> Locator:
    return reader.page.locator("#corpus-list ul.papers a")


def note(reader: Reader) -> Locator:
    return reader.page.locator("#corpus-list .note")


def opened(reader: Reader) -> Locator:
    return reader.page.locator("#corpus-paper article")


def test_the_corpus_is_paged(reader: Reader) -> None:
    expect(links(reader)).to_have_count(50)
    expect(note(reader)).to_have_text("Papers 1 to 50 of 60.")
    reader.page.get_by_role("button", name="Next").click()
    expect(note(reader)).to_have_text("Papers 51 to 60 of 60.")
    expect(links(reader)).to_have_count(10)
    expect(links(reader).first).to_be_focused()
    expect(reader.page.get_by_role("button", name="Next")).to_be_disabled()


def test_it_is_searched_and_a_paper_read_by_keyboard(reader: Reader) -> None:
    reader.page.get_by_label("Search titles and abstracts").fill(
        "compact representations of the history of observations"
    )
    reader.page.keyboard.press("Enter")
    expect(note(reader)).to_contain_text("best matches")
    expect(links(reader).first).to_have_text("Partially Observable Reinforcement Learning with Memory Traces")
    links(reader).first.focus()
    reader.page.keyboard.press("Enter")
    expect(opened(reader)).to_be_focused()
    expect(opened(reader).locator(".abstract")).to_contain_text("exponential moving averages")
    expect(opened(reader).locator("h2 a")).to_have_attribute("href", re.compile("^https://openreview.net/"))
    reader.page.locator("#corpus-paper ul.papers a").first.click()
    expect(opened(reader).locator("h2")).not_to_contain_text("Memory Traces")
    reader.page.keyboard.press("Escape")
    expect(opened(reader)).to_have_count(0)
    expect(links(reader).first).to_be_focused()


def test_filters_narrow_the_list_and_bars_are_filters(reader: Reader) -> None:
    form = reader.page.locator("#corpus-list")
    form.get_by_label("Author").fill("Yisen Wang")
    reader.page.keyboard.press("Enter")
    expect(links(reader)).to_have_count(1)
    reader.page.get_by_role("button", name="Clear").click()
    expect(links(reader)).to_have_count(50)
    form.get_by_label("Venue").select_option("FURTHER")
    expect(note(reader)).to_have_text("Papers 1 to 40 of 40.")
    reader.page.get_by_role("button", name="Clear").click()
    reader.page.get_by_role("button", name="cs.CL 20").click()
    expect(note(reader)).to_have_text("Papers 1 to 20 of 20.")
    expect(form.get_by_label("Category")).to_have_value("cs.CL")
    reader.page.get_by_role("button", name="2021 10").click()
    expect(note(reader)).to_have_text("No paper matches.")


def test_a_paper_can_be_asked_about_and_the_limit_taken_away(reader: Reader) -> None:
    reader.page.get_by_role("link", name="EvFocus").click()
    reader.page.get_by_role("button", name="Ask about this paper").click()
    chip = reader.page.get_by_role("button", name=re.compile("Only “EvFocus"))
    expect(chip).to_be_visible()
    expect(reader.page.locator("#ask textarea")).to_be_focused()
    reader.ask("What is proposed?")
    expect(reader.status).to_contain_text("1 abstract read")
    expect(reader.answer).to_contain_text("EvFocus")
    chip.click()
    expect(chip).to_have_count(0)
    reader.ask("What are memory traces?")
    expect(reader.status).to_contain_text("8 abstracts read")


def test_a_pasted_record_is_answered_from_at_once_and_removal_is_undone(reader: Reader) -> None:
    page = reader.page
    page.get_by_role("button", name="Add papers").click()
    page.locator("#pasted textarea").fill(json.dumps(RECORD) + '\n{"id": "bad"}')
    page.locator("#add-pasted").click()
    report = page.locator("#corpus-report")
    expect(report).to_contain_text("1 paper added. The corpus has 61 papers.", timeout=60_000)
    expect(report).to_contain_text("pasted text, line 2 (bad), abstract: no abstract")
    expect(note(reader)).to_have_text("Papers 1 to 50 of 61.")
    expect(page.locator("#header")).to_contain_text("61 abstracts")
    page.get_by_role("tab", name="Ask").click()
    reader.ask("In how many steps does Zetafold fold quantum maps?")
    expect(reader.answer).to_contain_text("17 steps")
    reader.chips.first.click()
    expect(reader.opened.locator("mark")).to_contain_text("17 steps")
    page.get_by_role("tab", name="Corpus").click()
    page.get_by_label("Search titles and abstracts").fill("Zetafold")
    page.keyboard.press("Enter")
    page.get_by_role("link", name="Zetafold").first.click()
    page.get_by_role("button", name="Remove from the corpus").click()
    expect(report).to_contain_text(
        "Removed “Zetafold: Folding Quantum Maps”. The corpus has 60 papers.", timeout=60_000
    )
    page.get_by_role("button", name="Undo").click()
    expect(report).to_contain_text("The corpus has 61 papers.", timeout=60_000)
    expect(page.locator("#header")).to_contain_text("61 abstracts")


def test_pasted_bibtex_is_added_and_answered_from(reader: Reader) -> None:
    page = reader.page
    page.get_by_role("button", name="Add papers").click()
    page.locator("#pasted textarea").fill(BIBTEX)
    page.locator("#add-pasted").click()
    report = page.locator("#corpus-report")
    expect(report).to_contain_text("1 paper added", timeout=60_000)
    expect(report).to_contain_text("kappa2")
    page.get_by_role("tab", name="Ask").click()
    reader.ask("By what does Kappalens lower the drift of telescopes?")
    expect(reader.answer).to_contain_text("lowers the drift of telescopes by 42%")
    reader.chips.last.click()
    expect(reader.opened.locator("h2")).to_have_text("Kappalens: Steady Mirrors")
    expect(reader.opened.locator(".meta")).to_contain_text("Zoë Müller, Kenji Itō · Journal of Mirrors 2024")
    expect(reader.opened.locator("mark")).to_contain_text("lowers the drift of telescopes by 42%")


def test_papers_are_added_removed_and_brought_back_by_keyboard(reader: Reader) -> None:
    page, report = reader.page, reader.page.locator("#corpus-report")
    press(page.get_by_role("button", name="Add papers"))
    tab_to(page.locator("#pasted textarea"))
    page.keyboard.insert_text('{"title": "Omegafold: Folding Paper Cranes", "abstract": "Omegafold folds cranes."}')
    press(page.locator("#add-pasted"))
    expect(report).to_contain_text("1 paper added", timeout=60_000)
    tab_to(page.get_by_label("Search titles and abstracts"))
    page.keyboard.type("Omegafold")
    page.keyboard.press("Enter")
    found = page.locator("#corpus-list").get_by_role("link", name="Omegafold")
    press(found)
    expect(opened(reader)).to_be_focused()
    press(page.get_by_role("button", name="Remove from the corpus"))
    expect(report).to_contain_text("Removed “Omegafold", timeout=60_000)
    undo = report.get_by_role("button", name="Undo")
    expect(undo).to_be_focused()
    expect(found).to_have_count(0)
    page.keyboard.press("Enter")
    expect(found).to_be_visible(timeout=60_000)


def test_uploaded_text_is_added_and_a_wrong_file_named(reader: Reader, tmp_path: Path) -> None:
    page = reader.page
    page.get_by_role("button", name="Add papers").click()
    good, bad = tmp_path / "abstracts.txt", tmp_path / "paper.pdf"
    good.write_text("Etaflow sorts glass beads by colour. It is slow.\n\nThetaflow sorts them by weight.\n")
    bad.write_bytes(b"%PDF-1.4 \x00")
    report = page.locator("#corpus-report")
    page.locator('#adding-buttons input[type="file"]').set_input_files(good)
    expect(report).to_contain_text("2 papers added", timeout=60_000)
    page.locator('#adding-buttons input[type="file"]').set_input_files(bad)
    expect(report.get_by_role("alert")).to_contain_text("paper.pdf", timeout=60_000)
    expect(report).not_to_contain_text(tempfile.gettempdir())


def test_a_hostile_record_is_shown_as_text(reader: Reader) -> None:
    page = reader.page
    page.get_by_label("Search titles and abstracts").fill("Multi-view method costs")
    page.keyboard.press("Enter")
    page.get_by_role("link", name="img src=x").first.click()
    expect(opened(reader)).to_contain_text("<script>window.pwned=1</script>")
    expect(opened(reader)).to_contain_text("${window.pwned=1}")
    expect(opened(reader).locator("math")).not_to_have_count(0)
    expect(opened(reader).locator("a")).to_have_count(0)
    page.get_by_role("button", name="Ask about this paper").click()
    expect(page.get_by_role("button", name=re.compile("Only “<img src=x"))).to_be_visible()
    assert page.evaluate("window.pwned") is None
    assert page.locator("#corpus-tab img, #corpus-tab script, #chips img").count() == 0


@at_every_size
def test_axe_finds_nothing(browser: Browser, site: str, size: tuple[int, int]) -> None:
    with reading(browser, site, size=size) as reader, inspecting(reader.page) as look:
        at_corpus(reader)
        look("list")
        reader.page.get_by_role("button", name="Add papers").click()
        reader.page.locator("#pasted textarea").wait_for()
        look("adding")
        reader.page.locator("#add-pasted").click()
        expect(reader.page.locator("#corpus-report").get_by_role("alert")).to_contain_text("Nothing was pasted")
        links(reader).nth(1).click()
        expect(opened(reader)).to_be_focused()
        look("paper")
