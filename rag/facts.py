"""How many papers a corpus has by year, venue and category, with the names as they are first spelled."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from rag.domain import Paper
from rag.facets import Facets, Tally
from rag.folding import fold


class Count(NamedTuple):
    """A value and how many papers have it."""

    name: str
    papers: int


class Facts(NamedTuple):
    """Years ascending; venues and categories by their papers, most first. A paper may have several categories."""

    years: tuple[Count, ...]
    venues: tuple[Count, ...]
    categories: tuple[Count, ...]


def facts_of(facets: Facets, paper_at: Callable[[int], Paper]) -> Facts:
    """The facts of a corpus whose papers `paper_at` reads by row: one for each venue and category."""
    return Facts(
        tuple(Count(tally.text, tally.papers) for tally in facets.year_tallies()),
        tuple(_spelled(tally, [paper_at(tally.first_row).venue or ""]) for tally in facets.tallies("venues")),
        tuple(_spelled(tally, paper_at(tally.first_row).categories) for tally in facets.tallies("categories")),
    )


def _spelled(tally: Tally, names: Sequence[str]) -> Count:
    return Count(next((name for name in names if fold(name) == tally.text), tally.text), tally.papers)
