"""When a request is sent again: how long to wait, and what the server asked for."""

import random
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

MAX_REQUESTS = 3
"""Requests of one call, whatever they were repeated for."""
FIRST_WAIT = 0.5
"""Seconds before the first retry; doubled before the second."""


def backoff(attempt: int) -> float:
    """Seconds before retry number `attempt` (from 0): exponential, with jitter so that many clients spread out."""
    return FIRST_WAIT * 2.0**attempt * random.uniform(0.5, 1.0)  # noqa: S311


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that a response asks to wait (a number or a date: RFC 9110, section 10.2.3), None where it does not."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    seconds = _number(value)
    if seconds is not None or value is None:
        return seconds
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except ValueError:
        return None


def _number(text: str | None) -> float | None:
    """A finite number of at least 0, else None."""
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if 0 <= number < 1e9 else None
