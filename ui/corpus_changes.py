"""Adding papers to the served corpus and removing them, with progress. No Gradio."""

import asyncio
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from rag.assistant import Assistant
from rag.building import Progress
from rag.domain import Paper
from rag.errors import InputError
from rag.ingest_report import IngestReport

MAX_UPLOAD_BYTES = 20_000_000
"""Most bytes of all files that are added in one go."""
MAX_PASTED_CHARS = 500_000
"""The page's requests hold at most 1 MB."""
_UNDOABLE = 100
"""Removed papers that are kept to be taken back."""
_TICK = 0.3
"""Seconds between two looks at how far a change is."""

T = TypeVar("T")


class Step(NamedTuple):
    """How far a change is: `done` of `total`, and what is being done."""

    done: int
    total: int
    what: str


class Done(NamedTuple, Generic[T]):
    """A change that was made, and what it gave."""

    value: T


def follow(change: Callable[[Progress], T]) -> Iterator[Step | Done[T]]:
    """Runs `change(on_progress)` in a thread and yields how far it is, then what it gives. Raises what it raises.

    Closing this does not stop the change: it is made whole, or, where it fails, not at all.
    """
    from rag.llm.background import iterate_in_thread

    latest: list[Step] = []

    async def work(emit: Callable[[Done[T]], None]) -> None:
        emit(Done(await asyncio.to_thread(change, lambda done, total, what: latest.append(Step(done, total, what)))))

    for item in iterate_in_thread(work, tick=_TICK):
        if item is not None:
            yield item
        elif latest:
            step = latest[-1]
            latest.clear()
            yield step


class CorpusChanges:
    """What readers of the page may do to its corpus. Safe to use from several threads: one change is made at a time."""

    def __init__(self, assistant: Assistant) -> None:
        self._assistant = assistant
        self._removed: OrderedDict[str, Paper] = OrderedDict()
        self._lock = threading.Lock()

    def add_text(self, text: str) -> Iterator[Step | Done[IngestReport]]:
        """Adds the records of a pasted text, in any format that `rag.readers` tells by its content.

        Raises CitewiseError where no record can be taken.
        """
        if not text.strip():
            raise InputError("Nothing was pasted.", fix="Paste records, or abstracts with blank lines between.")
        if len(text) > MAX_PASTED_CHARS:
            raise InputError(
                f"The text has {len(text):,} characters.",
                fix=f"Paste at most {MAX_PASTED_CHARS:,}, or upload it as a file.",
            )
        with tempfile.TemporaryDirectory(prefix="citewise-") as folder:
            path = Path(folder) / "pasted text"
            path.write_text(text, encoding="utf-8", errors="replace")
            yield from self._add([path])

    def add_files(self, paths: Sequence[Path]) -> Iterator[Step | Done[IngestReport]]:
        """Adds the records of uploaded files, which are deleted afterwards. Raises CitewiseError as `add_text`."""
        try:
            size = sum(path.stat().st_size for path in paths)
            if size > MAX_UPLOAD_BYTES:
                raise InputError(
                    f"The files have {size:,} bytes together.",
                    fix=f"Add at most {MAX_UPLOAD_BYTES:,} at once, or use: citewise ingest FILE",
                )
            yield from self._add(paths)
        finally:
            for path in paths:
                path.unlink(missing_ok=True)

    def remove(self, paper: Paper) -> Iterator[Step | Done[int]]:
        """Removes a paper and gives how many are left; `restore` takes it back."""

        def change(on_progress: Progress) -> int:
            with self._lock:
                left = self._assistant.remove_papers([paper.paper_id], on_progress=on_progress).papers
                self._removed[paper.paper_id] = paper
                while len(self._removed) > _UNDOABLE:
                    self._removed.popitem(last=False)
                return left

        return follow(change)

    def restore(self, paper_id: str) -> Iterator[Step | Done[IngestReport]]:
        """Adds a removed paper again. Raises InputError where it is not known any more."""
        with self._lock:
            paper = self._removed.get(paper_id)
        if paper is None:
            raise InputError("The removed paper is not kept any more.", fix="Add it again from its file.")
        return follow(lambda on_progress: self._assistant.add_papers([paper], on_progress=on_progress))

    def _add(self, paths: Sequence[Path]) -> Iterator[Step | Done[IngestReport]]:
        def change(on_progress: Progress) -> IngestReport:
            with self._lock:
                return self._assistant.add_files(paths, on_progress=on_progress)

        try:
            for item in follow(change):
                yield Done(_without_folders(item.value)) if isinstance(item, Done) else item
        except InputError as error:
            problem, fix = (_without_places(text, paths) for text in (error.problem, error.fix))
            raise InputError(problem, fix=fix) from error


def _without_places(text: str, paths: Sequence[Path]) -> str:
    for path in paths:
        text = text.replace(str(path), path.name)
    return text


def _without_folders(report: IngestReport) -> IngestReport:
    """The report with the names of files alone: where the server keeps them is nobody's business."""
    rejects = tuple(replace(reject, file=Path(reject.file).name) for reject in report.rejects)
    return replace(report, rejects=rejects)
