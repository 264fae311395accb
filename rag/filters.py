"""Filters: which papers of a corpus are searched, by year, venue, author, category, words of the title, and id."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields

from rag.errors import SettingsError
from rag.folding import fold

FIRST_YEAR, LAST_YEAR = 1, 9999
"""The ends of a range of years that is open."""
_RANGE = re.compile(r"(\d{4})?\s*(\.\.|[-–])\s*(\d{4})?|(\d{4})")


@dataclass(frozen=True, slots=True)
class Filters:
    """What a paper must be to be searched: all of these, and of each the one or the other. Empty ones ask nothing.

    `years` are the first and the last. `authors` are whole names or words of names, `venues` words of venues in their
    order, `categories` as cs.LG or cs for all of cs. All `title_words` must be in the title. `ids` are paper or arXiv
    ids, exactly. But for ids, case and accents do not count.
    """

    years: tuple[int, int] | None = None
    venues: tuple[str, ...] = ()
    authors: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    title_words: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether every paper passes."""
        return not any(getattr(self, field.name) for field in fields(self))


def parse_years(text: str) -> tuple[int, int]:
    """The first and last year of "2024", "2024..2025", "2024.." or "..2024"; "-" is as good as "..".

    Raises SettingsError for anything else, and where the first comes after the last.
    """
    found = _RANGE.fullmatch(text.strip())
    if found and found[4]:
        return int(found[4]), int(found[4])
    if not found or not (found[1] or found[3]):
        raise SettingsError(
            f"“{text}” is no year and no range of years.", fix="Write 2024, 2024..2025, 2024.. or ..2024."
        )
    first, last = int(found[1] or FIRST_YEAR), int(found[3] or LAST_YEAR)
    if first > last:
        raise SettingsError(f"The years “{text}” end before they begin.", fix=f"Write {last}..{first}.")
    return first, last


def make_filters(
    *,
    year: str | None = None,
    venue: Sequence[str] = (),
    author: Sequence[str] = (),
    category: Sequence[str] = (),
    title: Sequence[str] = (),
    ids: Sequence[str] = (),
) -> Filters:
    """Filters as a user writes them. Raises SettingsError for years that are none and for values without a word."""
    for name, values in {"venue": venue, "author": author, "category": category, "title": title, "id": ids}.items():
        for value in values:
            if not (value.strip() if name == "id" else fold(value)):
                raise SettingsError(
                    f"The filter {name} has a value without a word.", fix="Give it one, or leave it out."
                )
    return Filters(
        years=None if year is None else parse_years(year),
        venues=tuple(venue),
        authors=tuple(author),
        categories=tuple(category),
        title_words=tuple(title),
        ids=tuple(ids),
    )


def describe(filters: Filters) -> str:
    """The filters in words, to stand behind "papers": "by Yisen Wang in ICML from 2024 to 2025"."""
    parts = []
    if filters.authors:
        parts.append(f"by {_either(filters.authors)}")
    if filters.venues:
        parts.append(f"in {_either(filters.venues)}")
    if filters.categories:
        parts.append(f"of the category {_either(filters.categories)}")
    if filters.years:
        parts.append(_describe_years(*filters.years))
    if filters.title_words:
        parts.append("with " + " and ".join(f"“{words}”" for words in filters.title_words) + " in the title")
    if filters.ids:
        parts.append(f"with the id {_either(filters.ids)}")
    return " ".join(parts)


def _describe_years(first: int, last: int) -> str:
    if first == last:
        return f"from {first}"
    if first == FIRST_YEAR:
        return f"up to {last}"
    return f"since {first}" if last == LAST_YEAR else f"from {first} to {last}"


def _either(values: Iterable[str]) -> str:
    return " or ".join(values)
