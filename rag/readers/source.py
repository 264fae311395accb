"""Opens an input safely and hands out its text: regular files only, capped, unpacked, decoded strictly."""

import codecs
import io
import os
import re
import stat
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Literal, NamedTuple, cast

from rag.errors import InputError
from rag.readers.unpacking import UNPACKING_ERRORS, Counted, packing_of, unpacked

EncodingErrors = Literal["strict", "replace"]

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
BAD_BYTES = re.compile("[\udc80-\udcff]")
"""What `Source.blocks` gives for bytes that are not UTF-8."""


class Line(NamedTuple):
    """A line without its line break; `text` is None where it cannot be used, and `problem` says why."""

    number: int
    text: str | None
    problem: str | None = None


class Source:
    """An opened input: `head` is how it begins, one of `lines`, `blocks` and `whole_file` reads it from the start.

    `name` is what messages call it. Raises InputError where it proves larger than the limits. `packed` says that the
    bytes come out of an archive member that takes `packed` bytes there.
    """

    def __init__(
        self, name: str, raw: BinaryIO, *, errors: EncodingErrors = "strict", packed: int | None = None
    ) -> None:
        self.name, self._errors, self._bytes_read = name, errors, 0
        self._counted = Counted(raw)
        stream = io.BufferedReader(self._counted, _HEAD)
        self.packing, self._packed_size = packing_of(stream.peek(8)[:8]), packed
        if self.packing:
            stream = io.BufferedReader(Counted(unpacked(self.packing, cast(BinaryIO, stream))), _HEAD)
        self._stream = stream
        self.start = self._stream.peek(_HEAD)[:_HEAD]
        self._mark, self._encoding = next(((b, e) for b, e in _BOMS if self.start.startswith(b)), (b"", "utf-8"))
        self.head = self.start.decode(self._encoding, "replace").removeprefix("\ufeff")
        self._break = "\r" if "\r" in self.head and "\n" not in self.head else "\n"

    def lines(self) -> Iterator[Line]:
        """Lines split on line feeds only, or on carriage returns where the file begins without a line feed."""
        if self._encoding == "utf-8" and self._break == "\n":
            self._stream.read(len(self._mark))
            yield from self._utf8_lines()
        else:
            yield from self._text_lines()

    def blocks(self) -> Iterator[str]:
        """The text in blocks of some 64 KiB. Bytes that are not UTF-8 come as U+DC80 to U+DCFF, or as U+FFFD."""
        errors = "surrogatepass" if self._encoding != "utf-8" else self._utf8_errors()
        decoder = codecs.getincrementaldecoder(self._encoding)(errors)
        first = True
        try:
            while data := self._stream.read(_HEAD):
                self._count(len(data))
                text = decoder.decode(data)
                yield text.removeprefix("\ufeff") if first else text
                first = False
            yield decoder.decode(b"", final=True)
        except UnicodeError as error:
            raise self._bad_encoding(None) from error

    @contextmanager
    def whole_file(self) -> Iterator[BinaryIO]:
        """The unpacked bytes as a file that can be read at any place: a copy that is deleted at the end."""
        with tempfile.TemporaryFile() as copy:
            while data := self._stream.read(_HEAD):
                self._count(len(data))
                copy.write(data)
            copy.seek(0)
            yield cast(BinaryIO, copy)

    def _utf8_errors(self) -> str:
        return "replace" if self._errors == "replace" else "surrogateescape"

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
                yield Line(number, line.removesuffix(b"\n").decode("utf-8", self._errors))
            except UnicodeDecodeError as error:
                yield Line(number, None, f"not UTF-8 at byte {error.start} of the line")

    def _text_lines(self) -> Iterator[Line]:
        # Lone surrogates of UTF-16 pass here and are repaired, and counted, as part of the record.
        errors = "surrogatepass" if self._encoding != "utf-8" else self._utf8_errors()
        # Kept as an attribute: when a text wrapper goes, it closes the file below it.
        text = self._text = io.TextIOWrapper(self._stream, self._encoding, errors=errors, newline=self._break)
        number = 0
        try:
            while line := text.readline(MAX_RECORD + 1):
                number += 1
                line = line.removeprefix("\ufeff") if number == 1 else line
                self._count(2 * len(line))
                if len(line) > MAX_RECORD and not line.endswith(self._break):
                    while (rest := text.readline(MAX_RECORD)) and not rest.endswith(self._break):
                        self._count(2 * len(rest))
                    yield Line(number, None, f"longer than {MAX_RECORD:,} characters")
                elif self._encoding == "utf-8" and BAD_BYTES.search(line):
                    yield Line(number, None, "not UTF-8")
                else:
                    yield Line(number, line.removesuffix(self._break))
        except UnicodeError as error:
            raise self._bad_encoding(number + 1) from error

    def _bad_encoding(self, line: int | None) -> InputError:
        place = f"line {line}" if line else "its text"
        return InputError(
            f"{self.name}: {place} is not {self._encoding.upper()}, as the file's first bytes say.",
            fix="Save the file as UTF-8.",
        )

    def _count(self, length: int) -> None:
        self._bytes_read += length
        if self._bytes_read > MAX_FILE:
            raise InputError(f"{self.name} holds more than {MAX_FILE:,} bytes.", fix="Split it and ingest the parts.")
        packed = self._packed_size if self._packed_size is not None else self._counted.count if self.packing else None
        if packed is not None and self._bytes_read > max(_RATIO_GRACE, MAX_RATIO * packed):
            raise InputError(
                f"{self.name} is compressed more than {MAX_RATIO}:1, which no text is.", fix="Unpack it yourself."
            )


@contextmanager
def open_source(path: Path, *, errors: EncodingErrors = "strict", follow: bool = True) -> Iterator[Source]:
    """The file at `path`, plain or packed. Without `follow` a symbolic link is no file.

    Raises InputError if it is no readable regular file or changes meanwhile.
    """
    with open_regular(path, follow=follow) as raw, reading(str(path)):
        yield Source(str(path), raw, errors=errors)


@contextmanager
def open_regular(path: Path, *, follow: bool = True) -> Iterator[BinaryIO]:
    """The bytes of the regular file at `path`; raises InputError if it is none or changes meanwhile."""
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW)
    try:
        # Without O_NONBLOCK a named pipe would block here for ever.
        descriptor = os.open(path, flags)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise InputError(f"{path} cannot be read: {reason}.", fix="Check the path.") from error
    before = os.fstat(descriptor)
    if not stat.S_ISREG(before.st_mode):
        os.close(descriptor)
        raise InputError(f"{path} is not a regular file.", fix="Name a file or a folder of abstracts.")
    with os.fdopen(descriptor, "rb") as raw:
        yield raw
        after = os.fstat(descriptor)
        if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
            raise InputError(f"{path} changed while it was read.", fix="Ingest it again when it is complete.")


@contextmanager
def reading(name: str) -> Iterator[None]:
    """Turns what a cut or broken input raises while it is read into an InputError that names it."""
    try:
        yield
    except (*UNPACKING_ERRORS, zlib.error) as error:
        raise InputError(f"{name} cannot be read to its end: {error}.", fix="Get the file again.") from error


def copy_to_file(raw: BinaryIO, target: BinaryIO, *, name: str) -> None:
    """Copies a stream that cannot be read twice, `MAX_FILE` bytes at most; raises InputError past them."""
    copied = 0
    while data := raw.read(_HEAD):
        copied += target.write(data)
        if copied > MAX_FILE:
            raise InputError(f"{name} holds more than {MAX_FILE:,} bytes.", fix="Split it and ingest the parts.")
    target.seek(0)
