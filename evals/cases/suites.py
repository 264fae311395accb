"""Suites of cases: those that come with citewise by name, any file or folder by its path."""

from importlib.resources import as_file, files
from pathlib import Path
from typing import NamedTuple

from evals.cases.files import load_items
from evals.cases.schema import AnyItem
from rag.domain import Paper
from rag.errors import InputError
from rag.readers import read_papers

_TYPES = (".jsonl", ".csv")


class Suite(NamedTuple):
    """The items of a suite, and what to call it. `papers` are to be in the corpus that is asked, beside its own."""

    name: str
    items: list[AnyItem]
    papers: tuple[Paper, ...] = ()


def load_suite(name: str) -> Suite:
    """The suite of that name, or of the file or folder at that path.

    Raises InputError where there is none or a file is faulty.
    """
    path = Path(name)
    if path.exists():
        return _read(path)
    known = suite_names()
    if name not in known:
        shipped = f"Suites: {', '.join(known)}." if known else "No suite comes with this citewise."
        raise InputError(f"There is no suite and no file {name!r}.", fix=shipped)
    with as_file(files("evals").joinpath("suites", name)) as folder:
        return _read(folder)


def suite_names() -> tuple[str, ...]:
    """The suites that come with citewise."""
    root = files("evals").joinpath("suites")
    if not root.is_dir():
        return ()
    return tuple(sorted(entry.name for entry in root.iterdir() if entry.is_dir() and entry.name[0] not in "._"))


def suite_files(path: Path) -> list[Path]:
    """The case files of a folder, or the one file."""
    if not path.is_dir():
        return [path]
    found = sorted(entry for entry in path.iterdir() if entry.suffix.lower() in _TYPES)
    if not found:
        raise InputError(f"{path} holds no case file.", fix="Put JSONL or CSV files into it.")
    return found


def _read(path: Path) -> Suite:
    items = load_items(*suite_files(path))
    folder = path if path.is_dir() else path.parent
    planted = _papers(folder / "papers") if any(getattr(item, "plant", None) for item in items) else ()
    return Suite(path.stem if path.is_file() else path.name, items, planted)


def _papers(folder: Path) -> tuple[Paper, ...]:
    """The papers of a folder. Raises InputError where a record of them is bad."""
    found: list[Paper] = []
    for file in suite_files(folder):
        for paper in read_papers(file):
            if not isinstance(paper, Paper):
                raise InputError(f"{file}:{paper.line} is no paper: {paper.reason}.", fix="Mend it.")
            found.append(paper)
    return tuple(found)
