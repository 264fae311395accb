"""Conversations in Chromium: kept over reloads and restarts, found, renamed, deleted, linked to, and taken away."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import rispy
from bibtexparser import parse_string
from playwright.sync_api import Browser, expect

from tests.browser.conftest import OpenPage
from tests.browser.pages import Reader, becomes, free_port, reading, served

pytestmark = pytest.mark.browser
QUESTION = "What are memory traces?"


def shown(reader: Reader) -> tuple[list[str | None], str, str]:
    """What must be the same after a reload: chips, text, sources."""
    hrefs = [chip.get_attribute("href") for chip in reader.chips.all()]
    return hrefs, reader.answer.inner_text(), reader.page.locator("#sources .list").inner_text()


def test_a_reload_and_a_restart_of_the_server_keep_the_conversation(browser: Browser, tmp_path: Path) -> None:
    port = free_port()
    with served("fake", home=tmp_path, port=port) as url, reading(browser, url) as reader:
        reader.ask(QUESTION)
        before = shown(reader)
        assert len(before[0]) == 4
        reader.again()
        becomes(reader.page, lambda: shown(reader), before)
        address = reader.page.url
        assert "?c=" in address
    with served("fake", home=tmp_path, port=port) as url, reading(browser, url) as reader:
        reader.again(url=address)
        becomes(reader.page, lambda: shown(reader), before)
        reader.chips.nth(3).click()
        expect(reader.opened.locator("mark")).to_have_text(re.compile("^Event cameras"))
        reader.ask("And answer once more?")
        reader.again()
        expect(reader.questions).to_have_count(2)
        expect(reader.suggested).to_have_count(3)


def test_conversations_are_found_renamed_deleted_and_brought_back(reader: Reader) -> None:
    reader.ask("A walrus question, broken")
    reader.toggle("history")
    reader.page.locator("#history .new").click()
    expect(reader.questions).to_have_count(0)
    expect(reader.page.locator("#examples")).to_be_visible()
    reader.ask("A second question?")
    reader.toggle("history")
    expect(reader.listed.first).to_have_attribute("aria-current", "true")
    reader.page.locator("#history input[type=search]").fill("WALRUS")
    expect(reader.listed).to_have_text(["A walrus question, broken"])
    item = reader.page.locator("#history li")
    item.hover()
    item.get_by_role("button", name="Rename").click()
    reader.page.keyboard.type("Of walruses")
    reader.page.keyboard.press("Enter")
    expect(reader.listed).to_have_text(["Of walruses"])
    expect(reader.listed).to_be_focused()
    reader.listed.click()
    expect(reader.question).to_have_text("A walrus question, broken")
    expect(reader.answer.locator(".outcome.failed")).to_be_visible()
    reader.toggle("history")
    item.get_by_role("button", name="Delete").press("Enter")
    expect(reader.listed).to_have_count(0)
    expect(reader.questions).to_have_count(0)
    reader.toggle("history")
    reader.page.locator("#history .restore").click()
    expect(reader.listed).to_have_text(["Of walruses"])


def test_the_conversation_on_the_page_is_deleted_and_undo_has_the_focus(reader: Reader) -> None:
    reader.page.set_viewport_size({"width": 1600, "height": 900})  # here the drawer stays open
    reader.ask(QUESTION)
    item = reader.page.locator("#history li").first
    item.hover()
    item.get_by_role("button", name="Delete").click()
    expect(reader.questions).to_have_count(0)
    expect(reader.page.locator("#history .restore")).to_be_focused()


def test_a_link_with_a_question_asks_it_once(open_page: OpenPage) -> None:
    with open_page() as reader:
        reader.again(url=f"{reader.url}?q=What%20is%20%3Cb%3Ethis%3C%2Fb%3E%3F")
        expect(reader.question).to_have_text("What is <b>this</b>?")
        expect(reader.chips).to_have_count(4)
        reader.wait_for_the_end()
        expect(reader.page).to_have_url(re.compile(r"\?c=\w+$"))
        reader.again()
        expect(reader.questions).to_have_count(1)
        expect(reader.chips).to_have_count(4)


def test_what_was_stopped_is_kept_as_such_and_can_be_asked_again(reader: Reader) -> None:
    reader.ask("Answer slowly please", wait=False)
    expect(reader.chips.first).to_be_visible()
    reader.page.locator("#ask .stop-button").click()
    expect(reader.status).to_contain_text("Stopped")

    def kept() -> bool:
        reader.again()
        return "stopped before it was finished" in reader.answer.inner_text()

    becomes(reader.page, kept, True)  # the server learns of it while the page already says so
    expect(reader.chips.first).to_have_attribute("href", re.compile("-pending$"))


@pytest.fixture(scope="module")
def nameless_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def nameless(nameless_home: Path) -> Iterator[str]:
    """A page whose readers have no names: each browser keeps its own conversations."""
    with served("nameless", home=nameless_home) as url:
        yield url


@pytest.mark.parametrize("where", ["site", "nameless"])
def test_an_answer_under_way_is_stopped_where_another_conversation_is_shown(
    browser: Browser, request: pytest.FixtureRequest, where: str
) -> None:
    with reading(browser, request.getfixturevalue(where)) as reader:
        reader.ask(QUESTION)
        reader.ask("Answer slowly please", wait=False)
        expect(reader.chips).not_to_have_count(4)
        reader.toggle("history")
        reader.page.locator("#history .new").click()
        expect(reader.questions).to_have_count(0)
        reader.ask("And what is new?")
        expect(reader.questions).to_have_text(["And what is new?"])
        reader.toggle("history")
        expect(reader.listed.first).to_have_text("And what is new?")
        expect(reader.listed.nth(1)).to_have_text(QUESTION)
        reader.listed.nth(1).click()
        expect(reader.questions.first).to_have_text(QUESTION)


def test_a_judgement_is_noted_and_shown_again(reader: Reader) -> None:
    reader.ask(QUESTION)
    reader.page.locator('#chat button[aria-label="Like"]').click()
    expect(reader.status).to_have_text("Noted: you like this answer.")
    reader.again()
    expect(reader.page.locator('#chat button[aria-label="Liked"]')).to_have_count(1)


def exported(reader: Reader, form: str, part: str) -> tuple[str, str]:
    """Name and text of the file that the menu gives."""
    reader.page.locator("#tools summary").click()
    with reader.page.expect_download() as waiting:
        reader.page.locator(f'[data-export="{form}"][data-part="{part}"]').click()
    path = waiting.value.path()
    return waiting.value.suggested_filename, Path(path).read_text("utf-8")


def test_an_exported_page_opens_without_the_network_and_its_citations_lead_to_their_evidence(
    reader: Reader, browser: Browser, tmp_path: Path
) -> None:
    reader.ask(QUESTION)
    reader.ask('hostile <img src=x onerror="window.pwned=1">')
    name, text = exported(reader, "html", "conversation")
    assert name == "what-are-memory-traces.html"
    file = tmp_path / "export.html"
    file.write_text(text, "utf-8")
    page = browser.new_context().new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(file.as_uri())
    expect(page.locator("article")).to_have_count(2)
    first = page.locator("article").first
    expect(first.locator("sup a")).to_have_count(4)
    expect(first.locator("ol li")).to_have_count(3)
    expect(first.locator("span.unsupported")).to_have_count(1)
    first.locator("sup a").nth(3).click()
    expect(page.locator("li:target")).to_contain_text("EvFocus")
    expect(page.locator("li:target blockquote")).to_contain_text("Event cameras are innovative sensors")
    expect(page.locator("body")).to_contain_text('hostile <img src=x onerror="window.pwned=1">')
    assert page.evaluate("window.pwned") is None
    assert {url.partition("#")[0] for url in asked} == {file.as_uri()}
    page.context.close()


def test_exported_files_hold_the_cited_papers(reader: Reader) -> None:
    reader.ask(QUESTION)
    titles = reader.page.locator("#sources .list .source h3").all_inner_texts()
    assert len(titles) == 3
    bibtex = parse_string(exported(reader, "bib", "conversation")[1])
    assert [re.sub("[{}]", "", entry["title"]) for entry in bibtex.entries] == titles
    assert [entry["title"] for entry in rispy.loads(exported(reader, "ris", "conversation")[1])] == titles
    (turn,) = json.loads(exported(reader, "json", "answer")[1])["turns"]
    assert turn["question"] == QUESTION
    assert [citation["title"] for citation in turn["citations"]] == titles
    assert all(citation["evidence"] for citation in turn["citations"])
    markdown = exported(reader, "md", "conversation")[1]
    for number, title in enumerate(titles, start=1):
        assert markdown.count(f"[^{number}]") >= 2  # in the text, and its note
        assert title in markdown


def test_two_tabs_of_one_conversation_lose_no_turn(reader: Reader) -> None:
    reader.ask(QUESTION)
    other = reader.page.context.new_page()
    second = Reader(other, reader.url)
    second.again(url=reader.page.url)
    expect(second.questions).to_have_count(1)
    reader.ask("From the first tab")
    second.ask("From the second tab")
    reader.again()
    expect(reader.questions).to_have_text([QUESTION, "From the first tab", "From the second tab"])


def test_where_nobody_has_a_name_each_browser_keeps_its_own(
    browser: Browser, nameless: str, nameless_home: Path
) -> None:
    with reading(browser, nameless) as reader, reading(browser, nameless) as other:
        reader.ask(QUESTION)
        before = shown(reader)
        reader.again()
        becomes(reader.page, lambda: shown(reader), before)
        assert exported(reader, "bib", "conversation")[1].count("@inproceedings{") == 3
        reader.toggle("history")
        expect(reader.listed).to_have_text([QUESTION])
        other.toggle("history")
        expect(other.page.locator("#history .list")).to_contain_text("kept here")
        expect(other.listed).to_have_count(0)
        assert not list(nameless_home.glob("*.sqlite3"))
