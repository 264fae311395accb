"""The whole measurement of the page: loads in turns with Gradio's bare chat, questions one by one, readers at once."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from evals.load.server import PageServer, copied_home
from evals.load.sessions import ask as ask_by_api
from evals.page.asking import BOX, Asked, ask, ask_at_once
from evals.page.browser import chromium
from evals.page.loading import Load, load_page, open_url
from evals.page.report import PageReport
from rag.building import Progress

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext

_BARE_BOX = "textarea"
_REST = 1_000
"""Milliseconds from when a page can be used until it is asked: nobody types faster."""


def measure(
    *,
    home: Path,
    corpus: str,
    papers: int,
    questions: Sequence[str],
    loads: int,
    readers: int,
    on_progress: Progress = lambda done, total, what: None,
) -> PageReport:
    """Measures the page for a copy of the corpus, with quoted answers. Raises BrowserError and LoadError.

    Each of `questions` is asked on a page of its own; `readers` of them at once.
    """
    extractive = {"CITEWISE_WRITER": "extractive"}
    with (
        chromium() as browser,
        copied_home(home, corpus) as place,
        PageServer.chat(home=place, corpus=corpus, variables=extractive) as server,
    ):
        url = f"http://127.0.0.1:{server.port}/"
        ask_by_api(server.port, questions[0])  # loads what is loaded at first use
        with PageServer(["-m", "evals.page.bare"], ready="/") as bare:
            bare_url = f"http://127.0.0.1:{bare.port}/"
            ours, theirs = _load_in_turns(browser, url, bare_url, loads=loads, on_progress=on_progress)
        hasty = [_ask_new_reader(browser, url, questions[n % len(questions)]) for n in range(loads)]
        asked = _ask_each(browser, url, questions, on_progress=on_progress)
        together = ask_at_once(browser, server.port, [questions[n % len(questions)] for n in range(readers)])
        return PageReport(
            corpus=corpus,
            papers=papers,
            processors=os.cpu_count() or 1,
            machine_load=os.getloadavg()[0],
            loads=ours.first,
            bare=theirs.first,
            later=ours.later,
            bare_later=theirs.later,
            hasty=hasty,
            asked=asked,
            readers=readers,
            together=together,
        )


class _Loads(NamedTuple):
    """Loads by readers who were never there, and those of the same readers when they come back."""

    first: list[Load]
    later: list[Load]


def _load_in_turns(
    browser: "Browser", url: str, bare: str, *, loads: int, on_progress: Progress
) -> tuple[_Loads, _Loads]:
    """The loads of our page and of the bare one."""
    ours, theirs = _Loads([], []), _Loads([], [])
    for number in range(loads):
        pair = [(ours, url, BOX), (theirs, bare, _BARE_BOX)]
        for seen, address, box in pair if number % 2 else reversed(pair):
            with _new_reader(browser) as context:
                seen.first.append(load_page(context, address, box=box))
                seen.later.append(load_page(context, address, box=box))
        on_progress(number + 1, loads, "loading")
    return ours, theirs


def _ask_new_reader(browser: "Browser", url: str, question: str) -> Asked:
    """Somebody who was never there asks as soon as the question box can be used."""
    with _new_reader(browser) as context:
        page = context.new_page()
        open_url(page, url, box=BOX)
        return ask(page, question)


def _ask_each(browser: "Browser", url: str, questions: Sequence[str], *, on_progress: Progress) -> list[Asked]:
    """One reader asks all, each question on the page as it opens and has come to rest."""
    asked: list[Asked] = []
    with _new_reader(browser) as context:
        for number, question in enumerate(questions):
            page = context.new_page()
            open_url(page, url, box=BOX)
            page.wait_for_timeout(_REST)
            asked.append(ask(page, question))
            page.close()
            on_progress(number + 1, len(questions), "asking")
    return asked


@contextmanager
def _new_reader(browser: "Browser") -> Iterator["BrowserContext"]:
    """A browser's profile that has seen nothing yet."""
    context = browser.new_context()
    yield context
    context.close()
