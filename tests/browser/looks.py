"""How a page looks and is used: each of its sizes, light and dark, what axe-core finds, and where Tab leads."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.pages import DESKTOP, PHONE, WIDE, settle

AXE = (Path(__file__).parent / "axe" / "axe.min.js").read_text(encoding="utf-8")
MOST_TABS = 150
SIZES = (DESKTOP, WIDE, PHONE)
at_every_size = pytest.mark.parametrize("size", SIZES, ids=[str(width) for width, _ in SIZES])
"""Runs a test at each `size` that is promised."""


class Look(Protocol):
    """Inspects the page as it is now, in the state of that name."""

    def __call__(self, state: str) -> None: ...


@contextmanager
def inspecting(page: Page) -> Iterator[Look]:
    """A function that looks at one state after another, light and dark; no fault may have been found in any."""
    found: dict[str, list[str]] = {}

    def look(state: str) -> None:
        for colours in ("light", "dark"):
            page.evaluate("dark => document.body.classList.toggle('dark', dark)", colours == "dark")  # as Gradio does
            settle(page)
            found[f"{state}, {colours}"] = faults(page)
        page.evaluate("document.body.classList.remove('dark')")

    yield look
    faulty = {state: listed for state, listed in found.items() if listed}
    assert not faulty, faulty


def faults(page: Page) -> list[str]:
    """What axe-core finds, as rule, impact and first node, and whether the page is wider than its window."""
    if not page.evaluate("Boolean(window.axe)"):
        page.evaluate(AXE)
    result: dict[str, Any] = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    found = [f"{fault['id']} ({fault['impact']}): {fault['nodes'][0]['html'][:200]}" for fault in result["violations"]]
    wide = page.evaluate("document.documentElement.scrollWidth > innerWidth")
    return [*found, "wider than the window"] if wide else found


def tab_to(target: Locator, *, key: str = "Tab") -> None:
    """Presses `key` until `target` has the focus, which must then be seen."""
    expect(target).to_be_enabled()
    for _ in range(MOST_TABS):
        if target.evaluate("element => element === document.activeElement"):
            break
        target.page.keyboard.press(key)
    expect(target).to_be_focused()
    assert target.evaluate(_IS_MARKED), f"nothing shows that {target} has the focus"


def press(target: Locator, key: str = "Enter", *, back: bool = False) -> None:
    """Goes to `target`, forwards or `back`, and presses `key` on it."""
    tab_to(target, key="Shift+Tab" if back else "Tab")
    target.page.keyboard.press(key)


_IS_MARKED = """element => [element, element.parentElement, element.closest("label, .input-container")]
  .filter(Boolean).map((each) => getComputedStyle(each))
  .some((style) => style.outlineStyle !== "none" || style.boxShadow !== "none")"""
