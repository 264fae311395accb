"""Papers as Semantic Scholar's API and its bulk data give them."""

from collections.abc import Mapping
from typing import Any


def semantic_scholar_record(fields: Mapping[str, Any]) -> dict[str, Any] | None:
    """The record of a Semantic Scholar paper, None for anything else. Many abstracts are null."""
    paper_id, number = fields.get("paperId"), fields.get("corpusid") or fields.get("corpusId")
    if not isinstance(paper_id, str) and not (isinstance(number, int) and "title" in fields):
        return None
    ids = fields.get("externalIds") or fields.get("externalids")
    ids = ids if isinstance(ids, Mapping) else {}
    used = {"paperId", "externalIds", "externalids", "authors"}
    other = {key: value for key, value in fields.items() if key not in used and value not in (None, "", [])}
    return other | {
        "id": paper_id or f"CorpusId:{number}",
        "authors": _names(fields.get("authors")),
        "arxiv_id": ids.get("ArXiv"),
        "doi": ids.get("DOI"),
    }


def _names(authors: Any) -> Any:
    if not isinstance(authors, list):
        return authors
    return [author.get("name") if isinstance(author, Mapping) else author for author in authors]
