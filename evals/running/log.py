"""Append-only JSONL files that survive a kill at any moment: a torn last line is cut off when they are opened again."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from evals.running.errors import RunError


class Log:
    """A JSONL file that is only appended to. Use as a context manager; not to be shared by threads.

    Raises RunError where the file cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            _mend_end(path)
            self._file: IO[bytes] = path.open("ab")
        except OSError as error:
            raise RunError(f"{path} cannot be written: {error.strerror}.", fix="Choose another place.") from error

    def __enter__(self) -> "Log":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def append(self, record: Mapping[str, Any]) -> None:
        """Writes the record; it is on the disk when this returns. Raises RunError where the disk refuses it."""
        self.append_line(json.dumps(record, ensure_ascii=False, allow_nan=False).encode() + b"\n")

    def append_line(self, line: bytes) -> None:
        """The same for a line of JSON with its line break."""
        try:
            self._file.write(line)
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            problem = f"{self.path} cannot be written: {error.strerror}."
            raise RunError(problem, fix="Free disk space, then resume.") from error


def read_lines(path: Path) -> list[bytes]:
    """The whole lines of a log, a torn one at its end left out; none where there is no file."""
    *lines, last = path.read_bytes().split(b"\n") if path.exists() else [b""]
    return [*lines, last] if _is_whole(last) else lines


def read_log(path: Path) -> list[dict[str, Any]]:
    """The records of a log's whole lines. Raises RunError that names a line that is damaged."""
    records = []
    for number, line in enumerate(read_lines(path), start=1):
        try:
            records.append(json.loads(line))
        except ValueError as error:
            problem = f"{path}:{number} is damaged: {error}."
            raise RunError(problem, fix="Delete that line, then resume the run.") from error
    return records


def write_whole(path: Path, text: str) -> None:
    """Replaces a file in one step, so that it is never seen half written."""
    scratch = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    with scratch.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    scratch.replace(path)


def _mend_end(path: Path) -> None:
    """Drops a last line that a kill cut short; one that is whole gets the line break that it lacks."""
    if not path.exists():
        return
    with path.open("r+b") as file:
        data = file.read()
        start = data.rfind(b"\n") + 1
        if _is_whole(data[start:]):
            file.write(b"\n")
        else:
            file.truncate(start)


def _is_whole(line: bytes) -> bool:
    """Whether the last line of a file without a line break is all there, as where an editor wrote it.

    A JSON object that was cut short cannot be read.
    """
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False
