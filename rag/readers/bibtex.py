"""Reads BibTeX by bibtexparser, a batch of entries at a time, so that memory stays bounded and line numbers hold."""

import logging
import re
from collections.abc import Iterator, Mapping
from typing import Any

from rag.readers.bibtex_text import plain
from rag.readers.found import Found
from rag.readers.paragraphs import Group, group_lines
from rag.readers.source import Source
from rag.records import BadRecord

_BLOCK = re.compile(r"\s*@\s*([A-Za-z]+)\s*[{(]")
_NO_ENTRY = frozenset({"comment", "preamble"})
_MAX_MACROS = 1 << 18
"""Characters of @string definitions that are kept for the entries behind them."""
_MACRO = re.compile(r"[=#]\s*[A-Za-z]")
_PART = re.compile(r'"[^"]*"|\{[^{}]*\}|[A-Za-z][\w:.+-]*|\d+')
_CONCATENATION = re.compile(rf"\s*(?:{_PART.pattern})(?:\s*#\s*(?:{_PART.pattern}))+\s*")
_VENUES = ("booktitle", "journal", "journaltitle")

# It writes a warning for each broken entry, which is reported as a reject here.
logging.getLogger("bibtexparser").addHandler(logging.NullHandler())
logging.getLogger("bibtexparser").propagate = False


def read_bibtex(source: Source) -> Iterator[Found]:
    """The record of each entry that begins on a line of its own; its key is its id. LaTeX accents are made letters.

    Text between entries is comment, as BibTeX has it.
    """
    macros: list[str] = []
    for group in group_lines(source.lines(), starts=lambda text: _BLOCK.match(text) is not None):
        block = _BLOCK.match(group.lines[0]) if group.lines else None
        if block is None or block[1].lower() in _NO_ENTRY:
            if group.problem is not None:
                yield Found(group.line, None, BadRecord(None, group.problem), group.text[:200])
        elif group.problem is not None:
            yield Found(group.line, None, BadRecord(None, group.problem), group.text[:200])
        elif block[1].lower() == "string":
            if sum(map(len, macros)) + len(group.text) <= _MAX_MACROS:
                macros.append(group.text)
        else:
            yield from _entries(group, macros)


def _entries(group: Group, macros: list[str]) -> Iterator[Found]:
    from bibtexparser.entrypoint import parse_string

    library = parse_string("\n".join([*(macros if _MACRO.search(group.text) else []), group.text]))
    values = {name.lower(): str(string.value) for name, string in library.strings_dict.items()}
    for block in library.failed_blocks:
        reason = " ".join(str(block.error).split())[:200] or "it has no end"
        yield Found(group.line, None, BadRecord(None, f"broken entry: {reason}"), group.text[:200])
    for entry in library.entries:
        fields = {key.lower(): plain(_joined(str(field.value), values)) for key, field in entry.fields_dict.items()}
        yield Found(group.line, _record(entry.key, fields), text=group.text[:200])
    if not library.failed_blocks and not library.entries:
        yield Found(group.line, None, BadRecord(None, "broken entry"), group.text[:200])


def _joined(value: str, macros: Mapping[str, str]) -> str:
    """`value`, put together where it is `macro # " and text"`, which the parser leaves as it is."""
    if not _CONCATENATION.fullmatch(value):
        return value
    parts = (part.group() for part in _PART.finditer(value))
    return "".join(part[1:-1] if part[0] in '"{' else macros.get(part.lower(), part) for part in parts)


def _record(key: str, fields: dict[str, Any]) -> dict[str, Any]:
    used = {"author", *_VENUES, "id"}
    other = {name: value for name, value in fields.items() if name not in used and value not in (None, "")}
    is_arxiv = str(fields.get("archiveprefix") or fields.get("eprinttype") or "").lower() == "arxiv"
    venues = [fields[name] for name in _VENUES if fields.get(name)]
    return other | {
        "id": key,
        "authors": [name for name in map(_name, _authors(str(fields.get("author") or ""))) if name],
        "venue": venues[0] if venues else None,
        "arxiv_id": fields.get("eprint") if is_arxiv else None,
    }


def _authors(text: str) -> list[str]:
    return re.split(r"\s+and\s+", text.strip())


def _name(author: str) -> str:
    """ "Last, First" and "Last, Jr, First" as a name is said."""
    parts = [part.strip() for part in author.split(",")]
    if len(parts) == 2:
        return " ".join(part for part in (parts[1], parts[0]) if part)
    if len(parts) == 3:
        return " ".join(part for part in (parts[2], parts[0], parts[1]) if part)
    return author.strip()
