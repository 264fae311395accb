"""The file of a corpus's papers: one JSON record a line, any of which is read without the others."""

import mmap
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from rag.domain import Paper
from rag.records import from_line

Offsets = NDArray[np.int64]


class RecordFile:
    """Papers of `path` by row. `offsets` (rows + 1) says where each line begins; without it the file is scanned.

    Safe to read from several threads. A paper is parsed each time that it is asked for.
    """

    def __init__(self, path: Path, *, offsets: Offsets | None = None) -> None:
        with path.open("rb") as file:
            empty = file.seek(0, 2) == 0
            self._bytes: mmap.mmap | bytes = b"" if empty else mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self.offsets = scan_offsets(path) if offsets is None else offsets

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def line(self, row: int) -> bytes:
        """The record of `row` as it stands in the file, with its line feed."""
        return self._bytes[int(self.offsets[row]) : int(self.offsets[row + 1])]

    def paper(self, row: int) -> Paper:
        """The paper of `row`, which counts from 0."""
        return from_line(self.line(row))

    def papers(self) -> Iterator[Paper]:
        """All papers in order."""
        return (self.paper(row) for row in range(len(self)))


class RecordWriter:
    """Appends records to an open file and keeps where each begins."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._offsets = file, [0]

    def append(self, line: bytes) -> int:
        """Writes `line`, which ends in a line feed, and returns its row."""
        self._file.write(line)
        self._offsets.append(self._offsets[-1] + len(line))
        return len(self._offsets) - 2

    def offsets(self) -> Offsets:
        """Where each record begins, and where the last one ends."""
        return np.array(self._offsets, dtype=np.int64)


def write_records(path: Path, lines: Iterable[bytes]) -> Offsets:
    """Writes `lines` to `path` and returns their offsets."""
    with path.open("wb") as file:
        writer = RecordWriter(file)
        for line in lines:
            writer.append(line)
    return writer.offsets()


def scan_offsets(path: Path) -> Offsets:
    """The offsets of a record file, found by its line feeds."""
    offsets = [0]
    with path.open("rb") as file:
        for line in file:
            offsets.append(offsets[-1] + len(line))
    return np.array(offsets, dtype=np.int64)
