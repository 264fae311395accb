"""The Evals tab: a run started there, its figures and cases, two side by side, stopping, labelling, reviewing."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.fake_assistant import FakeAssistant
from tests.browser.looks import at_every_size, inspecting
from tests.browser.pages import Reader, reading, served

pytestmark = pytest.mark.browser
ENDED = re.compile(r"\d+ of \d+ answered and scored")
SECONDS = 90_000


def start_run(page: Page, *, limit: int) -> None:
    page.get_by_role("tab", name="Evals").click()
    page.get_by_label("First cases only (0: all)").fill(str(limit))
    page.get_by_role("button", name="Start a run").click()


def test_a_run_is_started_shown_and_compared(open_page: OpenPage) -> None:
    with open_page() as reader:
        page = reader.page
        progress, figures = page.locator("#evals-progress"), page.locator("#evals-figures")
        start_run(page, limit=3)
        expect(progress).to_contain_text("3 of 3 answered and scored", timeout=SECONDS)
        expect(figures.get_by_role("region", name="Metrics")).to_contain_text("recall@5", timeout=SECONDS)
        expect(figures.locator("figure svg").first).to_be_visible()
        cases = page.locator("#evals-cases details.case")
        expect(cases).to_have_count(3)
        cases.first.locator("summary").first.click()
        expect(cases.first).to_contain_text("papers retrieved")
        start_run(page, limit=2)
        expect(progress).to_contain_text("2 of 2 answered and scored", timeout=SECONDS)
        page.get_by_label("Compared with").click()
        page.get_by_role("option").nth(2).click()  # behind "none" and the run itself
        expect(figures).to_contain_text("Where it hurt and helped", timeout=SECONDS)
        expect(figures).to_contain_text("Cases that changed")


def test_a_run_is_stopped_and_keeps_what_was_answered(open_page: OpenPage) -> None:
    with open_page() as reader:
        page = reader.page
        start_run(page, limit=0)
        progress = page.locator("#evals-progress")
        expect(progress).to_contain_text(re.compile(r"[1-9]\d* of \d+ answered"), timeout=SECONDS)
        page.get_by_role("button", name="Stop", exact=True).click()
        expect(progress).to_contain_text(ENDED, timeout=SECONDS)
        answered, planned = map(int, re.findall(r"\d+", progress.inner_text())[:2])
        assert 0 < answered < planned


@at_every_size
def test_axe_finds_nothing(open_page: OpenPage, size: tuple[int, int]) -> None:
    with open_page(size=size) as reader, inspecting(reader.page) as look:
        start_run(reader.page, limit=2)
        expect(reader.page.locator("#evals-progress")).to_contain_text(ENDED, timeout=SECONDS)
        expect(reader.page.locator("#evals-figures table").first).to_be_visible(timeout=SECONDS)
        expect(reader.page.locator("#evals-cases details.case").first).to_be_visible()
        look("run")
        reader.page.locator("#evals-cases details.case > summary").first.click()
        look("case")
        reader.page.get_by_label("Run", exact=True).click()
        expect(reader.page.get_by_role("option").first).to_be_visible()
        look("list of runs")


@pytest.fixture
def labelling_site(tmp_path: Path) -> Iterator[str]:
    """A page with runs of its own, in `tmp_path`."""
    with served("fake", home=tmp_path) as url:
        yield url


def open_labelling(reader: Reader) -> None:
    reader.page.get_by_role("button", name="Label sentences").click(timeout=SECONDS)
    expect(reader.page.locator("#evals-label .claim")).to_be_focused()


def lines(home: Path) -> list[dict[str, str]]:
    (file,) = home.glob("runs/*/labels.jsonl")
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def test_sentences_are_labelled_by_keys_and_go_on_where_one_stopped(
    browser: Browser, labelling_site: str, tmp_path: Path
) -> None:
    with reading(browser, labelling_site) as reader:
        page = reader.page
        start_run(page, limit=4)
        expect(page.locator("#evals-cases details.case")).to_have_count(4, timeout=SECONDS)
        open_labelling(reader)
        far, claim, told = (page.locator(f"#evals-label {part}") for part in ("[role=status]", ".claim", ".told"))
        sentences = int(re.findall(r"\d+", far.inner_text())[1])
        assert sentences >= 4
        expect(page.locator("#evals-label .source mark").first).to_be_visible()
        expect(page.locator("#evals-cases")).to_be_hidden()  # which shows what the check says
        expect(page.locator("#evals-label")).not_to_contain_text("check")
        for place, key in enumerate("123"):
            first = claim.get_attribute("data-id")
            page.keyboard.press(key)
            expect(far).to_have_text(f"{place + 1} of {sentences} sentences labelled")
            expect(claim).to_be_focused()
            assert claim.get_attribute("data-id") != first
        expect(told).to_contain_text("Saved: unsupported. What the check says")
        expect(told.get_by_text("supported: verbatim")).to_be_hidden()
        assert [line["label"] for line in lines(tmp_path)] == ["supported", "partly", "unsupported"]
        fourth = claim.get_attribute("data-id")
        reader.again()
        page.get_by_role("tab", name="Evals").click()
        open_labelling(reader)
        expect(far).to_have_text(f"3 of {sentences} sentences labelled")
        assert claim.get_attribute("data-id") == fourth
        page.keyboard.press("u")
        expect(far).to_have_text(f"2 of {sentences} sentences labelled")
        assert claim.get_attribute("data-id") == lines(tmp_path)[2]["id"]
        assert lines(tmp_path)[-1]["label"] is None
        page.keyboard.press("s")
        expect(claim).to_have_attribute("data-id", str(fourth))
        for place in range(2, sentences):
            page.get_by_role("button", name="Supported", exact=False).first.click()
            expect(far).to_have_text(f"{place + 1} of {sentences} sentences labelled")
        counts = page.get_by_role("region", name="Labels and the check").locator("tbody tr")
        expect(counts).to_have_text([f"supported{sentences - 1}00", "partly100", "unsupported000"])
        expect(page.get_by_role("region", name="Agreement")).to_contain_text("kappa, supported or not")
        page.keyboard.press("Escape")
        expect(page.get_by_role("button", name="Label sentences")).to_be_focused()
        expect(page.locator("#evals-figures")).to_be_visible()


DRAFTS = [
    {"id": "one", "type": "single", "question": "What decays?", "papers": [], "reviewed": False},
    {"id": "two", "type": "unanswerable", "kind": "far", "question": "Who won?", "reviewed": False},
    {"id": "three", "type": "unanswerable", "kind": "far", "question": "Who lost?", "reviewed": False},
]


@pytest.fixture
def suite_file(tmp_path: Path) -> Path:
    """A suite in the home that is all drafts, the first on a paper of the corpus."""
    file = tmp_path / "suites" / "mine.jsonl"
    file.parent.mkdir()
    found = FakeAssistant().corpus.paper(0)
    first = DRAFTS[0] | {"papers": [found.paper_id]}
    file.write_text("".join(f"{json.dumps(each)}\n" for each in (first, *DRAFTS[1:])))
    return file


def open_drafts(reader: Reader) -> None:
    page = reader.page
    page.get_by_role("tab", name="Evals").click()
    page.get_by_label("Suite").click()
    page.get_by_role("option", name="mine").click()
    page.get_by_role("button", name="Review drafts").click(timeout=SECONDS)
    expect(page.locator("#evals-drafts .draft")).to_be_focused()


def test_drafts_are_read_corrected_accepted_and_rejected_and_only_accepted_ones_asked(
    browser: Browser, suite_file: Path, labelling_site: str
) -> None:
    with reading(browser, labelling_site) as reader:
        page = reader.page
        open_drafts(reader)
        far, draft, told = (page.locator(f"#evals-drafts {part}") for part in ("[role=status]", ".draft", ".told"))
        expect(far).to_have_text("3 drafts left, 0 cases in mine")
        expect(page.locator("#evals-drafts .source .abstract")).to_be_visible()
        question = page.locator("#evals-drafts").get_by_label("Question", exact=True)
        question.fill("")
        page.get_by_role("button", name="Accept").click()
        expect(told).to_contain_text("question: ")
        expect(question).to_have_value("")  # what was typed stays
        question.fill("What is a")  # keys that are typed decide nothing
        page.get_by_role("button", name="Accept").click()
        expect(far).to_have_text("2 drafts left, 1 case in mine")
        expect(draft).to_be_focused()
        page.keyboard.press("r")
        expect(far).to_have_text("1 draft left, 1 case in mine")
        page.keyboard.press("u")
        expect(far).to_have_text("2 drafts left, 1 case in mine")
        expect(draft).to_have_attribute("data-id", "two")
        page.keyboard.press("s")
        expect(draft).to_have_attribute("data-id", "three")
        page.keyboard.press("r")
        expect(draft).to_have_attribute("data-id", "two")
        page.keyboard.press("Escape")
        expect(page.get_by_role("button", name="Review drafts")).to_be_focused()
        lines = [json.loads(line) for line in suite_file.read_text("utf-8").splitlines()]
        assert [(line["id"], line.get("reviewed", True)) for line in lines] == [("one", True), ("two", False)]
        assert lines[0]["question"] == "What is a"
        page.get_by_role("button", name="Start a run").click()
        expect(page.locator("#evals-progress")).to_have_text(
            "1 of 1 answered and scored. Not asked: 1 draft that nobody has accepted.", timeout=SECONDS
        )


@at_every_size
def test_reviewing_fits_and_axe_finds_nothing(
    browser: Browser, suite_file: Path, labelling_site: str, size: tuple[int, int]
) -> None:
    with reading(browser, labelling_site, size=size) as reader, inspecting(reader.page) as look:
        open_drafts(reader)
        look("draft")
        assert reader.page.evaluate("document.querySelector('#evals-tab > div').scrollWidth") <= size[0]
        for _ in suite_file.read_text("utf-8").splitlines():
            shown = reader.page.locator("#evals-drafts .draft").get_attribute("data-id")
            reader.page.get_by_role("button", name="Reject").click()
            expect(reader.page.locator(f'#evals-drafts [data-id="{shown}"]')).to_have_count(0)
        expect(reader.page.get_by_role("heading", name="No draft is left")).to_be_visible()
        look("end")


@at_every_size
def test_labelling_fits_and_axe_finds_nothing(browser: Browser, labelling_site: str, size: tuple[int, int]) -> None:
    with reading(browser, labelling_site, size=size) as reader, inspecting(reader.page) as look:
        page = reader.page
        start_run(page, limit=1)
        open_labelling(reader)
        look("sentence")
        assert page.evaluate("document.querySelector('#evals-tab > div').scrollWidth") <= size[0]
        left = int(re.findall(r"\d+", page.locator("#evals-label [role=status]").inner_text())[1])
        for done in range(left):
            page.locator('#evals-label [data-label="partly"]').click()
            expect(page.locator("#evals-label [role=status]")).to_contain_text(f"{done + 1} of")
        expect(page.get_by_role("region", name="Agreement")).to_be_visible()
        page.locator("#evals-label details summary").click()
        look("agreement")
