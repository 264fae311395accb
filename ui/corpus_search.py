"""Which papers the Corpus tab lists: from what its form holds to one page of papers. No Gradio, no state kept."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from rag.assistant import MAX_QUESTION_CHARS, Assistant
from rag.domain import Paper
from rag.errors import CitewiseError
from rag.filters import FIRST_YEAR, LAST_YEAR, Filters, make_filters

PAPERS_ON_A_PAGE = 50
MATCHES = 200
"""Most papers that a search lists: what comes after them hardly matches."""
_MAX_FIELD_CHARS = 200


@dataclass(frozen=True, slots=True)
class Listing:
    """A page of papers: `first` counts from 0 what is listed in all, `total`; `note` says what was searched."""

    papers: tuple[Paper, ...]
    first: int
    total: int
    query: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Form:
    """What the form holds. A client may send anything: see `read_form`."""

    query: str = ""
    author: str = ""
    venue: str = ""
    category: str = ""
    first_year: str = ""
    last_year: str = ""
    page: int = 0


def read_form(request: object) -> Form:
    """The form of a request from the page; what is missing or of another kind is empty."""
    sent = request if isinstance(request, Mapping) else {}

    def text(name: str, longest: int = _MAX_FIELD_CHARS) -> str:
        value = sent.get(name)
        return value.strip()[:longest] if isinstance(value, str) else ""

    page = sent.get("page")
    return Form(
        query=text("query", MAX_QUESTION_CHARS),
        author=text("author"),
        venue=text("venue"),
        category=text("category"),
        first_year=text("first_year"),
        last_year=text("last_year"),
        page=max(0, page) if type(page) is int else 0,
    )


def list_papers(assistant: Assistant, form: Form) -> Listing:
    """The page of papers that `form` asks for: the corpus in its order, or what matches a query, best first.

    Reads the papers of the page alone. Raises CitewiseError for years that are none.
    """
    corpus, filters = assistant.corpus, _filters(form)
    if form.query:
        # Without filters of the form, the query's own words may name some, as in a question.
        chosen = None if filters.is_empty else filters
        hits = assistant.search(form.query, k=MATCHES, filters=chosen)
        first = _start(form.page, len(hits))
        papers = tuple(hit.paper for hit in hits[first : first + PAPERS_ON_A_PAGE])
        note = assistant.scope(form.query, filters=chosen).note or ""
        return Listing(papers, first, len(hits), form.query, note)
    rows = range(len(corpus)) if filters.is_empty else np.flatnonzero(corpus.facets.allowed(filters))
    first = _start(form.page, len(rows))
    shown = rows[first : first + PAPERS_ON_A_PAGE]
    return Listing(tuple(corpus.paper(int(row)) for row in shown), first, len(rows))


def _start(page: int, total: int) -> int:
    """Where a page begins; past the end, where the last one does."""
    return min(page, max(0, total - 1) // PAPERS_ON_A_PAGE) * PAPERS_ON_A_PAGE


def _filters(form: Form) -> Filters:
    years = None
    if form.first_year or form.last_year:
        years = f"{form.first_year or f'{FIRST_YEAR:04}'}..{form.last_year or LAST_YEAR}"
    return make_filters(
        year=years,
        author=[form.author] if form.author else [],
        venue=[form.venue] if form.venue else [],
        category=[form.category] if form.category else [],
    )


def problem_of(error: CitewiseError) -> str:
    """What the reader is told of an error, in one paragraph."""
    return f"{error.problem} {error.fix}"
