"""Entries of Paper Copilot's paper lists: one JSON array a conference and year."""

from collections.abc import Mapping
from typing import Any

from rag.records import BadRecord

_GONE = frozenset({"withdraw", "withdrawn", "reject", "rejected", "desk reject", "desk rejected"})


def paperlists_record(fields: Mapping[str, Any]) -> dict[str, Any] | None:
    """The record of an entry, None for anything else. Raises BadRecord for what was withdrawn or rejected.

    Venue and year stand in the list's file name alone, and so are not known here.
    """
    author, status = fields.get("author"), fields.get("status")
    if not isinstance(author, str) or not isinstance(status, str) or "authors" in fields or "title" not in fields:
        return None
    if status.strip().lower() in _GONE:
        raise BadRecord("status", f"not a paper of the venue: {status.strip().lower()}")
    other = {
        key: value for key, value in fields.items() if key not in {"author", "site"} and value not in (None, "", [])
    }
    return other | {"authors": author, "url": fields.get("site") or None}
