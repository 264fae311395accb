"""Opens an input file safely and hands out its lines: regular files only, capped, decoded strictly."""

import codecs
import gzip
import io
import os
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple

from rag.errors import InputError

MAX_RECORD = 1 << 20
"""Longest record in bytes (characters where the file is UTF-16 or UTF-32)."""
MAX_FILE = 1 << 30
"""Most bytes that are read of one file, after decompression."""
MAX_RATIO = 100
"""Highest compression ratio that is believed, past the first `_RATIO_GRACE` bytes."""
_RATIO_GRACE = 16 << 20
_HEAD = 1 << 16
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark is a prefix of it
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


class Line(NamedTuple):
    """A line without its line feed; `text` is None where it cannot be used, and `problem` says why."""

    number: int
    text: str | None
    problem: str | None = None


class Source:
    """An opened input file: `head` is how it begins, `lines` reads it once from the start."""

    def __init__(self, path: Path, raw: BinaryIO) -> None:
        self._raw, self._path, self._bytes_read = raw, path, 0
        magic = raw.read(2)
        raw.seek(0)
        self._packed = magic == b"\x1f\x8b"
        unpacked = gzip.GzipFile(fileobj=raw, mode="rb") if self._packed else raw
        self._stream = io.BufferedReader(unpacked, _HEAD)  # type: ignore[type-var]
        start = self._stream.peek(_HEAD)[:_HEAD]
        self._mark, self._encoding = next(((b, e) for b, e in _BOMS if start.startswith(b)), (b"", "utf-8"))
        self.head = start.decode(self._encoding, "replace").removeprefix("\ufeff")

    def lines(self) -> Iterator[Line]:
        """Lines split on line feeds only. Raises InputError where the file proves larger than the limits."""
        if self._encoding == "utf-8":
            self._stream.read(len(self._mark))
            yield from self._utf8_lines()
        else:
            yield from self._wide_lines()

    def _utf8_lines(self) -> Iterator[Line]:
        number = 0
        while line := self._stream.readline(MAX_RECORD + 1):
            number += 1
            self._count(len(line))
            if len(line) > MAX_RECORD and not line.endswith(b"\n"):
                while (rest := self._stream.readline(MAX_RECORD)) and not rest.endswith(b"\n"):
                    self._count(len(rest))
                yield Line(number, None, f"longer than {MAX_RECORD:,} bytes")
                continue
            try:
                yield Line(number, line.removesuffix(b"\n").decode("utf-8"))
            except UnicodeDecodeError as error:
                yield Line(number, None, f"not UTF-8 at byte {error.start} of the line")

    def _wide_lines(self) -> Iterator[Line]:
        # Lone surrogates pass here and are repaired, and counted, as part of the record.
        # Kept as an attribute: when a text wrapper goes, it closes the file below it.
        text = self._text = io.TextIOWrapper(self._stream, self._encoding, errors="surrogatepass", newline="\n")
        number = 0
        try:
            while line := text.readline(MAX_RECORD + 1):
                number += 1
                self._count(2 * len(line))
                if len(line) > MAX_RECORD and not line.endswith("\n"):
                    while (rest := text.readline(MAX_RECORD)) and not rest.endswith("\n"):
                        self._count(2 * len(rest))
                    yield Line(number, None, f"longer than {MAX_RECORD:,} characters")
                else:
                    yield Line(number, line.removesuffix("\n"))
        except UnicodeError as error:
            raise InputError(
                f"{self._path}: line {number + 1} is not {self._encoding.upper()}, as the file's first bytes say.",
                fix="Save the file as UTF-8.",
            ) from error

    def _count(self, length: int) -> None:
        self._bytes_read += length
        if self._bytes_read > MAX_FILE:
            raise InputError(f"{self._path} holds more than {MAX_FILE:,} bytes.", fix="Split it and ingest the parts.")
        if self._packed and self._bytes_read > max(_RATIO_GRACE, MAX_RATIO * self._raw.tell()):
            raise InputError(
                f"{self._path} is compressed more than {MAX_RATIO}:1, which no text is.", fix="Unpack it yourself."
            )


@contextmanager
def open_source(path: Path) -> Iterator[Source]:
    """The file at `path`, plain or gzip. Raises InputError if it is no readable regular file or changes meanwhile."""
    try:
        # Without O_NONBLOCK a named pipe would block here for ever.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise InputError(f"{path} cannot be read: {reason}.", fix="Check the path.") from error
    before = os.fstat(descriptor)
    if not stat.S_ISREG(before.st_mode):
        os.close(descriptor)
        raise InputError(f"{path} is not a regular file.", fix="Name a file of abstracts.")
    with os.fdopen(descriptor, "rb") as raw:
        try:
            yield Source(path, raw)
        except (EOFError, zlib.error, OSError) as error:
            raise InputError(f"{path} cannot be read to its end: {error}.", fix="Get the file again.") from error
        after = os.fstat(descriptor)
        if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
            raise InputError(f"{path} changed while it was read.", fix="Ingest it again when it is complete.")
