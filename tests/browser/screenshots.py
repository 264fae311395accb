"""Pictures of each state of the page: `python -m tests.browser.screenshots OUT`. They are to be looked at."""

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.browser.pages import DESKTOP, PHONE, WIDE, Reader, chromium, reading, served

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


def failed(reader: Reader) -> None:
    reader.ask("What does a broken endpoint look like?")


def conversation(reader: Reader) -> None:
    reader.ask(QUESTION)
    reader.ask("And answer slowly: what follows from them?")


def corpus(reader: Reader) -> None:
    reader.page.get_by_role("tab", name="Corpus").click()
    reader.page.locator("#papers summary").nth(1).click()


STATES: list[Callable[[Reader], None]] = [
    empty,
    streaming,
    answered,
    citation,
    hovered,
    absent,
    failed,
    conversation,
    corpus,
]


def main(out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as home, served("fake", home=Path(home)) as url, chromium() as browser:
        for size in (DESKTOP, WIDE, PHONE):
            for dark in (False, True):
                for state in STATES:
                    if state is hovered and size == PHONE:
                        continue
                    with reading(browser, url, size=size, dark=dark) as reader:
                        state(reader)
                        reader.page.wait_for_timeout(400)  # transitions
                        name = f"{state.__name__}-{size[0]}-{'dark' if dark else 'light'}.png"
                        reader.page.screenshot(path=out / name)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
