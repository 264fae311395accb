"""Finds the records of a corpus, whole or damaged, and says whether what is served can be served."""

import gzip
import json
import logging
import shutil
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path

import numpy as np

from rag.corpus_folder import CorpusFolder
from rag.domain import Paper
from rag.errors import CorpusError
from rag.generation import BACKUP, IDS, OFFSETS, RECORDS, Manifest, code_version, records_are_whole, verify_generation
from rag.readers import read_papers
from rag.record_file import RecordFile, write_records
from rag.records import to_line

logger = logging.getLogger(__name__)

DEFAULT_CORPUS = "icml2025"
"""The corpus whose first papers come inside the package."""


@dataclass(frozen=True, slots=True)
class Base:
    """The records that a corpus holds, with their ids. `served` is the manifest if all of its generation is whole."""

    records: RecordFile
    ids: Sequence[str]
    served: Manifest | None


def is_servable(folder: CorpusFolder, manifest: Manifest) -> bool:
    """Whether the generation is whole and made by the code that would read it; the reason why not is logged."""
    if manifest.code != code_version():
        logger.info("the corpus %s was indexed by another version of citewise", folder.name)
        return False
    problems = verify_generation(folder.generation(manifest.generation), manifest)
    if problems:
        logger.warning("the corpus %s is damaged: %s", folder.name, "; ".join(problems))
    return not problems


def restore_current(folder: CorpusFolder) -> Manifest | None:
    """Serves the newest generation where CURRENT cannot be read but all else is whole; returns its manifest."""
    number = max(folder.generations(), default=None)
    if folder.current() is not None or number is None:
        return None
    manifest = folder.manifest(number)
    if manifest is None or not is_servable(folder, manifest):
        return None
    folder.serve(manifest)
    return manifest


def open_base(folder: CorpusFolder, *, scratch: Path) -> Base:
    """The records to build the next generation from; files that this needs are put in `scratch`.

    A damaged corpus gives the newest records that are whole: those of the served generation, their compressed copy,
    or an earlier generation's, which is logged. The default corpus begins with the packaged papers, any other empty.
    Raises CorpusError where records exist and none is whole.
    """
    served = folder.current()
    if served is not None and is_servable(folder, served):
        place = folder.generation(served.generation)
        offsets = np.load(place / OFFSETS, mmap_mode="r", allow_pickle=False)
        return Base(RecordFile(place / RECORDS, offsets=offsets), json.loads((place / IDS).read_bytes()), served)
    records = recover_records(folder, scratch=scratch) if folder.exists() else _first_records(folder.name, scratch)
    return Base(records, [paper.paper_id for paper in records.papers()], None)


def _first_records(name: str, scratch: Path) -> RecordFile:
    """The packaged papers for the default corpus, none for another."""
    path, papers = scratch / "seed.jsonl", list[Paper]()
    if name == DEFAULT_CORPUS:
        with as_file(files("rag.data").joinpath("icml2025_seed.jsonl")) as seed:
            papers = [paper for paper in read_papers(seed) if isinstance(paper, Paper)]
    return RecordFile(path, offsets=write_records(path, map(to_line, papers)))


def recover_records(folder: CorpusFolder, *, scratch: Path) -> RecordFile:
    """The newest records of a corpus that are whole to the last byte; see `open_base`."""
    served = folder.current()
    numbers = [number for number in folder.generations() if served is None or number <= served.generation]
    newest = served.generation if served is not None else max(numbers, default=0)
    for number in numbers:
        place = folder.generation(number)
        manifest = served if served is not None and number == served.generation else folder.manifest(number)
        if manifest is not None and records_are_whole(place, manifest):
            records = RecordFile(place / RECORDS)
        elif unpack(place / BACKUP, scratch / "recovered.jsonl"):
            records = RecordFile(scratch / "recovered.jsonl")
        else:
            continue
        if number != newest:
            logger.warning("the corpus %s lost what was ingested since its generation %d", folder.name, number)
        return records
    if folder.name == DEFAULT_CORPUS:
        logger.warning("the corpus %s lost all but the papers that come with citewise", folder.name)
        return _first_records(folder.name, scratch)
    raise CorpusError(
        f"The corpus {folder.name} is damaged and none of its records can be read.",
        fix=f"Delete {folder.path} and ingest the files again.",
    )


def unpack(source: Path, target: Path) -> bool:
    """Unpacks the gzip file `source`, whose checksum proves it whole; False where it is not, or holds nothing."""
    try:
        with gzip.open(source) as packed, target.open("wb") as file:
            shutil.copyfileobj(packed, file)
    except (OSError, EOFError, zlib.error):
        return False
    return target.stat().st_size > 0  # an empty file passes for an empty archive
