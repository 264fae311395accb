"""One server and one Chromium for all browser tests, a fresh profile for each.

They come last in a run: Playwright leaves an event loop running.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from functools import partial
from typing import Protocol

import pytest
from playwright.sync_api import Browser

from evals.page.browser import CHROMIUM, chromium
from tests.browser.pages import Reader, reading, served


class OpenPage(Protocol):
    """Opens the page in a window of `size`."""

    def __call__(
        self, *, size: tuple[int, int] = ..., dark: bool = ..., still: bool = ...
    ) -> AbstractContextManager[Reader]: ...


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if not CHROMIUM:
        pytest.skip("Chromium is not installed")
    with chromium() as started:
        yield started


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The page with the scripted assistant."""
    with served("fake", home=tmp_path_factory.mktemp("home")) as url:
        yield url


@pytest.fixture
def open_page(browser: Browser, site: str) -> OpenPage:
    return partial(reading, browser, site)


@pytest.fixture
def reader(open_page: OpenPage) -> Iterator[Reader]:
    """Somebody at a desktop."""
    with open_page() as reader:
        yield reader
