"""Filters as a JSON object: what a line of `citewise ask --json -` and a request to the API may hold."""

from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from rag.filters import Filters, make_filters

MAX_VALUES = 100
"""Most values of one filter: each is looked for in the whole corpus."""


def _listed(value: object) -> object:
    return [value] if isinstance(value, str) else value


Values = Annotated[list[str], BeforeValidator(_listed), Field(max_length=MAX_VALUES)]


class FiltersJson(BaseModel):
    """The filters, named as the options of `citewise ask`; each may be one value or a list."""

    model_config = ConfigDict(extra="forbid")

    year: str | int | None = None
    author: Values = []
    venue: Values = []
    category: Values = []
    title: Values = []
    id: Values = []

    def read(self) -> Filters:
        """The same as Filters. Raises SettingsError for values that cannot be used."""
        return make_filters(
            year=None if self.year is None else str(self.year),
            author=self.author,
            venue=self.venue,
            category=self.category,
            title=self.title,
            ids=self.id,
        )
