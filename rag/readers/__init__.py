"""Reads files of papers: one module a format, told apart by content."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from rag.domain import Paper
from rag.errors import InputError
from rag.readers.jsonl import read_jsonl
from rag.readers.plain_text import read_plain_text
from rag.readers.source import open_source
from rag.records import Reject, Repair

__all__ = ["Reject", "Repair", "read_papers"]

_JSONL_SUFFIXES = frozenset({".jsonl", ".ndjson", ".json"})
_TEXT_SUFFIXES = frozenset({".txt", ".text", ""})
_OTHER_FORMATS = re.compile(r"%PDF|PK\x03\x04|<[?!]|<html|@\w+\s*[{(]|TY  - |\[\s*[\[{]", re.IGNORECASE)
"""How PDF, zip and Office, XML and HTML, BibTeX, RIS and JSON arrays begin."""


def read_papers(path: Path, *, on_repair: Callable[[Repair], object] | None = None) -> Iterator[Paper | Reject]:
    """The papers of a JSON lines or plain text file, plain or gzip, in order, with a Reject for each bad record.

    Reads line by line, so that memory stays bounded. `on_repair` is told of each change to a record's text.
    Raises InputError if the file is not readable, is no regular file, or is in another format.
    """
    with open_source(path) as source:
        read = read_jsonl if _is_jsonl(source.head, path) else read_plain_text
        for item in read(source.lines(), file=str(path)):
            if not isinstance(item, Repair):
                yield item
            elif on_repair is not None:
                on_repair(item)


def _is_jsonl(head: str, path: Path) -> bool:
    """Whether the file is JSON lines rather than plain text; raises InputError if it is neither."""
    start = head.lstrip()
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() != ".gz"]
    suffix = suffixes[-1] if suffixes else ""
    known_other = _OTHER_FORMATS.match(start) is not None or "\0" in head
    if start.startswith("{") or (suffix in _JSONL_SUFFIXES and not known_other):
        return True
    if known_other or (start and suffix not in _TEXT_SUFFIXES):
        raise InputError(
            f"The format of {path} cannot be told.",
            fix="Give JSON lines (an object with id, title and abstract a line), or a .txt with blank lines between.",
        )
    return False
