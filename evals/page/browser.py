"""Chromium without a window, driven by Playwright, which is asked for only here."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rag.errors import CitewiseError

if TYPE_CHECKING:
    from playwright.sync_api import Browser

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
"""The Chromium of this machine, None where there is none: then Playwright's own is looked for."""


class BrowserError(CitewiseError):
    """There is no browser to open the page with."""


@contextmanager
def chromium() -> Iterator["Browser"]:
    """A Chromium that fetches nothing of its own. Raises BrowserError where Playwright or Chromium is not installed."""
    try:
        from playwright.sync_api import Error, sync_playwright
    except ImportError as error:
        raise BrowserError("Playwright is not installed.", fix="Run: pip install playwright") from error
    with sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(
                executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
            )
        except Error as error:
            raise BrowserError(
                "Chromium does not start.", fix="Run: apt-get install chromium, or: playwright install chromium"
            ) from error
        yield browser
        browser.close()
