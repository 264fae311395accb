"""The filters of the page: from what its fields hold to filters, and to the chips that show and remove them. Pure."""

from collections.abc import Sequence
from typing import NamedTuple

from rag.filters import Filters, make_filters
from ui.render import shortened
from ui.rich_text import escape_html

_MAX_FIELD_CHARS = 500


class Fields(NamedTuple):
    """What stands in the fields; several values of one are separated by semicolons."""

    years: str = ""
    venue: str = ""
    author: str = ""
    category: str = ""

    @classmethod
    def read(cls, values: Sequence[object]) -> "Fields":
        """The fields as a client sends them."""
        return cls(*(str(value or "")[:_MAX_FIELD_CHARS].strip() for value in values))


def filters_of(fields: Fields, scope_ids: Sequence[str]) -> Filters | None:
    """The filters that fields and scope come to, None where they ask nothing. Raises SettingsError for bad years."""
    if not any(fields) and not scope_ids:
        return None
    return make_filters(
        year=fields.years or None,
        venue=_values(fields.venue),
        author=_values(fields.author),
        category=_values(fields.category),
        ids=scope_ids,
    )


def _values(field: str) -> list[str]:
    return [value.strip() for value in field.split(";") if value.strip()]


def chips_html(fields: Fields, scope_titles: Sequence[str], *, read: str = "", problem: str = "") -> str:
    """A button for each filter that is set, which removes it; `read` is what the last question's words set."""
    shown = [_chip(name, f"{name.capitalize()}: {value}") for name, value in fields._asdict().items() if value]
    if scope_titles:
        about = f"“{shortened(scope_titles[0], longest=60)}”"
        more = f" and {len(scope_titles) - 1} more" if len(scope_titles) > 1 else ""
        shown.insert(0, _chip("scope", f"Only {about}{more}"))
    if read:
        shown.append(_chip("read", f"Papers {shortened(read, longest=80)}, as you wrote", does="Search all papers"))
    wrong = f'<span class="problem" role="alert">{escape_html(problem)}</span>' if problem else ""
    return f'<div class="filters-set">{"".join(shown)}{wrong}</div>' if shown or wrong else ""


def _chip(name: str, label: str, *, does: str = "Remove this filter") -> str:
    text = escape_html(label)
    return (
        f'<button type="button" data-drop="{name}" aria-label="{text}. {does}">{text}'
        '<span aria-hidden="true">✕</span></button>'
    )
