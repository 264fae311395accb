"""Questions asked on the page: when the first citation is seen, and whether many readers each get their own answer."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote

from evals.load.sessions import ask as ask_by_api

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

BOX = "#ask textarea"
_CITATION = '#chat a[href^="#cite-"]:not([href$="-nearest"])'
_CITED_PAPER = re.compile(r"#cite-(.+)-[\d.]*-[a-z]+\Z")
_MILLISECONDS = 60_000
"""Within which an answer has to end."""
_HEAD_START = 1_000
"""Milliseconds in which all readers are told when to ask."""
_NAMED = 30
"""Characters of a question that the status line shows at least."""
# Times count from the key press or click that asks to the frame that paints what is seen.
_WATCH = """(citation) => {
  let asked = 0;
  Object.assign(window, { citedAfter: null, outcome: null, endedAfter: null });
  const ask = (event) => {
    if (event.key === "Enter" || event.target.closest?.("#ask .submit-button")) asked ||= performance.now();
  };
  addEventListener("keydown", ask, true);
  addEventListener("click", ask, true);
  const look = () => {
    if (!asked) return;
    if (window.citedAfter === null && document.querySelector(citation)) window.citedAfter = performance.now() - asked;
    const told = document.querySelector('#status [role="status"]')?.textContent.trim() ?? "";
    const [outcome] = /^(Answer ready|No answer|Asked back)/.exec(told) ?? [];
    if (outcome && !window.outcome) Object.assign(window, { outcome, endedAfter: performance.now() - asked });
  };
  new MutationObserver(() => requestAnimationFrame(look)).observe(document.body, {
    childList: true, subtree: true, characterData: true,
  });
}"""
_ASK_AT = (
    "(moment) => { setTimeout(() => document.querySelector('#ask .submit-button').click(), moment - Date.now()); }"
)


class Asked(NamedTuple):
    """`outcome` is what the page announced, "" where it announced no end; `cited` is in milliseconds from Enter until
    the first citation was painted, None where there was none."""

    outcome: str
    cited: float | None


class Readers(NamedTuple):
    """`seconds` is how long each reader who was answered waited; `errors` say what went wrong for the others."""

    seconds: tuple[float, ...]
    errors: tuple[str, ...]


def ask(page: "Page", question: str) -> Asked:
    """Asks on a page that was just loaded, and waits for the end of the answer."""
    page.evaluate(_WATCH, _CITATION)
    page.locator(BOX).fill(question)
    page.locator(BOX).press("Enter")
    if not _ended(page):
        return Asked("", None)
    return Asked(page.evaluate("window.outcome"), page.evaluate("window.citedAfter"))


def ask_at_once(browser: "Browser", port: int, questions: Sequence[str]) -> Readers:
    """Each of `questions` is asked by a reader with a profile of their own, all at the same moment.

    An answer is the reader's own where the status line names the question, and the papers that are cited are those that
    the API cites for it.
    """
    expected = [_papers_by_api(port, question) for question in questions]
    contexts = [browser.new_context() for _ in questions]
    errors: list[str] = []
    pages = [context.new_page() for context in contexts]
    for page, question in zip(pages, questions, strict=True):
        page.on("pageerror", lambda error: errors.append(f"error in the page: {error}"))
        page.on("response", lambda response: errors.extend(_fault(response.status, response.url)))
        page.goto(f"http://127.0.0.1:{port}/")
        page.locator(BOX).fill(question)
        page.evaluate(_WATCH, _CITATION)
    moment = pages[0].evaluate("Date.now()") + _HEAD_START
    for page in pages:
        page.evaluate(_ASK_AT, moment)
    seconds: list[float] = []
    for page, question, papers in zip(pages, questions, expected, strict=True):
        wrong = _wrong(page, question, papers)
        errors += [f"{question!r}: {wrong}"] if wrong else []
        seconds += [] if wrong else [page.evaluate("window.endedAfter") / 1000]
    for context in contexts:
        context.close()
    return Readers(tuple(seconds), tuple(errors))


def _ended(page: "Page") -> bool:
    from playwright.sync_api import TimeoutError as PlaywrightTimeout

    try:
        page.wait_for_function("window.outcome", timeout=_MILLISECONDS)
    except PlaywrightTimeout:
        return False
    return True


def _fault(status: int, url: str) -> list[str]:
    return [f"HTTP {status} for {url}"] if status >= 400 else []


def _papers_by_api(port: int, question: str) -> set[str]:
    """The ids of the papers that the answer of the API cites."""
    kind, value = ask_by_api(port, question)
    citations = value.get("citations") if kind == "answer" and isinstance(value, dict) else None
    return {str(citation["paper_id"]) for citation in citations} if isinstance(citations, list) else set()


def _wrong(page: "Page", question: str, papers: set[str]) -> str:
    """What is wrong with the answer that the reader got, "" for nothing."""
    if not _ended(page):
        return "no end of the answer"
    if " ".join(question.split())[:_NAMED] not in page.locator("#status").inner_text():
        return "the status names another question"
    if page.locator("#chat .outcome.failed").count():
        return "the answer failed"
    hrefs = page.locator(_CITATION).evaluate_all("links => links.map((link) => link.getAttribute('href'))")
    cited = {unquote(found[1]) for href in hrefs if (found := _CITED_PAPER.match(href))}
    return "" if cited == papers else f"cites {sorted(cited)}, not {sorted(papers)}"
