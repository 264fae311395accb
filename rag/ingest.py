"""The second path: files of abstracts to a corpus that can be asked, as plain calls in order."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from rag.building import Progress, stored_chunks
from rag.corpora import build_next, require_known, require_model
from rag.corpus import Corpus
from rag.corpus_folder import CorpusFolder, corpus_names
from rag.domain import Paper
from rag.embedding import Embedder
from rag.embedding_cost import BeforeEmbedding
from rag.errors import InputError
from rag.fetching import Fetching, fetch_papers, is_remote
from rag.generation import VECTORS, Manifest
from rag.ingest_report import IngestReport, Log, nothing_taken, write_near_duplicates
from rag.linking import Duplicates
from rag.merging import merge
from rag.readers import ReadOptions, read_papers
from rag.records import BadRecord, Reject, Repair, paper_from_record, record_of
from rag.recovery import DEFAULT_CORPUS, is_servable, open_base, restore_current
from rag.remote_store import ChromaServer, share
from rag.store import MIN_ROWS

OnRepair = Callable[[Repair], object]


class CorpusSummary(NamedTuple):
    """A corpus on disk."""

    name: str
    papers: int
    model: str
    generation: int


def ingest_files(
    home: Path,
    corpus_name: str,
    paths: Sequence[Path | str],
    *,
    embedder: Embedder,
    on_progress: Progress | None = None,
    before_embedding: BeforeEmbedding | None = None,
    rebuild: bool = False,
    options: ReadOptions | None = None,
    duplicates: Duplicates = "merge",
    rejects_file: Path | None = None,
    fetching: Fetching | None = None,
) -> IngestReport:
    """Adds the papers of `paths` to a corpus of `home`, which is made if missing.

    A path is what `rag.readers.read_papers` takes; a text may also be a source that is fetched (`rag.fetching`).

    Nothing changes for readers until all is built and verified. What is there already costs nothing. `rebuild` builds
    the index anew, with `embedder` whatever model it had, and needs no paths. `before_embedding` is told what there is
    to embed and may raise to stop. `options` say how to read, `duplicates` what becomes of one work under several ids,
    `rejects_file` where rejected records are written down, if not in the corpus's folder. Raises InputError if a file
    cannot be read or no record could be taken, FetchError if a source cannot be fetched, CorpusError if another process
    writes, the model is another, or space is short, EndpointError if an endpoint that embeds fails; what it had
    embedded by then is kept.
    """
    options = options or ReadOptions()
    fetching = fetching or Fetching(home / "cache" / "fetch")

    def read(on_repair: OnRepair) -> Iterator[Paper | Reject]:
        for path in paths:
            if isinstance(path, str) and is_remote(path):
                yield from fetch_papers(
                    path, fetching=fetching, options=options, on_repair=on_repair, on_progress=on_progress
                )
            else:
                yield from read_papers(Path(path), options=options, on_repair=on_repair)

    folder = CorpusFolder(home, corpus_name)
    if rebuild and not paths:
        require_known(folder)
    return _ingest(
        folder,
        read,
        embedder=embedder,
        on_progress=on_progress,
        before_embedding=before_embedding,
        rebuild=rebuild,
        duplicates=duplicates,
        rejects_file=rejects_file,
    )


def ingest_papers(
    home: Path,
    corpus_name: str,
    papers: Iterable[Paper],
    *,
    embedder: Embedder,
    on_progress: Progress | None = None,
    duplicates: Duplicates = "merge",
) -> IngestReport:
    """As `ingest_files`, for papers that are at hand. In `rejects` and `repairs`, `line` counts the papers from 1."""
    return _ingest(
        CorpusFolder(home, corpus_name),
        lambda on_repair: _checked(papers, on_repair),
        embedder=embedder,
        on_progress=on_progress,
        duplicates=duplicates,
    )


def remove_papers(
    home: Path,
    corpus_name: str,
    paper_ids: Iterable[str],
    *,
    embedder: Embedder,
    on_progress: Progress | None = None,
) -> CorpusSummary:
    """Takes papers out of a corpus. Raises InputError if one is not in it or none would be left."""
    folder, unwanted = CorpusFolder(home, corpus_name), set(paper_ids)
    require_known(folder)
    require_model(folder, embedder)
    with folder.lock(), folder.new_build() as scratch:
        base = open_base(folder, scratch=scratch)
        if unknown := unwanted - set(base.ids):
            raise InputError(f"The corpus {corpus_name} has no paper {min(unknown)!r}.", fix="Check the id.")
        kept = [row for row, paper_id in enumerate(base.ids) if paper_id not in unwanted]
        if not kept:
            raise InputError("No paper would be left.", fix=f"To remove the corpus, delete {folder.path}.")
        lines = (base.records.line(row) for row in kept)
        return _summary(folder, build_next(folder, lines, len(kept), embedder=embedder, on_progress=on_progress))


def ensure_corpus(
    home: Path,
    name: str,
    *,
    embedder: Embedder,
    on_progress: Progress | None = None,
    server: ChromaServer | None = None,
) -> Corpus:
    """Opens a corpus. The default one is built from the packaged papers at first use; a damaged one is rebuilt.

    With a Chroma `server`, what this does not hold of the corpus is written there first, and searches ask it.

    Raises CorpusError where there is no such corpus, it was indexed with another embedding model, another process is
    building it, or the server fails.
    """
    folder = CorpusFolder(home, name)
    if name != DEFAULT_CORPUS:
        require_known(folder)
    require_model(folder, embedder)
    served = folder.current()
    if served is None or not is_servable(folder, served):
        served = _repair(folder, embedder=embedder, on_progress=on_progress)
    corpus = Corpus(folder.generation(served.generation), name=name, manifest=served, server=server)
    if server is not None:
        share_corpus(corpus, server, on_progress=on_progress)
    return corpus


def share_corpus(corpus: Corpus, server: ChromaServer, *, on_progress: Progress | None = None) -> None:
    """Writes to a Chroma server what it does not hold of a corpus. Raises CorpusError where the server fails."""
    done, total = 0, corpus.manifest.chunks
    if total < MIN_ROWS:
        return

    def advance(count: int) -> None:
        nonlocal done
        done += count
        if on_progress is not None:
            on_progress(done, total, "sharing")

    vectors = np.load(corpus.folder / VECTORS, mmap_mode="r", allow_pickle=False)
    share(server, corpus.manifest, vectors=vectors, chunks=stored_chunks(corpus.folder), on_batch=advance)


def list_corpora(home: Path) -> tuple[CorpusSummary, ...]:
    """The corpora in `home`, sorted by name."""
    folders = (CorpusFolder(home, name) for name in corpus_names(home))
    found = ((folder, folder.current()) for folder in folders)
    return tuple(_summary(folder, manifest) for folder, manifest in found if manifest is not None)


def _repair(folder: CorpusFolder, *, embedder: Embedder, on_progress: Progress | None) -> Manifest:
    """The manifest of a whole generation: another process's, one that CURRENT lost sight of, or a new one."""
    with folder.lock(), folder.new_build() as scratch:
        restore_current(folder)
        require_model(folder, embedder)
        base = open_base(folder, scratch=scratch)
        if base.served is not None:
            return base.served
        lines = (base.records.line(row) for row in range(len(base.records)))
        return build_next(folder, lines, len(base.records), embedder=embedder, on_progress=on_progress)


