"""Reads JSON lines: one paper a line, with the fields that `rag.records.paper_from_record` knows."""

from collections.abc import Iterable, Iterator
from typing import Any

from rag.domain import Paper
from rag.readers.source import Line
from rag.records import BadRecord, Reject, Repair, paper_from_record, parse_object


def read_jsonl(lines: Iterable[Line], *, file: str) -> Iterator[Paper | Reject | Repair]:
    """A Paper or a Reject for each line that is not blank; a Repair comes right before the Paper that it is about."""
    for line in lines:
        if line.text is None:
            yield Reject(file, line.number, "", None, line.problem or "")
        elif line.text.strip():
            yield from _read_line(line.text, file=file, number=line.number)


def _read_line(text: str, *, file: str, number: int) -> Iterator[Paper | Reject | Repair]:
    record: dict[str, Any] = {}
    try:
        record = parse_object(text)
        paper, repairs = paper_from_record(record)
    except BadRecord as error:
        yield Reject(file, number, _name(record, text), error.field, error.reason)
        return
    for what in repairs:
        yield Repair(file, number, paper.paper_id, what)
    yield paper


def _name(record: dict[str, Any], text: str) -> str:
    """What a person would know the record by."""
    name = record.get("id") or record.get("title") or text
    return " ".join(str(name)[:200].split())[:80]
