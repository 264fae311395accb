"""A page of citewise in Chromium, as tests and screenshots drive it."""

import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from typing import TypeVar

from playwright.sync_api import Browser, Locator, Page, expect

ROOT = Path(__file__).resolve().parents[2]
DESKTOP, WIDE, PHONE = (1280, 800), (1920, 1080), (390, 844)
CHIPS = '#chat a[href^="#cite-"]:not([href$="-nearest"])'
START_SECONDS = 90
T = TypeVar("T")
SOON_SECONDS = 10
_SETTLED = """() => Promise.allSettled(document.getAnimations()
  .filter((each) => each.effect.getComputedTiming().endTime !== Infinity).map((each) => each.finished))"""


@contextmanager
def served(kind: str, *, home: Path, port: int | None = None, may_crash: bool = False) -> Iterator[str]:
    """The address of the page served by a process of its own; afterwards that it asked nothing of the network."""
    port = port or free_port()
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OPENAI_", "CITEWISE_"))}
    with tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.browser.serve", kind, str(port)],
            cwd=ROOT,
            env={**kept, "CITEWISE_HOME": str(home)},
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        try:
            _wait_until_ready(port, process)
            yield f"http://127.0.0.1:{port}/"
        finally:
            process.terminate()
            process.wait(timeout=20)
            log.seek(0)
            printed = log.read()
        assert "OUTSIDE" not in printed, printed
        assert may_crash or "Traceback" not in printed, printed


def free_port() -> int:
    """A port that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _wait_until_ready(port: int, process: "subprocess.Popen[bytes]") -> None:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        assert process.poll() is None, "the server ended before it was ready"
        connection = HTTPConnection("127.0.0.1", port, timeout=5)
        try:
            connection.request("GET", "/readyz")
            if connection.getresponse().status == 200:
                return
        except OSError:
            time.sleep(0.2)
        finally:
            connection.close()
    raise AssertionError(f"the server was not ready within {START_SECONDS} s")


@dataclass
class Reader:
    """Somebody who reads the page. `outside` and `errors` must stay empty."""

    page: Page
    url: str
    outside: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("request", lambda request: self._seen(request.url))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))

    def _seen(self, url: str) -> None:
        if not url.startswith((self.url, "data:", "blob:")):
            self.outside.append(url)

    def open(self) -> "Reader":
        self.page.goto(self.url)
        expect(self.page.locator("#ask textarea")).to_be_visible(timeout=20_000)
        return self

    def again(self, *, url: str | None = None) -> None:
        """Loads the page anew, or another address of it, and waits until it can be used."""
        self.page.goto(url or self.page.url)
        expect(self.page.locator("#ask textarea")).to_be_visible(timeout=20_000)

    def toggle(self, part: str) -> None:
        """Opens or closes "history", "settings" or "filters"."""
        self.page.locator(f'[data-toggle="{part}"]').click()

    @property
    def listed(self) -> Locator:
        """The conversations of the drawer."""
        return self.page.locator("#history .open")

    def ask(self, question: str, *, wait: bool = True) -> None:
        """Types a question, sends it and, with `wait`, reads until the status says how it ended."""
        asked = self.questions.count()
        self.page.locator("#ask textarea").fill(question)
        self.page.locator("#ask textarea").press("Enter")
        expect(self.questions).to_have_count(asked + 1)
        if wait:
            self.wait_for_the_end()

    def wait_for_the_end(self) -> None:
        """Waits until the answer that is being written is done and shown as checked."""
        expect(self.page.locator("#ask .stop-button")).to_have_count(0, timeout=30_000)
        expect(self.answer.locator('a[href$="-pending"]')).to_have_count(0)

    @property
    def questions(self) -> Locator:
        return self.page.locator('#chat [data-testid="user"]')

    @property
    def answer(self) -> Locator:
        return self.page.locator('#chat [data-testid="bot"]').last

    @property
    def question(self) -> Locator:
        return self.questions.last

    @property
    def suggested(self) -> Locator:
        """The questions to ask next, or the options of what is asked back."""
        return self.page.locator("#follow-ups button")

    @property
    def status(self) -> Locator:
        return self.page.locator('#status [role="status"]')

    @property
    def sources(self) -> Locator:
        return self.page.locator("#sources section")

    @property
    def opened(self) -> Locator:
        """The source that a citation opened."""
        return self.page.locator("#sources .detail .source")

    @property
    def chips(self) -> Locator:
        return self.page.locator(CHIPS)


def settle(page: Page) -> None:
    """Waits until nothing moves any more."""
    page.evaluate(_SETTLED)


def becomes(page: Page, read: Callable[[], T], wanted: T) -> None:
    """Waits until what `read` finds on the page is `wanted`."""
    until = time.monotonic() + SOON_SECONDS
    while (found := read()) != wanted:
        assert time.monotonic() < until, f"{found!r} is not {wanted!r}"
        page.wait_for_timeout(50)


@contextmanager
def reading(
    browser: Browser, url: str, *, size: tuple[int, int] = DESKTOP, dark: bool = False, still: bool = False
) -> Iterator[Reader]:
    """A reader with a fresh profile, who wants no motion where `still` is set.

    At the end, the page asked nothing of any other host and raised nothing.
    """
    phone = size[0] < 760
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]},
        color_scheme="dark" if dark else "light",
        reduced_motion="reduce" if still else "no-preference",
        has_touch=phone,
        is_mobile=phone,
        permissions=["clipboard-read", "clipboard-write"],
    )
    context.set_default_timeout(15_000)
    reader = Reader(context.new_page(), url).open()
    try:
        yield reader
    finally:
        context.close()
    assert not reader.outside, f"requests beyond the page's own server: {reader.outside}"
    assert not reader.errors, f"errors in the page: {reader.errors}"