def _ingest(
    folder: CorpusFolder,
    read: Callable[[OnRepair], Iterable[Paper | Reject]],
    *,
    embedder: Embedder,
    on_progress: Progress | None,
    before_embedding: BeforeEmbedding | None = None,
    rebuild: bool = False,
    duplicates: Duplicates = "merge",
    rejects_file: Path | None = None,
) -> IngestReport:
    if not rebuild:
        require_model(folder, embedder)
    with folder.lock(), folder.new_build() as scratch:
        restore_current(folder)
        base = open_base(folder, scratch=scratch)
        log = Log(rejects_file or folder.rejects)
        papers = log.papers(read(log.on_repair))
        staging = scratch / "incoming.jsonl"
        merged = merge(base.records, papers, base_ids=base.ids, staging=staging, duplicates=duplicates)
        if not merged.incoming_papers and not (rebuild and not log.rejected and len(merged)):
            raise nothing_taken(log)
        served = base.served
        if served is None or rebuild or merged.changes_anything:
            served = build_next(
                folder,
                merged.lines(),
                len(merged),
                embedder=embedder,
                on_progress=on_progress,
                before_embedding=before_embedding,
            )
        write_near_duplicates(folder.near_duplicates, merged.near_duplicates, duplicates=duplicates)
    return IngestReport(
        added=merged.added,
        replaced=merged.replaced,
        unchanged=merged.unchanged,
        duplicates=merged.duplicates,
        rejected=log.rejected,
        rejects=tuple(log.rejects),
        repairs=tuple(log.repairs),
        repaired=dict(log.repaired),
        near_duplicates=merged.near_duplicates,
        rejects_file=log.path,
        total=len(merged),
        generation=served.generation,
    )


def _checked(papers: Iterable[Paper], on_repair: OnRepair) -> Iterator[Paper | Reject]:
    """`papers` as if they had been read from a file."""
    for number, given in enumerate(papers, start=1):
        try:
            paper, changes = paper_from_record(record_of(given))
        except BadRecord as error:
            yield Reject("", number, given.paper_id, error.field, error.reason)
            continue
        for what in changes:
            on_repair(Repair("", number, paper.paper_id, what))
        yield paper


def _summary(folder: CorpusFolder, manifest: Manifest) -> CorpusSummary:
    return CorpusSummary(folder.name, manifest.papers, manifest.model, manifest.generation)
