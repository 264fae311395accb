"""GET requests that are polite and not made twice: paced, patient where the other side asks for it, kept on disk."""

import hashlib
import logging
import os
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from time import sleep
from types import TracebackType
from urllib.parse import urlsplit

import httpx2

from rag.errors import FetchError
from rag.private_folder import make_private

logger = logging.getLogger(__name__)

MAX_BYTES = 256 << 20
"""More than any page or bibliography."""
_KEPT = 24 * 3600.0
"""Seconds for which a page counts as fetched."""
_TRIES = 5
_LONGEST_WAIT = 300.0
"""Seconds that are waited at most because the other side asks for it."""
_AGAIN = frozenset({408, 425, 429, 500, 502, 503, 504})
_USER_AGENT = "citewise/0.1 (question answering over paper abstracts)"


class Web:
    """Fetches pages of one site into the folder `cache`, `pause` seconds apart. To be closed."""

    def __init__(
        self,
        cache: Path,
        *,
        pause: float,
        refresh: bool = False,
        wait: Callable[[float], None] | None = None,
    ) -> None:
        self._cache, self._pause, self._sleep = cache, pause, wait or sleep
        self._fresh_since = time.time() if refresh else time.time() - _KEPT
        self._next = 0.0
        self._client = httpx2.Client(timeout=httpx2.Timeout(60.0, connect=10.0), headers={"User-Agent": _USER_AGENT})

    def __enter__(self) -> "Web":
        make_private(self._cache)
        for path in self._cache.iterdir():
            if path.stat().st_mtime < time.time() - _KEPT:
                path.unlink(missing_ok=True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()

    def get(self, url: str, *, query: Mapping[str, str] | None = None) -> Path:
        """The file that holds the body of `url`. Raises FetchError where it cannot be had."""
        full = str(httpx2.URL(url, params=dict(query)) if query else httpx2.URL(url))
        kept = self._path(full)
        if kept.exists() and kept.stat().st_mtime >= self._fresh_since:
            return kept
        for attempt in range(1, _TRIES + 1):
            wait = self._try(full, kept)
            if wait is None:
                return kept
            if attempt < _TRIES:
                self._sleep(wait if wait > 0 else 2.0**attempt)
        raise FetchError(
            f"{_host(full)} did not answer {_TRIES} times.",
            fix="Try again later: what was fetched is kept for a day and not asked for again.",
        )

    def forget(self, url: str, *, query: Mapping[str, str]) -> None:
        """Lets a page be fetched again that proved to be of no use."""
        self._path(str(httpx2.URL(url, params=dict(query)))).unlink(missing_ok=True)

    def _path(self, full: str) -> Path:
        return self._cache / hashlib.sha256(full.encode()).hexdigest()

    def _try(self, full: str, kept: Path) -> float | None:
        """One request: None when the page is kept, else for how long to wait, 0 where nothing is asked for."""
        self._sleep(max(0.0, self._next - time.monotonic()))
        started = time.monotonic()
        try:
            with self._client.stream("GET", full) as response:
                status = response.status_code
                if status == 200:
                    self._keep(response, kept)
                    return None
                wait = _retry_after(response.headers.get("Retry-After"))
        except httpx2.TransportError as error:
            logger.info("GET from %s failed: %s", _host(full), type(error).__name__)
            return 0.0
        except httpx2.HTTPError as error:
            raise FetchError(f"{_host(full)} sent what cannot be read: {error}.", fix="Try again later.") from error
        finally:
            self._next = time.monotonic() + self._pause
            logger.info("GET from %s: %.1f s", _host(full), time.monotonic() - started)
        if status not in _AGAIN or wait > _LONGEST_WAIT:
            asks = f" and asks to wait {wait:,.0f} s" if wait else ""
            raise FetchError(f"{_host(full)} answered {status}{asks}.", fix="Check the name of what is fetched.")
        return wait

    def _keep(self, response: "httpx2.Response", kept: Path) -> None:
        """Writes the body, all of it or nothing."""
        temporary, size = kept.with_suffix(".part"), 0
        with temporary.open("wb") as file:
            for part in response.iter_bytes():
                size += file.write(part)
                if size > MAX_BYTES:
                    raise FetchError(
                        f"{_host(str(response.url))} sent more than {MAX_BYTES:,} bytes.", fix="Ask for less."
                    )
        os.replace(temporary, kept)


def _retry_after(value: str | None) -> float:
    """Seconds that a Retry-After header asks for, given as such or as a date (RFC 9110, section 10.2.3)."""
    if value is None:
        return 0.0
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds())
    except (TypeError, ValueError):
        return 0.0


def _host(url: str) -> str:
    return urlsplit(url).netloc.rpartition("@")[2]
