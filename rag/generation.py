"""A generation: the files of one finished state of a corpus, its manifest, and the check that it is whole."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

import numpy as np

from rag.errors import CorpusError
from rag.store import DATABASE, MIN_ROWS, ChromaStore, check_database

RECORDS = "records.jsonl"
BACKUP = "records.backup.jsonl.gz"
OFFSETS = "offsets.npy"
IDS = "ids.json"
CHUNKS = "chunks.npy"
VECTORS = "vectors.npy"
SENTENCE_VECTORS = "sentence_vectors.npy"
SENTENCE_STARTS = "sentence_starts.npy"
TITLE_VECTORS = "title_vectors.npy"
KEYWORD = "keyword"
FACETS = "facets"
CHROMA = "chroma"
MANIFEST = "manifest.json"
FORMAT = 1
_WHOLE = 16 << 20
"""Files up to this size are hashed whole at each opening, larger ones by `_SAMPLES` blocks of `_BLOCK` bytes."""
_SAMPLES = 64
_BLOCK = 16 << 10


@dataclass(frozen=True, slots=True)
class Mark:
    """A file's size, the SHA-256 of its bytes, and that of the sampled blocks (equal for a small file)."""

    size: int
    sha256: str
    sample: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a generation is made of. `code` is the version of all code whose results are stored: `code_version()`."""

    format: int
    generation: int
    papers: int
    chunks: int
    sentences: int
    model: str
    dimension: int
    chunk_tokens: int
    code: str
    files: Mapping[str, Mark]

    def to_json(self) -> bytes:
        """The manifest as it stands in `manifest.json` and in CURRENT."""
        return json.dumps(asdict(self), indent=1, sort_keys=True).encode() + b"\n"

    @classmethod
    def from_json(cls, data: bytes) -> "Manifest":
        """The manifest of what `to_json` wrote. Raises ValueError for anything else."""
        try:
            fields = json.loads(data)
            marks = {name: Mark(**mark) for name, mark in fields.pop("files").items()}
            manifest = cls(**fields, files=marks)
        except (TypeError, KeyError, AttributeError, RecursionError) as error:
            raise ValueError("not a manifest") from error
        if manifest.format != FORMAT:
            raise ValueError(f"format {manifest.format}")
        return manifest


@cache
def code_version() -> str:
    """A digest of the modules whose results a generation stores: with other code these would no longer match."""
    modules = ["chunking.py", "sentences.py", "generation.py", "facets.py", "folding.py"]
    folder = files("rag")
    modules += sorted(
        f"keyword/{item.name}" for item in folder.joinpath("keyword").iterdir() if item.name.endswith(".py")
    )
    digest = hashlib.sha256()
    for module in modules:
        digest.update(folder.joinpath(module).read_bytes())
    return digest.hexdigest()[:16]


def mark_files(folder: Path) -> dict[str, Mark]:
    """The marks of all files of a finished generation but those that change when they are read, by relative path."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    names = [path.relative_to(folder).as_posix() for path in paths]
    return {name: _mark(path) for name, path in zip(names, paths, strict=True) if not _is_volatile(name)}


def verify_generation(folder: Path, manifest: Manifest, *, deep: bool = False) -> tuple[str, ...]:
    """What is wrong with the generation in `folder`, nothing where it is whole.

    Looks for every file, its size and its hash; of files past 16 MiB only 64 spread blocks are read. `deep` reads all,
    and then also compares what Chroma holds with `vectors.npy` and lets each vector find itself.
    """
    problems = [f"{MANIFEST} differs from CURRENT"] if _read(folder / MANIFEST) != manifest.to_json() else []
    problems += [
        problem for name, mark in manifest.files.items() if (problem := _check(folder / name, mark, deep=deep))
    ]
    if manifest.chunks >= MIN_ROWS:
        problem = check_database(folder / CHROMA, rows=manifest.chunks, deep=deep)
        problems += [problem] if problem else []
    if deep and not problems:
        problems += _verify_arrays(folder, manifest)
    return tuple(problems)


def records_are_whole(folder: Path, manifest: Manifest) -> bool:
    """Whether `records.jsonl` is, to the last byte, what was written."""
    mark = manifest.files.get(RECORDS)
    return mark is not None and _check(folder / RECORDS, mark, deep=True) is None


def _verify_arrays(folder: Path, manifest: Manifest) -> list[str]:
    vectors = np.load(folder / VECTORS, mmap_mode="r", allow_pickle=False)
    if vectors.shape != (manifest.chunks, manifest.dimension):
        return [f"{VECTORS} has the shape {vectors.shape}"]
    for name in (VECTORS, SENTENCE_VECTORS, TITLE_VECTORS):
        array = np.load(folder / name, mmap_mode="r", allow_pickle=False)
        if not all(np.isfinite(array[first : first + 4096]).all() for first in range(0, len(array), 4096)):
            return [f"{name} holds numbers that are not finite"]
    if manifest.chunks < MIN_ROWS:
        return []
    try:
        store = ChromaStore.open(folder / CHROMA)
        try:
            store.verify(vectors)
        finally:
            store.close()
    except CorpusError as error:
        return [error.problem]
    return []


def _is_volatile(name: str) -> bool:
    return name.startswith((f"{CHROMA}/{DATABASE}", MANIFEST))


def _mark(path: Path) -> Mark:
    size = path.stat().st_size
    whole = _sha256(path)
    return Mark(size, whole, whole if size <= _WHOLE else _sample(path, size))


def _check(path: Path, mark: Mark, *, deep: bool) -> str | None:
    """What is wrong with the file at `path`, None where nothing is."""
    try:
        size = path.stat().st_size
        if size != mark.size:
            return f"{path.name} has {size:,} bytes, not {mark.size:,}"
        whole = deep or size <= _WHOLE
        found, expected = (_sha256(path), mark.sha256) if whole else (_sample(path, size), mark.sample)
        return None if found == expected else f"{path.name} holds other bytes than were written"
    except OSError as error:
        return f"{path.name}: {error.strerror}"


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _sample(path: Path, size: int) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        for index in range(_SAMPLES):
            file.seek((size - _BLOCK) * index // (_SAMPLES - 1))
            digest.update(file.read(_BLOCK))
    return digest.hexdigest()


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None
