"""Fetches papers from OpenReview, arXiv and PMLR by their public interfaces, when a source names one of them.

The maintained clients are not used: openreview-py brings 30 packages for one GET, and `arxiv` repeats a failed page at
once, knows no Retry-After, and keeps nothing to go on from. All three need the same: be polite, keep what came, go on.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from rag.domain import Paper
from rag.readers.found import Found, ReadOptions, papers_of
from rag.records import Reject, Repair

OPENREVIEW = "https://api2.openreview.net"
ARXIV = "https://export.arxiv.org/api"
PMLR = "https://proceedings.mlr.press"

Told = Callable[[int, int, str], object]
"""Told how much was fetched: (done, total, "fetching")."""
_SOURCE = re.compile(r"(openreview|arxiv|pmlr):(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Fetching:
    """Where things are fetched from, and `cache`, the folder where what came is kept for a day.

    With `refresh` what is kept is fetched anew. `pauses` are the seconds between requests to each.
    """

    cache: Path
    openreview_url: str = OPENREVIEW
    arxiv_url: str = ARXIV
    pmlr_url: str = PMLR
    refresh: bool = False
    pauses: dict[str, float] = field(default_factory=lambda: {"openreview": 1.0, "arxiv": 3.0, "pmlr": 1.0})
    """arXiv's terms ask for three seconds."""


def is_remote(source: str) -> bool:
    """Whether a source is fetched: `openreview:VENUE`, `arxiv:QUERY-OR-IDS` or `pmlr:vN`."""
    return _SOURCE.fullmatch(source) is not None


def fetch_papers(
    source: str,
    *,
    fetching: Fetching,
    options: ReadOptions,
    on_repair: Callable[[Repair], object] | None = None,
    on_progress: Told | None = None,
) -> Iterator[Paper | Reject]:
    """The papers of a source for which `is_remote` holds, with a Reject for each bad record; `line` counts them from 1.

    Pages that came before a fault or an interruption are not asked for again. Raises FetchError where the other side
    cannot be reached, refuses, or sends what is not understood.
    """
    match = _SOURCE.fullmatch(source)
    if match is None:
        raise ValueError(f"not a source to fetch: {source}")
    found = _found(match[1], match[2].strip(), fetching, on_progress or (lambda done, total, what: None))
    for item in papers_of(found, file=source, options=options):
        if not isinstance(item, Repair):
            yield item
        elif on_repair is not None:
            on_repair(item)


def _found(scheme: str, what: str, fetching: Fetching, on_progress: Told) -> Iterator[Found]:
    from rag.fetching.web import Web

    with Web(fetching.cache, pause=fetching.pauses[scheme], refresh=fetching.refresh) as web:
        if scheme == "openreview":
            from rag.fetching.openreview import venue_notes

            yield from venue_notes(web, fetching.openreview_url, what, on_progress=on_progress)
        elif scheme == "arxiv":
            from rag.fetching.arxiv import arxiv_entries

            yield from arxiv_entries(web, fetching.arxiv_url, what, on_progress=on_progress)
        else:
            from rag.fetching.pmlr import volume_papers

            yield from volume_papers(web, fetching.pmlr_url, what)
