"""A corpus as one file: its records and their embeddings in a zip archive, from which it is built anew.

corpus.json      format, name, number of papers, embedding model, dimension, SHA-256 of the records
records.jsonl    the records, byte for byte
embeddings       16 bytes of digest and a vector (float16) for each text, so that no model is asked again
"""

import hashlib
import json
import os
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import BinaryIO, cast

from rag.building import Progress, embedded_texts
from rag.corpora import build_next, embedding_cache, require_known, require_model
from rag.corpus_folder import CorpusFolder, disk_errors
from rag.embedding import Embedder
from rag.errors import CorpusError, InputError
from rag.generation import RECORDS, Manifest, records_are_whole
from rag.readers.containers import ZIP_ERRORS
from rag.readers.source import MAX_RECORD
from rag.record_file import write_records
from rag.records import BadRecord, paper_from_record, parse_object, to_line

FORMAT = 1
_DESCRIPTION, _EMBEDDINGS = "corpus.json", "embeddings"
_DIGEST = 16
_BATCH = 1000
_LONGEST = 2 * MAX_RECORD
"""What a record of the longest input takes once it is written down anew, and more."""
_MAX_DESCRIPTION = 1 << 16


@dataclass(frozen=True, slots=True)
class Description:
    """What a backup says of itself."""

    format: int
    name: str
    papers: int
    model: str
    dimension: int
    sha256: str


def back_up(home: Path, name: str, target: Path, *, embedder: Embedder) -> Description:
    """Writes a corpus to `target`, all of it or nothing; what was there is replaced. Other processes may go on reading.

    Raises CorpusError where there is no such corpus, it is damaged, another process writes to it, or `target` cannot
    be written.
    """
    folder = CorpusFolder(home, name)
    require_known(folder)
    require_model(folder, embedder)
    temporary = target.with_name(f"{target.name}.part")
    with folder.lock(), disk_errors(target):
        served = folder.current()
        place = folder.generation(served.generation) if served else folder.path
        if served is None or not records_are_whole(place, served):
            raise CorpusError(f"The corpus {name} is damaged.", fix=f"Run: citewise doctor --deep --corpus {name}")
        try:
            description = _write(temporary, folder, served, embedder)
            os.replace(temporary, target)
        finally:
            temporary.unlink(missing_ok=True)
    return description


def restore(
    home: Path, source: Path, *, name: str | None = None, embedder: Embedder, on_progress: Progress | None = None
) -> Manifest:
    """Builds the corpus that `source` holds, under its own name unless `name` is given.

    Raises InputError where `source` is no whole backup, CorpusError where a corpus of that name exists or the backup
    was made with another embedding model.
    """
    told = describe(source)
    folder = CorpusFolder(home, name or told.name)
    if folder.exists():
        raise CorpusError(
            f"There is a corpus {folder.name} already.", fix="Give the restored one another name by --corpus."
        )
    if (told.model, told.dimension) != (embedder.model_id, embedder.dimension):
        raise CorpusError(
            f"{source} was made with the embedding model {told.model}, and {embedder.model_id} is in use.",
            fix="Set the same model, or unpack the file and ingest its records.jsonl.",
        )
    with folder.lock(), folder.new_build() as scratch:
        with _opened(source) as archive:
            write_records(scratch / RECORDS, _checked_lines(archive, told, source))
            with embedding_cache(folder, embedder) as cache:
                for entries in _entries(archive, told.dimension):
                    cache.add(entries)
        with (scratch / RECORDS).open("rb") as lines:
            return build_next(folder, lines, told.papers, embedder=embedder, on_progress=on_progress)


def describe(source: Path) -> Description:
    """What a backup says of itself. Raises InputError where `source` is none."""
    with _opened(source) as archive, archive.open(_DESCRIPTION) as file:
        text = file.read(_MAX_DESCRIPTION)
    try:
        told = Description(**json.loads(text))
    except (ValueError, TypeError, RecursionError) as error:
        raise _no_backup(source, "its description cannot be read") from error
    texts, numbers = (told.name, told.model, told.sha256), (told.papers, told.dimension)
    sound = all(isinstance(text, str) for text in texts) and all(isinstance(n, int) and n > 0 for n in numbers)
    if told.format != FORMAT or not sound:
        raise _no_backup(source, "its description is another format's")
    return told


def _write(target: Path, folder: CorpusFolder, served: Manifest, embedder: Embedder) -> Description:
    place = folder.generation(served.generation)
    told = Description(FORMAT, folder.name, served.papers, served.model, served.dimension, served.files[RECORDS].sha256)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(_DESCRIPTION, json.dumps(asdict(told), indent=1))
        archive.write(place / RECORDS, RECORDS)
        with embedding_cache(folder, embedder) as cache, archive.open(_EMBEDDINGS, "w", force_zip64=True) as out:
            for texts in embedded_texts(place):
                for digest, vector in cache.known(texts).items():
                    out.write(digest + vector)
    descriptor = os.open(target, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    return told


@contextmanager
def _opened(source: Path) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(source) as archive:
            yield archive
    except (*ZIP_ERRORS, KeyError) as error:
        raise _no_backup(source, str(error)) from error


def _checked_lines(archive: zipfile.ZipFile, told: Description, source: Path) -> Iterator[bytes]:
    """The records, each checked as if it were ingested, and all by their digest at the end."""
    digest, count = hashlib.sha256(), 0
    with archive.open(RECORDS) as file:
        while count <= told.papers and (line := file.readline(_LONGEST)):
            digest.update(line)
            count += 1
            try:
                yield to_line(paper_from_record(parse_object(line.decode())).paper)
            except (BadRecord, UnicodeDecodeError) as error:
                raise _no_backup(source, f"its record {count} is broken: {error}") from error
    if digest.hexdigest() != told.sha256 or count != told.papers:
        raise _no_backup(source, "its records are not those that were written")


def _entries(archive: zipfile.ZipFile, dimension: int) -> Iterator[dict[bytes, bytes]]:
    size = _DIGEST + 2 * dimension
    with archive.open(_EMBEDDINGS) as member:
        file = cast(BinaryIO, member)
        while data := file.read(size * _BATCH):
            rows = [data[first : first + size] for first in range(0, len(data) - size + 1, size)]
            yield {row[:_DIGEST]: row[_DIGEST:] for row in rows}


def _no_backup(source: Path, reason: str) -> InputError:
    return InputError(f"{source} is no whole backup of a corpus: {reason}.", fix="Take another one.")
