"""OpenReview notes, as its API gives them: version 2, whose fields have a `value`, and version 1, whose have none."""

import re
from collections.abc import Mapping
from typing import Any

from rag.records import BadRecord

_YEAR = re.compile(r"/(\d{4})/")
"""The year in the id of a venue, which by OpenReview's convention is host/year/event."""
_GONE = re.compile(r"/(?:Desk_Rejected|Rejected|Withdrawn)_Submission\Z")


def openreview_record(fields: Mapping[str, Any]) -> dict[str, Any] | None:
    """The record of a submission, None for what is no note. Raises BadRecord for what was withdrawn or rejected."""
    content = fields.get("content")
    if not isinstance(content, Mapping) or not ("forum" in fields or "invitation" in fields or "invitations" in fields):
        return None
    values = {key: _value(field) for key, field in content.items()}
    venue_id = values.get("venueid")
    if isinstance(venue_id, str) and (gone := _GONE.search(venue_id)):
        raise BadRecord("venueid", f"not a paper of the venue: {gone[0][1:].replace('_', ' ').lower()}")
    if fields.get("ddate"):
        raise BadRecord("ddate", "deleted at its source")
    year = _YEAR.search(venue_id) if isinstance(venue_id, str) else None
    other = {key: value for key, value in values.items() if value not in (None, "", [])}
    return other | {
        "id": fields.get("id"),
        "authors": _names(values.get("authors")),
        "url": f"https://openreview.net/forum?id={fields.get('forum') or fields.get('id')}",
        "year": int(year[1]) if year else None,
    }


def _value(field: Any) -> Any:
    return field.get("value") if isinstance(field, Mapping) and "value" in field else field


def _names(authors: Any) -> Any:
    """The names of authors who may be given as profiles."""
    if not isinstance(authors, list):
        return authors
    return [
        author.get("fullname") or author.get("name") if isinstance(author, Mapping) else author for author in authors
    ]
