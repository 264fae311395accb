"""Papers as JSON records: what a record must hold, how it is cleaned, and how a Paper is written down."""

import hashlib
import json
import math
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn

from rag.cleaning import without_invisible
from rag.domain import Paper

MAX_ABSTRACT_CHARS = 200_000
MAX_ID_CHARS = 256
MAX_DEPTH = 32
KNOWN_FIELDS = ("id", "title", "authors", "abstract", "url", "year", "venue", "arxiv_id", "categories")
_LINE_BREAK = re.compile("\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
"""Other ends of lines than the line feed: dropped like other control characters, they would join words."""
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_WORD = re.compile(r"\w")
_NOT_AN_ABSTRACT = frozenset({"none", "null", "nan", "n/a", "na", "tbd", "tba", "withdrawn", "no abstract available"})


@dataclass(frozen=True, slots=True)
class Reject:
    """A record that was not taken: `record` is its id, title or first words, `field` None where the whole is bad."""

    file: str
    line: int
    record: str
    field: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class Repair:
    """A record that was taken after a change to its text: `what` names the change."""

    file: str
    line: int
    record: str
    what: str


class BadRecord(ValueError):
    """A record cannot become a Paper: `field` is what is wrong with it, None for the record as a whole."""

    def __init__(self, field: str | None, reason: str) -> None:
        super().__init__(reason)
        self.field, self.reason = field, reason


class Cleaned(NamedTuple):
    """A paper and the names of the repairs that its text needed."""

    paper: Paper
    repairs: tuple[str, ...]


def parse_object(text: str) -> dict[str, Any]:
    """The JSON object that `text` holds.

    Raises BadRecord for all that `json` lets pass or fails on in its own way: duplicate keys, NaN and infinities,
    numbers of thousands of digits, nesting that exhausts the stack.
    """
    try:
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant, parse_float=_finite)
    except BadRecord:
        raise
    except json.JSONDecodeError as error:
        raise BadRecord(None, f"broken JSON at column {error.colno}: {error.msg}") from error
    except RecursionError as error:
        raise BadRecord(None, "JSON nested too deeply") from error
    except ValueError as error:
        raise BadRecord(None, "a number has too many digits") from error
    if not isinstance(value, dict):
        raise BadRecord(None, "not a JSON object")
    return value


def paper_from_record(record: Mapping[str, Any]) -> Cleaned:
    """The Paper of a record with the fields `id, title, authors, year, venue, abstract, url, arxiv_id, categories`.

    Only `abstract` is required; other fields are kept in `metadata`. Text stays as it is but for what `clean_text`
    takes out, so that a quote stands in it byte for byte. Raises BadRecord that names the field.
    """
    repairs: set[str] = set()
    fields = {clean_text(key, repairs): _clean(value, key, repairs) for key, value in record.items()}
    if len(fields) < len(record):
        raise BadRecord(None, "two fields have one name, but for characters that cannot be stored")
    title, abstract = _text(fields, "title") or "", _abstract(fields)
    paper = Paper(
        paper_id=_paper_id(fields) or content_id(title, abstract),
        title=title,
        authors=_texts(fields, "authors"),
        abstract=abstract,
        url=_text(fields, "url"),
        year=_year(fields.get("year")),
        venue=_text(fields, "venue"),
        arxiv_id=_text(fields, "arxiv_id"),
        categories=_texts(fields, "categories"),
        metadata={key: value for key, value in fields.items() if key not in KNOWN_FIELDS},
    )
    if len(paper.paper_id) > MAX_ID_CHARS:
        raise BadRecord("id", f"longer than {MAX_ID_CHARS} characters")
    return Cleaned(paper, tuple(sorted(repairs)))


def record_of(paper: Paper) -> dict[str, object]:
    """The JSON record of `paper`, from which `paper_from_record` makes the same paper again."""
    known: dict[str, object] = {
        "id": paper.paper_id,
        "title": paper.title,
        "authors": list(paper.authors),
        "abstract": paper.abstract,
        "url": paper.url,
        "year": paper.year,
        "venue": paper.venue,
        "arxiv_id": paper.arxiv_id,
        "categories": list(paper.categories),
    }
    other = {key: value for key, value in paper.metadata.items() if key not in known}
    return other | {key: value for key, value in known.items() if value not in (None, "", [])}


def to_line(paper: Paper) -> bytes:
    """`paper` as one line of JSON, the same bytes for the same content whatever the order of its fields."""
    return json.dumps(record_of(paper), ensure_ascii=False, sort_keys=True, allow_nan=False).encode() + b"\n"


def from_line(line: bytes) -> Paper:
    """The paper of a line that `to_line` wrote; unlike `paper_from_record` it trusts what it reads."""
    return from_record(json.loads(line))


