"""Tells the format of a file by how it begins; its name decides only between formats that begin alike."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import PurePath

from rag.errors import InputError
from rag.readers.bibtex import read_bibtex
from rag.readers.delimited import DELIMITERS, header_cells, read_csv
from rag.readers.found import Format, Found, ReadOptions
from rag.readers.json_document import read_json
from rag.readers.jsonl import read_jsonl
from rag.readers.markdown import read_markdown
from rag.readers.parquet import read_parquet
from rag.readers.plain_text import read_plain_text
from rag.readers.ris import read_ris
from rag.readers.source import Source
from rag.readers.unpacking import packing_of

ZIP = (b"PK\x03\x04", b"PK\x05\x06")
"""How a zip archive begins, one that is empty too."""

Reader = Callable[[Source, ReadOptions], Iterator[Found]]

READERS: dict[Format, Reader] = {
    "jsonl": lambda source, options: read_jsonl(source),
    "json": lambda source, options: read_json(source),
    "csv": read_csv,
    "tsv": read_csv,
    "parquet": read_parquet,
    "bibtex": lambda source, options: read_bibtex(source),
    "ris": lambda source, options: read_ris(source),
    "text": lambda source, options: read_plain_text(source),
    "markdown": lambda source, options: read_markdown(source),
}
_SUFFIXES: dict[str, Format] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",  # one that begins as a document is known by that
    ".csv": "csv",
    ".tsv": "tsv",
    ".md": "markdown",
    ".markdown": "markdown",
    ".bib": "bibtex",
    ".ris": "ris",
    ".txt": "text",
    ".text": "text",
    "": "text",
}
_PACKED_SUFFIXES = frozenset({".gz", ".bz2", ".xz"})
_OTHER = re.compile(r"%PDF|PK\x03\x04|<[?!]|<html|\{\\rtf|PAR1|Obj\x01|ORC|ARROW1", re.IGNORECASE)
"""How PDF, zip and Office, XML and HTML, RTF and other columnar formats begin."""
_BIBTEX = re.compile(r"(?:\s*%[^\n]*\n|\s*\n)*\s*@\s*[A-Za-z]+\s*[{(]")
_BIBTEX_LATER = re.compile(r"^\s*@\s*[A-Za-z]+\s*\{\s*[^\s,{}]+\s*,\s*$", re.MULTILINE)
_HEADING = re.compile(r"#{1,6}[ \t]+\S")
_OPEN_LINE = ("{", "[", ",")


def tell_format(source: Source) -> Format:
    """The format of `source`. Raises InputError where it is none that is read."""
    head, start, suffix = source.head, source.head.lstrip(), _suffix(source.name)
    if source.start.startswith(b"PAR1"):
        return "parquet"
    if start.startswith("{") and not start.startswith("{\\rtf"):
        return _json_kind(start, suffix)
    if _OTHER.match(start) or "\0" in head or packing_of(source.start):
        raise _unknown(source.name)
    if re.match(r"\[\s*[\[{\]]", start):
        return "json"
    if start.startswith("TY  - "):
        return "ris"
    if _BIBTEX.match(start) or (suffix == ".bib" and _BIBTEX_LATER.search(start)):
        return "bibtex"
    if suffix in {".csv", ".tsv"} or (suffix in {"", ".txt"} and _is_header(start.partition("\n")[0])):
        return "csv"
    if _HEADING.match(start):
        return "markdown"
    if start and suffix not in _SUFFIXES:
        raise _unknown(source.name)
    return _SUFFIXES.get(suffix, "text")


def _json_kind(start: str, suffix: str) -> Format:
    """JSON lines, or a document: a record over several lines, or the page of an API around its records."""
    line, _, rest = start.partition("\n")
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        if not rest:
            return "jsonl" if suffix in {".jsonl", ".ndjson"} else "json"
        is_open = line.rstrip().endswith(_OPEN_LINE) and not rest.lstrip().startswith("{")
        return "json" if is_open else "jsonl"
    is_record = isinstance(value, dict) and ({"abstract", "title", "id"} & value.keys() or "content" in value)
    has_records = isinstance(value, dict) and any(
        isinstance(items, list) and items and isinstance(items[0], dict) for items in value.values()
    )
    return "json" if has_records and not is_record else "jsonl"


def _is_header(line: str) -> bool:
    """Whether a line is the header of a table: one of its cells is called abstract, and it has others."""
    return any(
        len(cells) > 1 and "abstract" in map(str.casefold, cells)
        for cells in (header_cells(line, delimiter) for delimiter in DELIMITERS)
    )


def _suffix(name: str) -> str:
    suffixes = [suffix.lower() for suffix in PurePath(name).suffixes[-2:]]
    if suffixes and suffixes[-1] in _PACKED_SUFFIXES:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def _unknown(name: str) -> InputError:
    return InputError(
        f"The format of {name} cannot be told.",
        fix="Give JSON lines, JSON, CSV, Parquet, BibTeX, RIS, Markdown or plain text, or name its format by --format.",
    )
