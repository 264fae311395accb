"""Reads RIS references, each from its tag TY to its tag ER, by rispy."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from rag.readers.found import Found
from rag.readers.paragraphs import group_lines
from rag.readers.source import Source
from rag.records import BadRecord

_START = re.compile(r"TY {1,2}- ")
_END = re.compile(r"ER {1,2}-")
_TITLES = ("title", "primary_title", "short_title")
_VENUES = ("secondary_title", "journal_name", "alternate_title3", "tertiary_title")
_YEAR = re.compile(r"(\d{4})(?:/|\Z)")
"""Dates are YYYY/MM/DD/other, all but the year optional."""


def read_ris(source: Source) -> Iterator[Found]:
    """The record of each reference; tags that have no field of their own keep rispy's name for them."""
    import rispy

    for group in group_lines(source.lines(), starts=lambda text: _START.match(text) is not None):
        if not any(line.strip() for line in group.lines) and group.problem is None:
            continue
        problem = group.problem or _problem(group.lines)
        if problem is None:
            # What rispy cannot place it would print a warning of, or drop: a line that is no tag belongs to the last.
            text = "\n".join([*(line for line in group.lines if not _END.match(line)), "ER  - "]) + "\n"
            try:
                references = rispy.loads(text)
            except (rispy.parser.ParseError, OSError, ValueError, KeyError, IndexError) as error:
                references, problem = [], f"not RIS: {error}"
        if problem is not None or len(references) != 1:
            yield Found(group.line, None, BadRecord(None, problem or "not one reference"), group.text[:200])
        else:
            yield Found(group.line, _record(references[0]), text=group.text[:200])


def _problem(lines: list[str]) -> str | None:
    if not _START.match(lines[0]):
        return "outside of a reference, which begins with TY"
    if not any(_END.match(line) for line in lines):
        return "the reference has no end (ER)"
    return None


def _record(reference: Mapping[str, Any]) -> dict[str, Any]:
    used = {*_TITLES[:2], "notes_abstract", "first_authors", "urls", "year", "publication_year"}
    other = {key: value for key, value in reference.items() if key not in used and key != "id"}
    year = _YEAR.match(str(reference.get("year") or reference.get("publication_year") or ""))
    return other | {
        "id": reference.get("id"),
        "title": _first(reference, _TITLES),
        "authors": reference.get("authors") or reference.get("first_authors"),
        "abstract": reference.get("abstract") or reference.get("notes_abstract"),
        "year": int(year[1]) if year else None,
        "venue": _first(reference, _VENUES),
        "url": next(iter(reference.get("urls") or []), None),
    }


def _first(reference: Mapping[str, Any], keys: tuple[str, ...]) -> Any:
    return next((reference[key] for key in keys if reference.get(key)), None)
