"""What papers can be filtered by, as compact columns of a whole corpus: the rows that pass, and which names it has.

The columns are written when a corpus is built, so that the first filtered question reads no records. All texts but ids
are folded (see `rag.folding`).
"""

import json
import re
from array import array
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rag.domain import Paper
from rag.filters import Filters
from rag.folding import fold, fold_name

Rows = NDArray[np.int32]

_YEARS = "years.npy"
_COLUMNS = ("authors", "venues", "categories", "titles", "ids")
_UNKNOWN_YEAR = -1
_YEAR_IN_VENUE = re.compile(r"\b(?:19|20)\d\d\b")
_LINE_FEED = 10


class Tally(NamedTuple):
    """A folded text, how many papers have it, and the row of the first."""

    text: str
    papers: int
    first_row: int


class Facets:
    """The columns of a corpus's papers, in their order. Rows count from 0. Safe to use from several threads."""

    def __init__(self, years: Rows, columns: "Mapping[str, Column]") -> None:
        self._years, self._columns = years, columns

    @classmethod
    def build(cls, papers: Iterable[Paper]) -> "Facets":
        """The columns of `papers`."""
        years = array("i")
        collectors = {name: _Collector() for name in _COLUMNS}
        for row, paper in enumerate(papers):
            years.append(_UNKNOWN_YEAR if paper.year is None else paper.year)
            for name, values in _values(paper).items():
                for value in values:
                    collectors[name].add(value, row)
        columns = {name: collector.column() for name, collector in collectors.items()}
        return cls(np.array(years, dtype=np.int32), columns)

    def save(self, folder: Path) -> None:
        """Write the columns into the new `folder`."""
        folder.mkdir()
        np.save(folder / _YEARS, self._years)
        for name, column in self._columns.items():
            column.save(folder, name)

    @classmethod
    def load(cls, folder: Path) -> "Facets":
        """Open what `save` wrote."""
        years = np.load(folder / _YEARS, allow_pickle=False)
        return cls(years, {name: Column.load(folder, name) for name in _COLUMNS})

    @cached_property
    def has_years(self) -> bool:
        """Whether any paper says its year."""
        return bool((self._years != _UNKNOWN_YEAR).any())

    def year_tallies(self) -> list[Tally]:
        """How many papers each year has, ascending; those that do not say theirs are left out."""
        years, rows, papers = np.unique(self._years, return_index=True, return_counts=True)
        found = zip(years.tolist(), rows.tolist(), papers.tolist(), strict=True)
        return [Tally(str(year), count, row) for year, row, count in found if year != _UNKNOWN_YEAR]

    def tallies(self, column: Literal["venues", "categories"]) -> list[Tally]:
        """How many papers each venue or category has, most first; a paper may have several categories."""
        return sorted(self._columns[column].tallies(), key=lambda tally: (-tally.papers, tally.text))

    def has_author(self, name: str) -> bool:
        """Whether the folded `name` is the whole name of an author."""
        return name in self._columns["authors"]

    def has_last_name(self, word: str) -> bool:
        """Whether an author's name ends in the folded `word`."""
        return self._columns["authors"].has_ending(word)

    def has_venue(self, venue: str) -> bool:
        """Whether the folded `venue` is one of the corpus, with or without its year."""
        return venue in self._venue_names

    @cached_property
    def _venue_names(self) -> frozenset[str]:
        venues = set(self._columns["venues"].values())
        return frozenset((venues | {fold(_YEAR_IN_VENUE.sub("", venue)) for venue in venues}) - {""})

    def allowed(self, filters: Filters) -> NDArray[np.bool_]:
        """Which rows pass `filters` (shape (papers,)).

        A paper that does not say its year, venue, ... fails where these are asked for. Of a column's values one must
        do, of the words of the title all.
        """
        mask = np.ones(len(self._years), dtype=np.bool_)
        if filters.years:
            known = self._years != _UNKNOWN_YEAR
            mask &= known & (self._years >= filters.years[0]) & (self._years <= filters.years[1])
        authors, venues, categories, titles, ids = (self._columns[name] for name in _COLUMNS)
        wanted = [
            [authors.rows_with(fold_name(name)) for name in filters.authors],
            [venues.rows_with(fold(venue)) for venue in filters.venues],
            [categories.rows_with(fold(category), first=True) for category in filters.categories],
            [ids.rows_of(_id_text(paper_id)) for paper_id in filters.ids],
            *([titles.rows_with(fold(words))] for words in filters.title_words),
        ]
        for chosen in filter(None, wanted):
            of_column = np.zeros(len(mask), dtype=np.bool_)
            for rows in chosen:
                of_column[rows] = True
            mask &= of_column
        return mask


