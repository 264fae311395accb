"""A person's way through drafted cases: what comes next, what they correct, accept or reject, and taking it back."""

import fcntl
import json
import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from evals.cases.files import load_items, nugget_of, read_record, split_cell
from evals.cases.schema import AnyItem, complete, is_draft
from evals.running.errors import RunError
from evals.running.log import write_whole
from rag.errors import InputError

TO_FILL_IN = "what a right answer says"
"""The fact of a draft that a person has to state."""
_TEXTS = {
    "question": "Question",
    "user": "Question",
    "standalone": "The same, standing alone",
    "answer": "A right answer",
}


class Field(NamedTuple):
    """What a person may correct of a draft: its name, such as "question" or "turns.0.user", and its text.

    Facts are separated by ";", the aliases of one by "|", and one that is welcome but not vital begins with "?", as in
    a CSV file; ids of papers by ";".
    """

    name: str
    label: str
    text: str


class _Decided(NamedTuple):
    """What a draft was before a person decided on it: its line and the place of that."""

    item_id: str
    place: int
    line: str


class Review:
    """The drafts of a JSONL file. What is decided is in it when a call returns; all its other lines stay as they are.

    Others may decide on drafts of the file meanwhile. Raises InputError where the file is faulty, RunError where it
    cannot be written.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        if file.suffix.lower() != ".jsonl":
            raise InputError(f"{file} holds no drafts.", fix="Drafts are in JSONL files, as new-cases writes them.")
        self._decided: list[_Decided] = []

    def drafts(self) -> list[AnyItem]:
        """What nobody has decided on yet, in the order of the file."""
        return [item for item in self._items() if is_draft(item)]

    def accepted(self) -> int:
        """How many cases of the file are no drafts."""
        return sum(not is_draft(item) for item in self._items())

    def following(self, item_id: str | None = None, *, skipped: Collection[str] = ()) -> AnyItem | None:
        """The first draft behind that one, from the beginning again at the end; None where none is left.

        The draft itself comes last; `skipped` ones do not come.
        """
        items = self._items()
        start = next((place for place, item in enumerate(items, start=1) if item.id == item_id), 0)
        ordered = (*items[start:], *items[:start])
        return next((item for item in ordered if is_draft(item) and item.id not in skipped), None)

    def draft(self, item_id: str) -> AnyItem | None:
        """The draft of that id."""
        return next((item for item in self.drafts() if item.id == item_id), None)

    def accept(self, item_id: str, fields: Mapping[str, str] | None = None) -> None:
        """Makes a draft a case, with the texts of `fields` by their names.

        Raises InputError where that gives no case, and leaves it as it is.
        """
        with self._locked():
            lines, place = self._lines(), self._place(item_id)
            record = _corrected(json.loads(lines[place]), fields or {})
            record.pop("reviewed", None)
            self._check(record)
            self._write(lines, place, [json.dumps(record, ensure_ascii=False)])

    def reject(self, item_id: str) -> None:
        """Drops a draft."""
        with self._locked():
            self._write(self._lines(), self._place(item_id), [])

    def take_back(self) -> str | None:
        """Makes what was decided last here a draft again, and returns its id; None where nothing was decided."""
        if not self._decided:
            return None
        item_id, place, line = self._decided.pop()
        with self._locked():
            lines = self._lines()
            now = next((n for n, each in enumerate(lines) if _id_of(each) == item_id), None)
            if now is None:
                lines.insert(min(place, len(lines)), line)
            else:
                lines[now] = line
            write_whole(self.file, "".join(f"{each}\n" for each in lines))
        return item_id

    def _items(self) -> list[AnyItem]:
        return load_items(self.file) if self._lines() else []

    def _lines(self) -> list[str]:
        try:
            return [line for line in self.file.read_text("utf-8-sig").split("\n") if line.strip()]
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{self.file} cannot be read: {error}.", fix="See: citewise eval lint") from error

    def _place(self, item_id: str) -> int:
        """Where a draft stands among the lines. Raises RunError where somebody else decided on it."""
        if self.draft(item_id) is None:
            raise RunError("Somebody else has decided on this draft.", fix="Go on with the next one.")
        return next(n for n, line in enumerate(self._lines()) if _id_of(line) == item_id)

    def _write(self, lines: list[str], place: int, instead: list[str]) -> None:
        self._decided.append(_Decided(_id_of(lines[place]), place, lines[place]))
        write_whole(self.file, "".join(f"{line}\n" for line in (*lines[:place], *instead, *lines[place + 1 :])))

    def _check(self, record: dict[str, Any]) -> None:
        """Raises InputError that names the field where a record is no case, or lacks what only a person can say."""
        read = read_record(record, self.file, 1)
        fault = next((problem for problem in read.problems if problem.is_error), None)
        if fault:
            raise InputError(f"{fault.field or 'It'}: {fault.what}.", fix="Correct it, then accept it.")
        if any(nugget.fact == TO_FILL_IN for nugget in getattr(read.items[0], "nuggets", ())):
            raise InputError("Nobody has said what a right answer says.", fix="Write its facts, then accept it.")

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Holds the right to change files of the folder, against other threads and processes."""
        descriptor = os.open(self.file.parent, os.O_RDONLY | os.O_CLOEXEC)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        except OSError as error:
            raise RunError(f"{self.file} cannot be written: {error.strerror}.", fix="Free disk space.") from error
        finally:
            os.close(descriptor)


def fields_of(item: AnyItem) -> list[Field]:
    """What may be corrected, in the order in which a person reads it."""
    record = item.model_dump(mode="json")
    turns = record.get("turns") or []
    parts = [(f"turns.{n}.", f"{n + 1}. ", turn) for n, turn in enumerate(turns)] or [("", "", record)]
    found = []
    for path, number, part in parts:
        for name, label in _TEXTS.items():
            if name in part:
                found.append(Field(f"{path}{name}", f"{number}{label}", part[name] or ""))
        if all(map(_fits_a_cell, part.get("nuggets", ()))):
            found.append(Field(f"{path}nuggets", f"{number}Its facts", "; ".join(map(_cell, part.get("nuggets", ())))))
        found.append(Field(f"{path}papers", f"{number}Papers that answer", "; ".join(part.get("papers", ()))))
    return found


def _corrected(record: dict[str, Any], fields: Mapping[str, str]) -> dict[str, Any]:
    """`record` with the texts of those fields; others that it does not have are passed over."""
    (item, *_), _ = read_record(record, Path(), 1)
    record = complete(record)
    for name, _, before in fields_of(item):
        text = fields.get(name, before).strip()
        if text == before:
            continue
        *path, last = name.split(".")
        part = record["turns"][int(path[1])] if path else record
        if last == "papers":
            part[last] = split_cell(text, ";")
        elif last == "nuggets":
            kept = {_cell(nugget): nugget for nugget in part.get(last, ())}
            cells = [" ".join(cell.split()) for cell in split_cell(text, ";")]
            part[last] = [kept.get(cell) or nugget_of(cell) for cell in cells]
        else:
            part[last] = text
    return record


def _cell(nugget: Mapping[str, Any]) -> str:
    return ("" if nugget.get("vital", True) else "?") + "|".join(nugget.get("aliases", ()))


def _fits_a_cell(nugget: Mapping[str, Any]) -> bool:
    return not nugget.get("all") and not any(mark in alias for alias in nugget["aliases"] for mark in "|;")


def _id_of(line: str) -> str:
    return str(json.loads(line).get("id"))