def from_record(record: Mapping[str, Any]) -> Paper:
    """The paper of a record that `record_of` made; it is trusted too."""
    record = dict(record)
    return Paper(
        paper_id=record.pop("id"),
        title=record.pop("title", ""),
        authors=tuple(record.pop("authors", ())),
        abstract=record.pop("abstract"),
        url=record.pop("url", None),
        year=record.pop("year", None),
        venue=record.pop("venue", None),
        arxiv_id=record.pop("arxiv_id", None),
        categories=tuple(record.pop("categories", ())),
        metadata=record,
    )


def normal_form(text: str) -> str:
    """`text` in NFKC, case-folded, white space collapsed: equal for texts that differ only in how they are typed."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def content_id(title: str, abstract: str) -> str:
    """The id of a paper whose source gives none: 20 hex digits of its normalised title and abstract."""
    content = f"{normal_form(title)}\n{normal_form(abstract)}"
    return hashlib.blake2b(content.encode("utf-8", "replace"), digest_size=10).hexdigest()


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        keys = [key for key, _ in pairs]
        raise BadRecord(next(key for key in keys if keys.count(key) > 1), "the field is given twice")
    return fields


def _no_constant(name: str) -> NoReturn:
    raise BadRecord(None, f"{name} is not a JSON number")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise BadRecord(None, "a number is too large")
    return number


def _clean(value: Any, field: str, repairs: set[str], depth: int = 0) -> Any:
    """`value` with every text in it fit for storing; names of what was changed are added to `repairs`."""
    if depth > MAX_DEPTH:
        raise BadRecord(field, f"nested more than {MAX_DEPTH} deep")
    if isinstance(value, str):
        return clean_text(value, repairs)
    if isinstance(value, list | tuple):
        return [_clean(item, field, repairs, depth + 1) for item in value]
    if isinstance(value, Mapping):
        return {clean_text(str(k), repairs): _clean(v, field, repairs, depth + 1) for k, v in value.items()}
    if value is None or isinstance(value, bool | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    raise BadRecord(field, f"{type(value).__name__} cannot be stored")


def clean_text(text: str, repairs: set[str]) -> str:
    """`text` as it can be stored and shown; the names of what was changed are added to `repairs`.

    Lines end in line feeds; control, zero-width, direction, tag and variation characters are removed; lone surrogates
    become U+FFFD.
    """
    if _LINE_BREAK.search(text):
        repairs.add("line breaks made line feeds")
        text = _LINE_BREAK.sub("\n", text)
    if _CONTROL.search(text):
        repairs.add("control characters removed")
        text = _CONTROL.sub("", text)
    if _SURROGATE.search(text):
        repairs.add("lone surrogates replaced by U+FFFD")
        text = _SURROGATE.sub("\ufffd", text)
    shown = without_invisible(text)
    if shown != text:
        repairs.add("invisible characters removed")
    return shown


def _text(fields: Mapping[str, Any], field: str) -> str | None:
    value = fields.get(field)
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    if not isinstance(value, str):
        raise BadRecord(field, f"must be text, not {_json_type(value)}")
    return value


def _abstract(fields: Mapping[str, Any]) -> str:
    abstract = _text(fields, "abstract")
    if abstract is None or not _WORD.search(abstract) or normal_form(abstract).strip(".") in _NOT_AN_ABSTRACT:
        raise BadRecord("abstract", "no abstract")
    if len(abstract) > MAX_ABSTRACT_CHARS:
        raise BadRecord("abstract", f"longer than {MAX_ABSTRACT_CHARS:,} characters")
    return abstract


def _paper_id(fields: Mapping[str, Any]) -> str | None:
    """The id that the source gives: its own, else arXiv's, else the DOI."""
    number = fields.get("id")
    if isinstance(number, int) and not isinstance(number, bool):
        return str(number)
    given = _text(fields, "id") or _text(fields, "arxiv_id") or _text(fields, "doi")
    return given.strip() if given else None


def _texts(fields: Mapping[str, Any], field: str) -> tuple[str, ...]:
    """A list of texts, or one text in which `;` separates them."""
    value = fields.get(field)
    if isinstance(value, str):
        value = [part.strip() for part in value.split(";")]
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise BadRecord(field, "must be a list of texts, or one text with ; between")
    return tuple(item for item in value if item.strip())


def _year(value: object) -> int | None:
    if value is None or value == "":
        return None
    if isinstance(value, str) and re.fullmatch(r"[0-9]{4}(\.0+)?", value.strip()):
        value = int(value.strip()[:4])
    if isinstance(value, float) and value.is_integer():  # what spreadsheets and data frames make of a year
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= 9999:
        raise BadRecord("year", "must be a year of four digits")
    return value


def _json_type(value: object) -> str:
    names = {bool: "true or false", int: "a number", float: "a number", list: "a list", dict: "an object"}
    return names.get(type(value), type(value).__name__)
