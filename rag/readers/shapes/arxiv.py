"""The arXiv metadata snapshot: one JSON object a paper, as arXiv gives it to Kaggle."""

import re
from collections.abc import Mapping
from typing import Any

_YEAR = re.compile(r"\b(\d{4}) \d\d:\d\d:\d\d")
"""The year in "Mon, 2 Apr 2007 19:18:42 GMT"."""


def arxiv_record(fields: Mapping[str, Any]) -> dict[str, Any] | None:
    """The record of an entry of the snapshot, None for anything else. The year is that of the first version."""
    authors, categories = fields.get("authors_parsed"), fields.get("categories")
    if not isinstance(authors, list) or not isinstance(categories, str):
        return None
    used = {"authors_parsed", "categories", "title", "abstract", "versions"}
    other = {key: value for key, value in fields.items() if key not in used and value is not None}
    return other | {
        "title": one_line(fields.get("title")),
        "authors": [name for author in authors if (name := _name(author))],
        "abstract": unfolded(fields.get("abstract")),
        "categories": categories.split(),
        "arxiv_id": fields.get("id"),
        "url": f"https://arxiv.org/abs/{fields.get('id')}",
        "year": _year(fields.get("versions")),
    }


def unfolded(text: object) -> object:
    """`text` without the line breaks at which arXiv folds it; a line that begins with blanks is a new paragraph."""
    if not isinstance(text, str):
        return text
    return re.sub(r"[ \t]*\n", " ", re.sub(r"\n[ \t]+", "\u2029", text.strip())).replace("\u2029", "\n")


def one_line(text: object) -> object:
    """`text` with single blanks for its white space."""
    return " ".join(text.split()) if isinstance(text, str) else text


def _name(author: object) -> str | None:
    """[last, first, suffix, ...] as a name."""
    if not isinstance(author, list) or not all(isinstance(part, str) for part in author):
        return None
    last, first, suffix = [*author[:3], "", "", ""][:3]
    return " ".join(part for part in (first, last, suffix) if part)


def _year(versions: object) -> int | None:
    first = versions[0] if isinstance(versions, list) and versions else None
    created = first.get("created") if isinstance(first, Mapping) else None
    match = _YEAR.search(created) if isinstance(created, str) else None
    return int(match[1]) if match else None
