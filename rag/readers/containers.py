"""Folders and zip archives: what lies in them, each file as if it had been named, and nothing that leads out."""

import io
import os
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from rag.errors import InputError
from rag.readers.source import MAX_FILE

MAX_ENTRIES = 10_000
"""Most files that are read of one archive."""
_MAX_DIRECTORY = 4 << 20
"""Largest table of contents of an archive, in bytes: all of it is held in memory."""
_END = b"PK\x05\x06"
_END_SIZE = 22
_MAX_COMMENT = 1 << 16
_ENCRYPTED = 1
_UNIX = 3

ZIP_ERRORS = (zipfile.BadZipFile, NotImplementedError, RuntimeError, zlib.error, EOFError, OSError)
"""What `zipfile` raises for members that are broken, encrypted or packed in a way that it does not know."""


class Member(NamedTuple):
    """A file of an archive. `problem` says why it is not read, where it is not."""

    name: str
    info: zipfile.ZipInfo
    problem: str | None


class Entry(NamedTuple):
    """A file of a folder. `problem` says why it is not read, where it is not."""

    path: Path
    problem: str | None


def folder_entries(folder: Path) -> Iterator[Entry]:
    """The files below `folder`, by name; hidden ones are left out.

    Symbolic links are not followed: one to a place within is left out, as what is there is read in its own place; one
    that leaves the folder is a problem.
    """
    root = folder.resolve()
    for current, folders, names in os.walk(folder):
        folders.sort()
        links = [name for name in folders if Path(current, name).is_symlink()]
        folders[:] = [name for name in folders if not name.startswith(".") and name not in links]
        for name in sorted([*names, *links]):
            path = Path(current, name)
            if name.startswith("."):
                continue
            if not path.is_symlink():
                is_file = stat.S_ISREG(path.lstat().st_mode)
                yield Entry(path, None if is_file else "not a regular file")
            elif not path.resolve().is_relative_to(root):
                yield Entry(path, "a symbolic link that leaves the folder")


def open_zip(file: BinaryIO, *, name: str) -> zipfile.ZipFile:
    """The archive in `file`. Raises InputError where it is broken or has more than `MAX_ENTRIES` entries."""
    _check_directory(file, name)
    try:
        archive = zipfile.ZipFile(file)
    except ZIP_ERRORS as error:
        raise InputError(f"{name} is not a zip archive that can be read: {error}.", fix="Get it again.") from error
    if len(archive.infolist()) > MAX_ENTRIES:
        raise InputError(f"{name} has more than {MAX_ENTRIES:,} entries.", fix="Unpack it yourself.")
    return archive


def zip_members(archive: zipfile.ZipFile, *, name: str) -> Iterator[Member]:
    """The files in `archive`; folders and hidden files are left out. No name becomes a path of this machine."""
    for info in archive.infolist():
        parts = info.filename.split("/")
        if info.is_dir() or any(part.startswith((".", "__MACOSX")) and part not in {".", ".."} for part in parts):
            continue
        yield Member(f"{name}/{info.filename}", info, _problem(info))


def member_stream(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> BinaryIO:
    """The unpacked bytes of a member."""
    return io.BufferedReader(archive.open(info))  # type: ignore[type-var]


class Budget:
    """How much of an archive may still be unpacked."""

    def __init__(self, name: str) -> None:
        self._name, self._left = name, MAX_FILE

    def spend(self, size: int) -> None:
        """Raises InputError once more than `MAX_FILE` bytes were unpacked in all."""
        self._left -= size
        if self._left < 0:
            raise InputError(f"{self._name} unpacks to more than {MAX_FILE:,} bytes.", fix="Split it.")


def _problem(info: zipfile.ZipInfo) -> str | None:
    mode = info.external_attr >> 16 if info.create_system == _UNIX else 0
    if mode and stat.S_IFMT(mode) not in {0, stat.S_IFREG}:
        return "not a regular file"
    if info.flag_bits & _ENCRYPTED:
        return "encrypted"
    return None


def _check_directory(file: BinaryIO, name: str) -> None:
    """`zipfile` reads the whole table of contents at once: this looks at its size first, where the archive says it."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _END_SIZE - _MAX_COMMENT))
    tail = file.read()
    at = tail.rfind(_END)
    if at >= 0 and len(tail) - at >= _END_SIZE:
        (directory,) = struct.unpack_from("<L", tail, at + 12)
        if directory > _MAX_DIRECTORY:
            raise InputError(f"{name} has a table of contents of {directory:,} bytes.", fix="Unpack it yourself.")
    file.seek(0)
