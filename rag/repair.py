"""The deep check of a corpus, and its repair: every byte is compared, and what is damaged is built anew."""

from pathlib import Path
from typing import NamedTuple

from rag.building import Progress
from rag.corpora import build_next, require_known, require_model
from rag.corpus_folder import CorpusFolder
from rag.embedding import Embedder
from rag.generation import Manifest, verify_generation
from rag.recovery import recover_records, restore_current


class Repaired(NamedTuple):
    """What was wrong with a corpus, nothing where it was whole, and the manifest of what is served now."""

    problems: tuple[str, ...]
    manifest: Manifest


def check_corpus(home: Path, name: str) -> tuple[str, ...]:
    """What is wrong with the served generation of a corpus: all its files are read, Chroma asked for each vector.

    Raises CorpusError where there is no such corpus.
    """
    folder = CorpusFolder(home, name)
    require_known(folder)
    return _problems(folder, folder.current())


def repair_corpus(home: Path, name: str, *, embedder: Embedder, on_progress: Progress | None = None) -> Repaired:
    """`check_corpus`, and a new generation from the newest records that are whole where it finds something.

    Raises CorpusError where there is no such corpus, no records are whole, another process writes, or the corpus was
    indexed with another model than `embedder`.
    """
    folder = CorpusFolder(home, name)
    require_known(folder)
    with folder.lock(), folder.new_build() as scratch:
        served = folder.current() or restore_current(folder)
        problems = _problems(folder, served)
        if served is not None and not problems:
            return Repaired((), served)
        require_model(folder, embedder)
        records = recover_records(folder, scratch=scratch)
        lines = (records.line(row) for row in range(len(records)))
        return Repaired(problems, build_next(folder, lines, len(records), embedder=embedder, on_progress=on_progress))


def _problems(folder: CorpusFolder, served: Manifest | None) -> tuple[str, ...]:
    if served is None:
        return ("CURRENT cannot be read",)
    return verify_generation(folder.generation(served.generation), served, deep=True)