def _values(paper: Paper) -> dict[str, Iterable[str]]:
    ids = (paper.paper_id, *([paper.arxiv_id] if paper.arxiv_id else []))
    return {
        "authors": map(fold_name, paper.authors),
        "venues": (fold(paper.venue or ""),),
        "categories": map(fold, paper.categories),
        "titles": (fold(paper.title),),
        "ids": map(_id_text, ids),
    }


def _id_text(paper_id: str) -> str:
    """An id as it stands in its column: one line of ASCII, whatever characters it has."""
    return json.dumps(paper_id)


class Column:
    """Texts of one line, each once, with the rows that have them.

    All texts stand in one, `"\\n text \\n text \\n"` in UTF-8, so that words are found in 200,000 of them in
    milliseconds. `rows` has the rows of the first, then of the second, ...; `ends` (int64) where those of each end.
    """

    def __init__(self, text: bytes, *, rows: Rows, ends: NDArray[np.int64]) -> None:
        self._text, self._rows, self._ends = text, rows, ends

    def save(self, folder: Path, name: str) -> None:
        """Write three files that begin with `name` into `folder`."""
        (folder / f"{name}.txt").write_bytes(self._text)
        np.save(folder / f"{name}_rows.npy", self._rows)
        np.save(folder / f"{name}_ends.npy", self._ends)

    @classmethod
    def load(cls, folder: Path, name: str) -> "Column":
        """Open what `save` wrote; the rows stay on disk and are mapped into memory."""
        rows = np.load(folder / f"{name}_rows.npy", mmap_mode="r", allow_pickle=False)
        ends = np.load(folder / f"{name}_ends.npy", mmap_mode="r", allow_pickle=False)
        return cls((folder / f"{name}.txt").read_bytes(), rows=rows, ends=ends)

    def __contains__(self, text: str) -> bool:
        return bool(text) and f"\n {text} \n".encode() in self._text

    def has_ending(self, words: str) -> bool:
        """Whether a text ends in `words`, whole."""
        return bool(words) and f" {words} \n".encode() in self._text

    def values(self) -> list[str]:
        """The texts, in order."""
        return [line[1:-1] for line in self._text.decode().split("\n")[1:-1]]

    def tallies(self) -> Iterator[Tally]:
        """Each text but the empty one, with the number of its rows."""
        first = 0
        for text, end in zip(self.values(), self._ends.tolist(), strict=True):
            rows, first = np.unique(self._rows[first:end]), end
            if text:
                yield Tally(text, len(rows), int(rows[0]))

    def rows_of(self, text: str) -> Rows:
        """The rows that have `text`."""
        return self._rows_at(f"\n {text} \n")

    def rows_with(self, words: str, *, first: bool = False) -> Rows:
        """Rows of the texts that hold `words` (whole, in their order), or, with `first`, that begin with them.

        No text holds no words.
        """
        return self._rows_at(("\n" if first else "") + f" {words} ") if words else self._rows[:0]

    def _rows_at(self, wanted: str) -> Rows:
        places = np.array([found.start() for found in re.finditer(re.escape(wanted.encode()), self._text)], dtype=int)
        chosen = np.zeros(len(self._ends), dtype=np.bool_)
        chosen[np.searchsorted(self._starts, places, side="right") - 1] = True
        rows: Rows = self._rows[np.repeat(chosen, np.diff(self._ends, prepend=0))]
        return rows

    @cached_property
    def _starts(self) -> NDArray[np.int64]:
        """Where each text begins."""
        return np.flatnonzero(np.frombuffer(self._text, dtype=np.uint8) == _LINE_FEED)[:-1]


class _Collector:
    """Gathers the texts of a column, row by row, as numbers."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._of_rows, self._rows = array("i"), array("i")

    def add(self, text: str, row: int) -> None:
        self._of_rows.append(self._numbers.setdefault(text, len(self._numbers)))
        self._rows.append(row)

    def column(self) -> Column:
        numbers = np.array(self._of_rows, dtype=np.int32)
        counts = np.bincount(numbers, minlength=len(self._numbers))
        return Column(
            ("".join(f"\n {text} " for text in self._numbers) + "\n").encode(),
            rows=np.array(self._rows, dtype=np.int32)[np.argsort(numbers, kind="stable")],
            ends=np.cumsum(counts, dtype=np.int64),
        )
