"""Reads case files, JSONL or CSV, and says of each fault in which file, line and field it is."""

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from evals.cases.case import Case, expand
from evals.cases.schema import ITEM, AnyItem, complete, unknown_fields
from rag.errors import InputError

CSV_LISTS = ("papers", "papers_partial", "forbid")
CSV_FIELDS = ("id", "type", "kind", "question", "answer", "answerable", "expected", "scope", "facts", *CSV_LISTS)
"""Columns of a CSV file; only `question` must be there. Lists are separated by ";", a fact's aliases by "|", and a fact
that is welcome but not vital begins with "?"."""


class Problem(NamedTuple):
    """A fault of a case file. `line` counts from 1; `field` is a path such as "nuggets.0.aliases", "" for all of it."""

    path: Path
    line: int
    field: str
    what: str
    is_error: bool = True

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}" + (f" {self.field}" if self.field else "")
        return f"{place}: {'' if self.is_error else 'warning: '}{self.what}"


class Read(NamedTuple):
    """The items of a file that could be read, and what is wrong with it."""

    items: list[AnyItem]
    problems: list[Problem]


def read_items(*paths: Path) -> Read:
    """Reads every line of files that are one suite, whatever is wrong with others.

    Raises InputError only where a file cannot be opened.
    """
    items: list[AnyItem] = []
    problems: list[Problem] = []
    taken: dict[str, tuple[Path, int]] = {}
    for path in paths:
        before = len(items), len(problems)
        for line, record in _records(path):
            read = read_record(record, path, line)
            problems += read.problems
            for item in read.items:
                ids = {item.id, *(case.case_id for case in expand([item]))}
                if twice := min(ids & taken.keys(), default=None):
                    problems.append(Problem(path, line, "id", _taken(twice, path, *taken[twice])))
                else:
                    taken |= dict.fromkeys(ids, (path, line))
                    items.append(item)
        if before == (len(items), len(problems)):
            problems.append(Problem(path, 1, "", "there is no case in it"))
    return Read(items, problems)


def load_items(*paths: Path) -> list[AnyItem]:
    """The items of files that are one suite. Raises InputError that names the first fault and counts the others."""
    read = read_items(*paths)
    errors = [problem for problem in read.problems if problem.is_error]
    if errors:
        more = f" ({len(errors) - 1} more faults)" if len(errors) > 1 else ""
        where = paths[0] if len(paths) == 1 else paths[0].parent
        raise InputError(f"{errors[0]}{more}.", fix=f"See all with: citewise eval lint {where}")
    return read.items


def load_cases(path: Path) -> list[Case]:
    """All cases of a file. Raises as `load_items`."""
    return expand(load_items(path))


def read_record(record: dict[str, Any] | Problem, path: Path, line: int) -> Read:
    """The item of a line, if it is one, with what is wrong with it."""
    if isinstance(record, Problem):
        return Read([], [record])
    try:
        item = ITEM.validate_python(complete(record))
    except ValidationError as error:
        return Read([], [Problem(path, line, _field(entry["loc"]), _said(entry)) for entry in _innermost(error)])
    unknown = [Problem(path, line, name, "unknown field, ignored", False) for name in unknown_fields(item)]
    return Read([item], unknown)


def _taken(name: str, path: Path, other: Path, line: int) -> str:
    """An answer is kept under the id of its case, which a variant or a turn makes of its item's: "q1-de", "talk-2"."""
    return f"{name!r} is the id of a case of {f'line {line}' if other == path else f'{other}:{line}'} too"


def _records(path: Path) -> Iterator[tuple[int, dict[str, Any] | Problem]]:
    try:
        content = path.read_bytes()
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}:{line} is not UTF-8: {error.reason}.", fix="Save the file as UTF-8.") from error
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.", fix="Give a JSONL or CSV file.") from error
    yield from _csv_records(path, text) if path.suffix.lower() == ".csv" else _jsonl_records(path, text)


def _jsonl_records(path: Path, text: str) -> Iterator[tuple[int, dict[str, Any] | Problem]]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except ValueError as error:
            yield number, Problem(path, number, "", f"not JSON: {error}")
            continue
        except RecursionError:
            yield number, Problem(path, number, "", "not JSON that can be read: it is nested too deeply")
            continue
        is_object = isinstance(record, dict)
        yield number, record if is_object else Problem(path, number, "", "not a JSON object")


def _csv_records(path: Path, text: str) -> Iterator[tuple[int, dict[str, Any] | Problem]]:
    reader = csv.DictReader(text.splitlines(keepends=True), restkey="", strict=True)
    try:
        unknown = [name for name in reader.fieldnames or () if name not in CSV_FIELDS]
        if unknown or "question" not in (reader.fieldnames or ()):
            what = f"unknown column {unknown[0]!r}" if unknown else "there is no column question"
            yield 1, Problem(path, 1, "", f"{what}; known: {', '.join(CSV_FIELDS)}")
            return
        start = reader.line_num + 1
        for row in reader:
            if "" in row:
                yield start, Problem(path, start, "", "the row has more cells than the header")
            elif any((value or "").strip() for value in row.values()):
                yield start, _from_csv(row, line=start)
            start = reader.line_num + 1
    except csv.Error as error:
        yield reader.line_num, Problem(path, reader.line_num, "", f"not CSV: {error}")


def _from_csv(row: dict[str, Any], *, line: int) -> dict[str, Any]:
    cells = {name: value.strip() for name, value in row.items() if value and value.strip()}
    record: dict[str, Any] = {"id": f"line-{line}"}
    for name, value in cells.items():
        if name in CSV_LISTS:
            record[name] = split_cell(value, ";")
        elif name == "answerable":
            record[name] = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}.get(
                value.lower(), value
            )
        elif name != "facts":
            record[name] = value
    record["nuggets"] = [nugget_of(fact) for fact in split_cell(cells.get("facts", ""), ";")]
    return record


def nugget_of(cell: str) -> dict[str, Any]:
    """The fact that a cell of a CSV file tells."""
    aliases = split_cell(cell.removeprefix("?"), "|")
    return {"fact": aliases[0] if aliases else "", "aliases": aliases, "vital": not cell.startswith("?")}


def split_cell(text: str, separator: str) -> list[str]:
    """The parts of a cell of a CSV file."""
    return [part.strip() for part in text.split(separator) if part.strip()]


def _innermost(error: ValidationError) -> list[Any]:
    """The faults that no fault within them brings about: a list is too short once its one item is refused."""
    entries = error.errors()
    places = [entry["loc"] for entry in entries]
    return [
        entry
        for entry, place in zip(entries, places, strict=True)
        if not any(len(other) > len(place) and other[: len(place)] == place for other in places)
    ]


def _field(location: tuple[int | str, ...]) -> str:
    """The path of a field without the name of the type, which pydantic puts in front."""
    types = {"single", "cross", "unanswerable", "followup", "injection", "payload"}
    parts = location[1:] if location and location[0] in types else location
    return ".".join(str(part) for part in parts)


def _said(entry: Any) -> str:
    message = str(entry["msg"]).removeprefix("Value error, ").replace("a valid tuple", "a list")
    message = message.replace("tuple should have", "list should have").removesuffix(" after validation")
    if entry["type"] == "union_tag_invalid":
        return "type must be single, cross, unanswerable, followup, injection or payload"
    given = entry.get("input")
    shown = "" if isinstance(given, dict | list) else f", not {given!r}"
    return (message[:1].lower() + message[1:] + shown) if entry["type"] != "missing" else "the field is missing"
