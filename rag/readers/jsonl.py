"""Reads JSON lines: one record a line."""

from collections.abc import Iterator

from rag.readers.found import Found
from rag.readers.source import Source
from rag.records import BadRecord, parse_object


def read_jsonl(source: Source) -> Iterator[Found]:
    """The object of each line that is not blank."""
    for line in source.lines():
        if line.text is None:
            yield Found(line.number, None, BadRecord(None, line.problem or ""))
        elif line.text.strip():
            yield read_object(line.number, line.text)


def read_object(number: int, text: str) -> Found:
    """The JSON object in `text`."""
    try:
        return Found(number, parse_object(text), text=text[:200])
    except BadRecord as error:
        return Found(number, None, error, text[:200])
