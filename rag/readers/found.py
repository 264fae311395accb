"""What readers hand on: records as a format holds them, and how they become papers."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from rag.domain import Paper
from rag.readers.shapes import own_record
from rag.readers.source import EncodingErrors
from rag.records import BadRecord, Reject, Repair, paper_from_record

Format = Literal["jsonl", "json", "csv", "tsv", "parquet", "bibtex", "ris", "text", "markdown"]
"""The formats of a file, as `--format` names them."""


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How sources are read. `format` None: told by content.

    `mapping` says which field or column of the source is which field of a record (`{"title": "Paper Title"}`);
    `a.b` is the field b within a. `constants` are fields of records that do not give them. With `encoding_errors`
    "replace", bytes that are not UTF-8 become U+FFFD where otherwise their record is rejected.
    """

    format: Format | None = None
    mapping: Mapping[str, str] = field(default_factory=dict)
    constants: Mapping[str, str] = field(default_factory=dict)
    encoding_errors: EncodingErrors = "strict"


class Found(NamedTuple):
    """A record at `line` (of a table: its row) with its `fields`, or, where these are None, with its `problem`.

    `text` is how it begins: what it is called where it has neither id nor title.
    """

    line: int
    fields: Mapping[str, Any] | None
    problem: BadRecord | None = None
    text: str = ""


def papers_of(found: Iterable[Found], *, file: str, options: ReadOptions) -> Iterator[Paper | Reject | Repair]:
    """A Paper or a Reject for each record that was found; a Repair comes right before the Paper that it is about."""
    for record in found:
        fields = record.fields or {}
        try:
            if record.problem is not None:
                raise record.problem
            own = own_record(_mapped(fields, options.mapping))
            missing = {key: value for key, value in options.constants.items() if not own.get(key)}
            paper, repairs = paper_from_record({**own, **missing})
        except BadRecord as error:
            yield Reject(file, record.line, _name(fields, record.text), error.field, error.reason)
            continue
        for what in repairs:
            yield Repair(file, record.line, paper.paper_id, what)
        yield paper


def _mapped(fields: Mapping[str, Any], mapping: Mapping[str, str]) -> Mapping[str, Any]:
    """`fields` with those that `mapping` names under their new names."""
    if not mapping:
        return fields
    new = {own: value for own, source in mapping.items() if (value := _look_up(fields, source)) is not None}
    return {key: value for key, value in fields.items() if key not in mapping.values()} | new


def _look_up(fields: Mapping[str, Any], path: str) -> Any:
    if path in fields:
        return fields[path]
    value: Any = fields
    for part in path.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def _name(fields: Mapping[str, Any], text: str) -> str:
    """What a person would know the record by."""
    name = fields.get("id") or fields.get("title") or text
    return " ".join(str(name)[:200].split())[:80]
