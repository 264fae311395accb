"""Reads sources of papers: files, folders, archives and standard input, their formats told apart by content."""

import io
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, cast

from rag.domain import Paper
from rag.errors import InputError
from rag.readers.containers import ZIP_ERRORS, Budget, folder_entries, member_stream, open_zip, zip_members
from rag.readers.formats import READERS, ZIP, tell_format
from rag.readers.found import Format, ReadOptions, papers_of
from rag.readers.source import Source, copy_to_file, open_regular, reading
from rag.readers.unpacking import Counted
from rag.records import Reject, Repair

__all__ = ["STDIN", "Format", "ReadOptions", "Reject", "Repair", "read_papers"]

STDIN = Path("-")
"""The source that stands for standard input."""

Item = Paper | Reject | Repair


def read_papers(
    path: Path, *, options: ReadOptions | None = None, on_repair: Callable[[Repair], object] | None = None
) -> Iterator[Paper | Reject]:
    """The papers of a file, a folder, a zip archive or standard input (`-`), with a Reject for each bad record.

    Reads as a stream, so that memory stays bounded. `on_repair` is told of each change to a record's text. Raises
    InputError if the source is not readable or in no format that is known; of a folder or an archive a file like that
    is a Reject at line 0.
    """
    options = options or ReadOptions()
    items = _stdin(options) if path == STDIN else _folder(path, options) if path.is_dir() else _file(path, options)
    for item in items:
        if not isinstance(item, Repair):
            yield item
        elif on_repair is not None:
            on_repair(item)


def _folder(folder: Path, options: ReadOptions) -> Iterator[Item]:
    for path, problem in folder_entries(folder):
        if problem is not None:
            yield Reject(str(path), 0, path.name, None, problem)
        else:
            yield from _or_reject(_file(path, options, follow=False), str(path))


def _file(path: Path, options: ReadOptions, *, follow: bool = True) -> Iterator[Item]:
    name = str(path)
    with open_regular(path, follow=follow) as raw, reading(name):
        is_zip = _is_zip(raw.read(4))
        raw.seek(0)
        if is_zip:
            yield from _zip(raw, name, options)
        else:
            yield from _source(Source(name, raw, errors=options.encoding_errors), options)


def _stdin(options: ReadOptions) -> Iterator[Item]:
    """Standard input as it comes; an archive, which is read from its end, is copied first."""
    name = "standard input"
    with reading(name), io.BufferedReader(Counted(sys.stdin.buffer)) as raw:
        if not _is_zip(raw.peek(4)):
            yield from _source(Source(name, cast(BinaryIO, raw), errors=options.encoding_errors), options)
            return
        with tempfile.TemporaryFile() as copy:
            copy_to_file(cast(BinaryIO, raw), cast(BinaryIO, copy), name=name)
            yield from _zip(cast(BinaryIO, copy), name, options)


def _zip(raw: BinaryIO, name: str, options: ReadOptions) -> Iterator[Item]:
    budget = Budget(name)
    with open_zip(raw, name=name) as archive:
        for member, info, problem in zip_members(archive, name=name):
            if problem is not None:
                yield Reject(member, 0, os.path.basename(member), None, problem)
                continue
            budget.spend(info.file_size)
            try:
                with member_stream(archive, info) as unpacked:
                    source = Source(member, unpacked, errors=options.encoding_errors, packed=info.compress_size)
                    yield from _or_reject(_member(source, options), member)
            except ZIP_ERRORS as error:
                yield Reject(member, 0, os.path.basename(member), None, f"cannot be unpacked: {error}")


def _member(source: Source, options: ReadOptions) -> Iterator[Item]:
    if source.packing or _is_zip(source.start):
        raise InputError("An archive within an archive is not read.", fix="Unpack it.")
    yield from _source(source, options)


def _source(source: Source, options: ReadOptions) -> Iterator[Item]:
    read = READERS[options.format or tell_format(source)]
    yield from papers_of(read(source, options), file=source.name, options=options)


def _or_reject(items: Iterator[Item], name: str) -> Iterator[Item]:
    """`items`, and a Reject of the file as a whole where it cannot be read or read on."""
    try:
        yield from items
    except InputError as error:
        yield Reject(name, 0, os.path.basename(name), None, error.problem)


def _is_zip(start: bytes) -> bool:
    return start.startswith(ZIP)
