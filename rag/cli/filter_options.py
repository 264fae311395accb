"""The options that choose which papers are searched, shared by `ask` and `search`."""

from collections.abc import Sequence
from typing import Annotated

import typer

from rag.filters import Filters, make_filters

YearOption = Annotated[
    str | None, typer.Option("--year", help="Only papers of these years: 2024, 2024..2025, 2024.. or ..2024.")
]
AuthorOption = Annotated[
    list[str] | None, typer.Option("--author", help="Only papers by this author: a name, or a word of it. Repeatable.")
]
VenueOption = Annotated[list[str] | None, typer.Option("--venue", help="Only papers of this venue. Repeatable.")]
CategoryOption = Annotated[
    list[str] | None, typer.Option("--category", help="Only papers of this category: cs.LG, or all of cs. Repeatable.")
]
TitleOption = Annotated[
    list[str] | None, typer.Option("--title", help="Only papers with these words in the title. Repeatable: with all.")
]
IdOption = Annotated[list[str] | None, typer.Option("--id", help="Only the paper of this id or arXiv id. Repeatable.")]
NoFiltersOption = Annotated[
    bool, typer.Option("--no-filters", help="Take no author, venue or years from the words of the question.")
]


def filters_of(
    *,
    year: str | None,
    author: Sequence[str] | None,
    venue: Sequence[str] | None,
    category: Sequence[str] | None,
    title: Sequence[str] | None,
    paper_id: Sequence[str] | None,
    no_filters: bool,
) -> Filters | None:
    """The filters of these options; None where the question's own words may name some. Raises SettingsError."""
    filters = make_filters(
        year=year,
        author=author or (),
        venue=venue or (),
        category=category or (),
        title=title or (),
        ids=paper_id or (),
    )
    return None if filters.is_empty and not no_filters else filters
