"""Suites of cases: those that come with citewise and those in the home by name, any file or folder by its path."""

from importlib.resources import as_file, files
from pathlib import Path
from typing import NamedTuple

from evals.cases.files import load_items
from evals.cases.schema import AnyItem, is_draft
from rag.domain import Paper
from rag.errors import InputError
from rag.readers import read_papers

_TYPES = (".jsonl", ".csv")


class Suite(NamedTuple):
    """The items of a suite, and what to call it. `papers` are to be in the corpus that is asked, beside its own.

    `drafts` is how many more there are that nobody has accepted: they are never asked.
    """

    name: str
    items: list[AnyItem]
    papers: tuple[Paper, ...] = ()
    drafts: int = 0


def load_suite(name: str, *, own: Path | None = None) -> Suite:
    """The suite of that name, also among those of the folder `own`, or of the file or folder at that path.

    Raises InputError where there is none, a file is faulty, or nobody has accepted any of its cases.
    """
    path = Path(name)
    if path.exists():
        return _read(path)
    if own and name in own_names(own):
        return _read(own_file(own, name))
    known = suite_names()
    if name not in known:
        known = (*known, *(own_names(own) if own else ()))
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


def own_suites(home: Path) -> Path:
    """The folder of a home where its own suites are, a JSONL file each."""
    return home / "suites"


def own_names(own: Path) -> tuple[str, ...]:
    """The suites of that folder."""
    return tuple(sorted(path.stem for path in own.glob("*.jsonl") if not path.name.startswith(".")))


def own_file(own: Path, name: str) -> Path:
    """The file of such a suite."""
    return own / f"{name}.jsonl"


def case_file(given: Path, own: Path) -> Path:
    """The file that is meant: a path, or by a bare name a suite of `own`. Raises InputError for what ships."""
    if given.suffix or given.name != str(given):
        return given
    if given.name in suite_names():
        raise InputError(f"The suite {given.name} comes with citewise.", fix="Give another name.")
    return own_file(own, given.name)


def suite_files(path: Path) -> list[Path]:
    """The case files of a folder, or the one file."""
    if not path.is_dir():
        return [path]
    found = sorted(entry for entry in path.iterdir() if entry.suffix.lower() in _TYPES)
    if not found:
        raise InputError(f"{path} holds no case file.", fix="Put JSONL or CSV files into it.")
    return found


def _read(path: Path) -> Suite:
    read = load_items(*suite_files(path))
    items = [item for item in read if not is_draft(item)]
    if not items:
        problem = f"Nobody has accepted any of the {len(read)} drafts of {path}."
        raise InputError(problem, fix=f"Accept some: citewise eval new-cases {path} --review, or on the page.")
    folder = path if path.is_dir() else path.parent
    planted = _papers(folder / "papers") if any(getattr(item, "plant", None) for item in items) else ()
    return Suite(path.stem if path.is_file() else path.name, items, planted, drafts=len(read) - len(items))


def _papers(folder: Path) -> tuple[Paper, ...]:
    """The papers of a folder. Raises InputError where a record of them is bad."""
    found: list[Paper] = []
    for file in suite_files(folder):
        for paper in read_papers(file):
            if not isinstance(paper, Paper):
                raise InputError(f"{file}:{paper.line} is no paper: {paper.reason}.", fix="Mend it.")
            found.append(paper)
    return tuple(found)
