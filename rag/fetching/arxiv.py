"""The papers that a query or ids name, by arXiv's API (GET /query, an Atom feed)."""

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from typing import Any, NamedTuple

from rag.errors import FetchError
from rag.fetching import Told
from rag.fetching.web import Web
from rag.readers.found import Found
from rag.readers.shapes.arxiv import one_line, unfolded

_PAGE, _IDS = 200, 100
_MOST = 30_000
"""Results of one query that the API gives at most."""
_EMPTY_PAGES = 3
"""How often a page that should not be empty is asked for: the API sends such now and then."""
_ID = r"(?:\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?/\d{7})(?:v\d+)?"
_ID_LIST = re.compile(rf"\s*{_ID}(?:[\s,]+{_ID})*\s*")
_ATOM = {
    "a": "http://www.w3.org/2005/Atom",
    "o": "http://a9.com/-/spec/opensearch/1.1/",
    "x": "http://arxiv.org/schemas/atom",
}


class _Feed(NamedTuple):
    entries: list[ElementTree.Element]
    total: int


def arxiv_entries(web: Web, base_url: str, what: str, *, on_progress: Told) -> Iterator[Found]:
    """The papers of `what`: ids with commas or blanks between, or a query as `cat:cs.LG AND ti:"memory traces"`.

    Raises FetchError where there are none, or more than the API gives.
    """
    queries: list[dict[str, str]] = [{"search_query": what}]
    if _ID_LIST.fullmatch(what):
        ids = re.findall(_ID, what)
        queries = [{"id_list": ",".join(ids[first : first + _IDS])} for first in range(0, len(ids), _IDS)]
    number = 0
    for query in queries:
        done, total = 0, 1
        while done < total:
            entries, total = _feed(web, f"{base_url.rstrip('/')}/query", query, start=done)
            if total > _MOST:
                raise FetchError(
                    f"{total:,} papers of arXiv fit {what!r}, and its API gives {_MOST:,}.",
                    fix="Narrow the query, or ingest arXiv's metadata snapshot.",
                )
            for entry in entries:
                number, done = number + 1, done + 1
                yield Found(number, _record(entry))
            on_progress(done, max(done, total), "fetching")
    if not number:
        raise FetchError(f"arXiv has no paper that fits {what!r}.", fix="Correct the query.")


def _feed(web: Web, url: str, query: dict[str, str], *, start: int) -> _Feed:
    page = {**query, "start": str(start), "max_results": str(_PAGE)}
    if "search_query" in query:
        page |= {"sortBy": "submittedDate", "sortOrder": "ascending"}
    for _ in range(_EMPTY_PAGES):
        feed = _parse(web.get(url, query=page).read_bytes())
        if feed.entries or start >= feed.total:
            return feed
        web.forget(url, query=page)
    raise FetchError("arXiv sent an empty page where there should be papers.", fix="Try again later.")


def _parse(body: bytes) -> _Feed:
    try:
        text = body.decode("utf-8")
        if "<!" in text.partition("<feed")[0]:
            raise ValueError("a feed has no declarations")
        root = ElementTree.fromstring(text)  # noqa: S314  (without declarations there is nothing to expand)
        total = int(root.findtext("o:totalResults", "", _ATOM))
    except (ElementTree.ParseError, ValueError) as error:
        raise FetchError("arXiv sent no feed.", fix="Try again later, with --refresh.") from error
    entries = root.findall("a:entry", _ATOM)
    first = entries[0] if entries else None
    if first is not None and "api/errors" in first.findtext("a:id", "", _ATOM):
        problem = " ".join(first.findtext("a:summary", "", _ATOM).split())
        raise FetchError(f"arXiv refused the query: {problem}.", fix="Correct it.")
    return _Feed(entries, total)


def _record(entry: ElementTree.Element) -> dict[str, Any]:
    def text(path: str) -> str | None:
        return (entry.findtext(path, "", _ATOM)).strip() or None

    paper_id = re.sub(r"v\d+\Z", "", (text("a:id") or "").partition("/abs/")[2])
    published = text("a:published") or ""
    names = (author.findtext("a:name", "", _ATOM).strip() for author in entry.findall("a:author", _ATOM))
    fields = {
        "id": paper_id or None,
        "arxiv_id": paper_id or None,
        "title": one_line(text("a:title")),
        "abstract": unfolded(text("a:summary")),
        "authors": [name for name in names if name],
        "categories": [item.get("term", "") for item in entry.findall("a:category", _ATOM)],
        "url": f"https://arxiv.org/abs/{paper_id}" if paper_id else None,
        "year": int(published[:4]) if published[:4].isdigit() else None,
        "doi": text("x:doi"),
        "journal_ref": text("x:journal_ref"),
        "comment": text("x:comment"),
        "updated": text("a:updated"),
    }
    return {key: value for key, value in fields.items() if value is not None}
