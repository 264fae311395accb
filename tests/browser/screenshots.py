"""Pictures of each state of the page, to be looked at: `python -m tests.browser.screenshots OUT [STATE ...]`.

With `--readme` in place of OUT, those two that the README shows.
"""

import io
import sys
import tempfile
from collections.abc import Callable, Collection
from pathlib import Path

from PIL import Image

from evals.page.browser import chromium
from tests.browser.pages import DESKTOP, PHONE, ROOT, WIDE, Reader, reading, served, settle

README_PICTURES = ROOT / "ui" / "screenshots"
QUESTION = "What are memory traces?"


def empty(reader: Reader) -> None:
    """The page as it opens."""


def streaming(reader: Reader) -> None:
    reader.ask(QUESTION, wait=False)
    reader.chips.first.wait_for()


def answered(reader: Reader) -> None:
    reader.ask(QUESTION)


def citation(reader: Reader) -> None:
    reader.ask(QUESTION)
    reader.chips.nth(3).click()
    reader.opened.wait_for()


def hovered(reader: Reader) -> None:
    reader.ask(QUESTION)
    reader.chips.nth(3).hover()
    reader.page.locator("#hover-card").wait_for()


def absent(reader: Reader) -> None:
    reader.ask("What is nowhere in these abstracts?")


def asked_back(reader: Reader) -> None:
    reader.ask("Is it vague?")
    reader.suggested.first.wait_for()


def failed(reader: Reader) -> None:
    reader.ask("What does a broken endpoint look like?")


def conversation(reader: Reader) -> None:
    reader.ask(QUESTION)
    reader.ask("And what follows from them?")


def limited(reader: Reader) -> None:
    reader.toggle("filters")
    reader.page.locator("#filter-years :is(input, textarea)").fill("2024..2025")
    reader.page.locator("#filter-venue :is(input, textarea)").fill("ICML")
    reader.ask("papers by Hua Huang on memory traces")


def history(reader: Reader) -> None:
    reader.ask(QUESTION)
    if reader.page.locator('[data-toggle="history"]').is_visible():
        reader.toggle("history")


def settings(reader: Reader) -> None:
    reader.ask(QUESTION)
    reader.toggle("settings")


def export(reader: Reader) -> None:
    reader.ask(QUESTION)
    reader.page.locator("#tools summary").click()


def shortcuts(reader: Reader) -> None:
    reader.page.locator("#tabs [role=tab]").first.focus()
    reader.page.keyboard.press("?")


def stopped(reader: Reader) -> None:
    reader.ask("Answer slowly please", wait=False)
    reader.chips.first.wait_for()
    reader.page.locator("#ask .stop-button").click()
    reader.again()


def corpus(reader: Reader) -> None:
    reader.page.get_by_role("tab", name="Corpus").click()
    reader.page.locator("#corpus-list ul.papers a").nth(1).wait_for()


def paper(reader: Reader) -> None:
    corpus(reader)
    reader.page.locator("#corpus-list ul.papers a").nth(1).click()
    reader.page.locator("#corpus-paper article").wait_for()


def evals(reader: Reader) -> None:
    page = reader.page
    page.get_by_role("tab", name="Evals").click()
    page.get_by_label("First cases only (0: all)").fill("5")
    page.get_by_role("button", name="Start a run").click()
    page.locator("#evals-cases details.case").first.wait_for(timeout=90_000)


STATES: list[Callable[[Reader], None]] = [
    empty,
    streaming,
    answered,
    citation,
    hovered,
    absent,
    asked_back,
    failed,
    conversation,
    limited,
    history,
    settings,
    export,
    shortcuts,
    stopped,
    corpus,
    paper,
    evals,
]


def main(out: Path, *, names: Collection[str] = ()) -> None:
    """Writes the pictures of the states of these names, of all without any, at three sizes, light and dark."""
    out.mkdir(parents=True, exist_ok=True)
    states = [state for state in STATES if not names or state.__name__ in names]
    with tempfile.TemporaryDirectory() as home, served("fake", home=Path(home)) as url, chromium() as browser:
        for size in (DESKTOP, WIDE, PHONE):
            for dark in (False, True):
                for state in states:
                    if state is hovered and size == PHONE:
                        continue
                    with reading(browser, url, size=size, dark=dark) as reader:
                        state(reader)
                        settle(reader.page)
                        name = f"{state.__name__}-{size[0]}-{'dark' if dark else 'light'}.png"
                        reader.page.screenshot(path=out / name)


def compared(reader: Reader) -> None:
    reader.ask("Compare SITAlign and ReVISE")
    reader.chips.nth(3).click()
    reader.opened.wait_for()


def for_readme(out: Path) -> None:
    """Writes the pictures of the README: the real assistant on the packaged papers, without a model."""
    out.mkdir(parents=True, exist_ok=True)
    pictures: dict[str, tuple[Callable[[Reader], None], bool]] = {"ask": (compared, False), "corpus": (paper, True)}
    with tempfile.TemporaryDirectory() as home, served("real", home=Path(home)) as url, chromium() as browser:
        for name, (state, dark) in pictures.items():
            with reading(browser, url, dark=dark) as reader:
                state(reader)
                settle(reader.page)
                picture = Image.open(io.BytesIO(reader.page.screenshot()))
                picture.save(out / f"{name}.webp", lossless=True, method=6)


if __name__ == "__main__":
    if sys.argv[1] == "--readme":
        for_readme(README_PICTURES)
    else:
        main(Path(sys.argv[1]), names=sys.argv[2:])
