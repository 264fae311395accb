"""The accepted papers of a venue, by OpenReview's API version 2 (GET /notes)."""

import json
import re
from collections.abc import Iterator

from rag.errors import FetchError
from rag.fetching import Told
from rag.fetching.web import Web
from rag.readers.found import Found
from rag.records import BadRecord

_PAGE = 1000
"""Most notes that the API gives at once."""
_VENUE = re.compile(r"[\w.-]+(?:/[\w.-]+)+")


def venue_notes(web: Web, base_url: str, venue: str, *, on_progress: Told) -> Iterator[Found]:
    """The notes whose venue id is `venue`, as `ICML.cc/2025/Conference`. Raises FetchError where there are none."""
    if not _VENUE.fullmatch(venue):
        raise FetchError(f"{venue!r} is no id of a venue.", fix="Give it as openreview:ICML.cc/2025/Conference.")
    done, total = 0, 1
    while done < total:
        query = {"content.venueid": venue, "limit": str(_PAGE), "offset": str(done), "sort": "number:asc"}
        notes, total = _page(web.get(f"{base_url.rstrip('/')}/notes", query=query).read_bytes())
        if not notes:
            break
        for note in notes:
            done += 1
            if isinstance(note, dict):
                yield Found(done, note)
            else:
                yield Found(done, None, BadRecord(None, "not a JSON object"))
        on_progress(done, max(done, total), "fetching")
    if not done:
        raise FetchError(
            f"OpenReview has no papers of {venue}.", fix="Look the id up in the address of its page there."
        )


def _page(body: bytes) -> tuple[list[object], int]:
    """The notes of a page, and how many there are in all."""
    try:
        page = json.loads(body)
        notes, total = page["notes"], page.get("count")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise FetchError("OpenReview sent no page of notes.", fix="Try again later, with --refresh.") from error
    if not isinstance(notes, list) or not isinstance(total, int):
        raise FetchError("OpenReview sent no page of notes.", fix="Try again later, with --refresh.")
    return notes, total
