"""Unpacks gzip, bzip2 and xz as a stream, and counts what is read of the packed file."""

import bz2
import gzip
import io
import lzma
from typing import BinaryIO, cast

_XZ_MEMORY = 160 << 20
"""What an xz stream may claim for its dictionary: that of the highest level (64 MiB) and what comes with it."""
_BLOCK = 1 << 16
PACKED = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz"}
"""How packed files begin."""
UNPACKING_ERRORS = (EOFError, lzma.LZMAError, OSError)
"""What the readers below raise where a packed file is cut or broken, beside `zlib.error`."""


class Counted(io.RawIOBase):
    """The bytes of another stream, which need not be seekable, and in `count` how many of them were read."""

    def __init__(self, raw: BinaryIO) -> None:
        super().__init__()
        self._raw, self.count = raw, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "memoryview") -> int:  # type: ignore[override]
        data = self._raw.read(len(buffer))
        buffer[: len(data)] = data
        self.count += len(data)
        return len(data)


def packing_of(start: bytes) -> str | None:
    """The name of the packing of a file that begins with `start`, None where it is not packed."""
    return next((name for magic, name in PACKED.items() if start.startswith(magic)), None)


def unpacked(packing: str, raw: BinaryIO) -> BinaryIO:
    """The unpacked bytes of `raw`, whose packing is one of PACKED."""
    if packing == "gzip":
        return cast(BinaryIO, gzip.GzipFile(fileobj=raw, mode="rb"))
    if packing == "bzip2":
        return cast(BinaryIO, bz2.BZ2File(raw, "rb"))
    return cast(BinaryIO, _Xz(raw))


class _Xz(io.RawIOBase):
    """As `lzma.LZMAFile`, which cannot be told how much memory a file may claim."""

    def __init__(self, raw: BinaryIO) -> None:
        super().__init__()
        self._raw, self._decoder = raw, self._new()

    @staticmethod
    def _new() -> lzma.LZMADecompressor:
        return lzma.LZMADecompressor(format=lzma.FORMAT_XZ, memlimit=_XZ_MEMORY)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "memoryview") -> int:  # type: ignore[override]
        while True:
            if self._decoder.eof:
                rest = self._decoder.unused_data.lstrip(b"\0") or self._raw.read(_BLOCK).lstrip(b"\0")
                if not rest:
                    return 0
                self._decoder = self._new()
            else:
                rest = self._raw.read(_BLOCK) if self._decoder.needs_input else b""
                if self._decoder.needs_input and not rest:
                    raise EOFError("the xz stream ends before its end marker")
            data = self._decoder.decompress(rest, len(buffer))
            if data:
                buffer[: len(data)] = data
                return len(data)
