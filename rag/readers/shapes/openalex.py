"""Works of OpenAlex, whose abstracts are inverted indexes: each word with its positions."""

from collections.abc import Mapping
from typing import Any

from rag.records import BadRecord

_ADDRESS = "https://openalex.org/"
_DOI = "https://doi.org/"
MAX_WORDS = 50_000
"""Most words of an abstract: positions are numbers, and may be any."""


def openalex_record(fields: Mapping[str, Any]) -> dict[str, Any] | None:
    """The record of a work, None for anything else. Raises BadRecord where its abstract cannot be put together."""
    work_id = fields.get("id")
    is_work = isinstance(work_id, str) and work_id.startswith(_ADDRESS)
    if "abstract_inverted_index" not in fields and not is_work:
        return None
    location = fields.get("primary_location")
    location = location if isinstance(location, Mapping) else {}
    source, doi = location.get("source"), fields.get("doi")
    used = {"abstract_inverted_index", "authorships", "display_name", "publication_year"}
    other = {key: value for key, value in fields.items() if key not in used and value not in (None, "", [])}
    return other | {
        "id": work_id.removeprefix(_ADDRESS) if isinstance(work_id, str) else work_id,
        "title": fields.get("title") or fields.get("display_name"),
        "abstract": _text(fields.get("abstract_inverted_index")) or fields.get("abstract"),
        "authors": _names(fields.get("authorships")),
        "year": fields.get("publication_year"),
        "venue": source.get("display_name") if isinstance(source, Mapping) else None,
        "doi": doi.removeprefix(_DOI) if isinstance(doi, str) else None,
        "url": location.get("landing_page_url") or doi or work_id,
    }


def _text(index: object) -> str | None:
    """The text of an inverted index, its words in the order of their positions."""
    if index is None:
        return None
    if not isinstance(index, Mapping) or not all(isinstance(places, list) for places in index.values()):
        raise BadRecord("abstract_inverted_index", "must be an object of words with lists of positions")
    if sum(map(len, index.values())) > MAX_WORDS:
        raise BadRecord("abstract_inverted_index", f"more than {MAX_WORDS:,} words")
    words = [(place, word) for word, places in index.items() for place in places]
    if not all(isinstance(place, int) for place, _ in words):
        raise BadRecord("abstract_inverted_index", "positions must be whole numbers")
    return " ".join(word for _, word in sorted(words))


def _names(authorships: object) -> list[Any]:
    if not isinstance(authorships, list):
        return []
    authors = [item.get("author") for item in authorships if isinstance(item, Mapping)]
    names = [author.get("display_name") for author in authors if isinstance(author, Mapping)]
    return [name for name in names if name is not None]
