"""What papers can be filtered by, as compact columns of a whole corpus: the rows that pass, and which names it has."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from rag.domain import Paper
from rag.filters import Filters, fold, fold_name, has_words, in_category

Rows = NDArray[np.int32]
_UNKNOWN_YEAR = -1
_YEAR_IN_VENUE = re.compile(r"\b(?:19|20)\d\d\b")


class Facets:
    """The columns of `papers`, in their order. Rows count from 0; names are kept folded, each once, with its rows."""

    def __init__(self, papers: Iterable[Paper]) -> None:
        years: list[int] = []
        titles: list[str] = []
        authors, venues, categories, ids = _Column(), _Column(), _Column(), _Column()
        for row, paper in enumerate(papers):
            years.append(_UNKNOWN_YEAR if paper.year is None else paper.year)
            titles.append(fold(paper.title))
            authors.add(row, map(fold_name, paper.authors))
            venues.add(row, [fold(paper.venue)] if paper.venue else [])
            categories.add(row, map(fold, paper.categories))
            ids.add(row, filter(None, (paper.paper_id, paper.arxiv_id)))
        self._years, self._titles = np.array(years, dtype=np.int32), titles
        self._authors, self._venues = authors.rows(), venues.rows()
        self._categories, self._ids = categories.rows(), ids.rows()
        self._last_names = {name.rsplit(" ", 1)[-1] for name in self._authors}
        self._venue_names = {*self._venues, *(fold(_YEAR_IN_VENUE.sub("", venue)) for venue in self._venues)} - {""}

    @property
    def has_years(self) -> bool:
        """Whether any paper says its year."""
        return bool((self._years != _UNKNOWN_YEAR).any())

    def has_author(self, name: str) -> bool:
        """Whether the folded `name` is the whole name of an author."""
        return name in self._authors

    def has_last_name(self, word: str) -> bool:
        """Whether an author's name ends in the folded `word`."""
        return word in self._last_names

    def has_venue(self, venue: str) -> bool:
        """Whether the folded `venue` is one of the corpus, with or without its year."""
        return venue in self._venue_names

    def allowed(self, filters: Filters) -> NDArray[np.bool_]:
        """Which rows pass `filters` (shape (papers,)): those that `rag.filters.matches` says."""
        mask = np.ones(len(self._years), dtype=np.bool_)
        if filters.years:
            known = self._years != _UNKNOWN_YEAR
            mask &= known & (self._years >= filters.years[0]) & (self._years <= filters.years[1])
        for wanted, column, passes in (
            (list(map(fold_name, filters.authors)), self._authors, has_words),
            (list(map(fold, filters.venues)), self._venues, has_words),
            (list(map(fold, filters.categories)), self._categories, in_category),
            (filters.ids, self._ids, str.__eq__),
        ):
            if wanted:
                mask &= self._any(column, wanted, passes)
        for words in map(fold, filters.title_words):
            mask &= np.fromiter((has_words(title, words) for title in self._titles), np.bool_, len(mask))
        return mask

    def _any(
        self, column: Mapping[str, Rows], wanted: Sequence[str], passes: Callable[[str, str], bool]
    ) -> NDArray[np.bool_]:
        mask = np.zeros(len(self._years), dtype=np.bool_)
        for value, rows in column.items():
            if any(passes(value, want) for want in wanted):
                mask[rows] = True
        return mask


class _Column:
    """Collects the rows of each value."""

    def __init__(self) -> None:
        self._rows: dict[str, list[int]] = {}

    def add(self, row: int, values: Iterable[str]) -> None:
        for value in values:
            self._rows.setdefault(value, []).append(row)

    def rows(self) -> dict[str, Rows]:
        return {value: np.array(rows, dtype=np.int32) for value, rows in self._rows.items()}
