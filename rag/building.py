"""Builds a generation: from records to everything that a corpus stores about them."""

import gzip
import json
import shutil
from array import array
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.format import open_memmap
from numpy.typing import DTypeLike, NDArray

from rag import generation as files
from rag.chunking import chunk_abstract, text_to_embed
from rag.domain import Chunk, Paper, Span
from rag.embedding_cache import EmbeddingCache
from rag.embedding_cost import BeforeEmbedding, EmbeddingNeed
from rag.facets import Facets
from rag.generation import Manifest, code_version, mark_files
from rag.keyword import KeywordIndex
from rag.record_file import RecordFile, RecordWriter
from rag.records import from_line
from rag.sentences import split_sentences
from rag.store import MIN_ROWS, ChromaStore, ChunkRecord
from rag.tokens import count_tokens

Progress = Callable[[int, int, str], object]
"""Told how much of what is done: (done, total, "embedding")."""

BYTES_PER_PAPER = 45_000
"""Disk that an abstract of usual length takes with its index (34 kB) and its cached embeddings (10 kB), with vectors
of USUAL_DIMENSION numbers."""
USUAL_DIMENSION = 384
_PAPERS = 256
"""Papers whose texts are embedded in one go."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Which rows belong to which paper."""

    records: RecordFile
    chunks: NDArray[np.int32]
    """Paper row, start, end of each chunk; shape (chunks, 3)."""
    sentence_starts: NDArray[np.int64]
    """The first sentence of each paper, and behind them how many there are; shape (papers + 1,)."""
    titles: int

    @property
    def texts(self) -> int:
        """How many texts are to be embedded."""
        return len(self.chunks) + int(self.sentence_starts[-1]) + self.titles


@dataclass(frozen=True, slots=True)
class _Group:
    """The texts of some papers to embed, and the rows of the arrays that their vectors go to."""

    chunk_rows: slice
    chunks: list[str]
    sentence_rows: slice
    sentences: list[str]
    title_rows: list[int]
    titles: list[str]


def build_generation(
    build: Path,
    lines: Iterable[bytes],
    *,
    number: int,
    cache: EmbeddingCache,
    chunk_tokens: int,
    on_progress: Progress,
    before_embedding: BeforeEmbedding | None = None,
) -> Manifest:
    """Writes generation `number` of the records `lines` into the empty folder `build`, verified, and describes it.

    Raises CorpusError where the embeddings or the vector index come out wrong, EndpointError where an endpoint that
    embeds fails; `build` is then of no use.
    """
    layout = embed_papers(
        build,
        lines,
        cache=cache,
        chunk_tokens=chunk_tokens,
        on_progress=on_progress,
        before_embedding=before_embedding,
    )
    KeywordIndex.build(layout.records.papers()).save(build / files.KEYWORD)
    Facets.build(layout.records.papers()).save(build / files.FACETS)
    _write_store(build, layout, on_progress=on_progress)
    return Manifest(
        format=files.FORMAT,
        generation=number,
        papers=len(layout.records),
        chunks=len(layout.chunks),
        sentences=int(layout.sentence_starts[-1]),
        model=cache.embedder.model_id,
        dimension=cache.embedder.dimension,
        chunk_tokens=chunk_tokens,
        code=code_version(),
        files=mark_files(build),
    )


def embed_papers(
    build: Path,
    lines: Iterable[bytes],
    *,
    cache: EmbeddingCache,
    chunk_tokens: int,
    on_progress: Progress = lambda done, total, what: None,
    before_embedding: BeforeEmbedding | None = None,
) -> Layout:
    """The first half of a build: the records `lines`, cut, and the vectors of all their texts, written into `build`."""
    layout = _write_papers(build, lines, chunk_tokens=chunk_tokens)
    if before_embedding is not None:
        before_embedding(_need(layout, cache))
    _write_vectors(build, layout, cache=cache, on_progress=on_progress)
    return layout


def embedded_texts(folder: Path) -> Iterator[list[str]]:
    """All texts whose vectors the generation in `folder` holds, in lists of some hundred papers."""
    for group in _groups(_read_layout(folder)):
        yield [*group.chunks, *group.sentences, *group.titles]


def stored_chunks(folder: Path) -> Iterator[ChunkRecord]:
    """The chunks of the generation in `folder`, as its vector index holds them."""
    return _chunk_records(_read_layout(folder))


def _read_layout(folder: Path) -> Layout:
    return Layout(
        records=RecordFile(folder / files.RECORDS, offsets=np.load(folder / files.OFFSETS, allow_pickle=False)),
        chunks=np.load(folder / files.CHUNKS, allow_pickle=False),
        sentence_starts=np.load(folder / files.SENTENCE_STARTS, allow_pickle=False),
        titles=0,
    )


def _write_papers(build: Path, lines: Iterable[bytes], *, chunk_tokens: int) -> Layout:
    """Records, their ids, and where their chunks and sentences are."""
    ids: list[str] = []
    chunks, starts, titles = array("i"), array("q", [0]), 0
    with (build / files.RECORDS).open("wb") as file:
        writer = RecordWriter(file)
        for line in lines:
            row, paper = writer.append(line), from_line(line)
            ids.append(paper.paper_id)
            for chunk in chunk_abstract(paper, chunk_tokens=chunk_tokens):
                chunks.extend((row, *chunk.span))
            starts.append(starts[-1] + len(split_sentences(paper.abstract)))
            titles += bool(paper.title)
    with (build / files.RECORDS).open("rb") as source, gzip.open(build / files.BACKUP, "wb", 6) as copy:
        shutil.copyfileobj(source, copy)
    layout = Layout(
        records=RecordFile(build / files.RECORDS, offsets=writer.offsets()),
        chunks=np.array(chunks, dtype=np.int32).reshape(-1, 3),
        sentence_starts=np.array(starts, dtype=np.int64),
        titles=titles,
    )
    (build / files.IDS).write_text(json.dumps(ids))
    np.save(build / files.OFFSETS, layout.records.offsets)
    np.save(build / files.CHUNKS, layout.chunks)
    np.save(build / files.SENTENCE_STARTS, layout.sentence_starts)
    return layout


def _write_vectors(build: Path, layout: Layout, *, cache: EmbeddingCache, on_progress: Progress) -> None:
    """The vectors of chunks, sentences and titles, written as they come so that memory stays bounded."""
    dimension, papers = cache.embedder.dimension, len(layout.records)
    chunk_vectors = _new_array(build / files.VECTORS, np.float32, (len(layout.chunks), dimension))
    shape = (int(layout.sentence_starts[-1]), dimension)
    sentence_vectors = _new_array(build / files.SENTENCE_VECTORS, np.float16, shape)
    title_vectors = _new_array(build / files.TITLE_VECTORS, np.float16, (papers, dimension))
    done = 0

    def advance(count: int) -> None:
        nonlocal done
        done += count
        on_progress(done, layout.texts, "embedding")

    for group in _groups(layout):
        vectors = cache.embed([*group.chunks, *group.sentences, *group.titles], on_batch=advance)
        ends = len(group.chunks), len(group.chunks) + len(group.sentences)
        chunk_vectors[group.chunk_rows] = vectors[: ends[0]]
        sentence_vectors[group.sentence_rows] = vectors[ends[0] : ends[1]]
        title_vectors[group.title_rows] = vectors[ends[1] :]
    for array_ in (chunk_vectors, sentence_vectors, title_vectors):
        array_.flush()


def _need(layout: Layout, cache: EmbeddingCache) -> EmbeddingNeed:
    """What is to be embedded. A text that is in several groups of papers and in no cache counts once for each."""
    texts = tokens = 0
    for group in _groups(layout):
        missing = cache.missing([*group.chunks, *group.sentences, *group.titles])
        texts += len(missing)
        tokens += sum(map(count_tokens, missing))
    return EmbeddingNeed(texts=texts, tokens=tokens)


def _groups(layout: Layout) -> Iterator[_Group]:
    papers = len(layout.records)
    first_chunk = np.searchsorted(layout.chunks[:, 0], np.arange(papers + 1))
    for first in range(0, papers, _PAPERS):
        last = min(first + _PAPERS, papers)
        batch = [layout.records.paper(row) for row in range(first, last)]
        chunk_rows = slice(int(first_chunk[first]), int(first_chunk[last]))
        titled = [row for row in range(first, last) if batch[row - first].title]
        yield _Group(
            chunk_rows=chunk_rows,
            chunks=[
                text_to_embed(batch[row - first], chunk) for row, chunk in _chunks(layout, chunk_rows, batch, first)
            ],
            sentence_rows=slice(int(layout.sentence_starts[first]), int(layout.sentence_starts[last])),
            sentences=[paper.abstract[a:b] for paper in batch for a, b in split_sentences(paper.abstract)],
            title_rows=titled,
            titles=[batch[row - first].title for row in titled],
        )


def _chunks(layout: Layout, rows: slice, papers: list[Paper], first: int) -> Iterator[tuple[int, Chunk]]:
    """The chunks of the table's `rows` with their paper rows; `papers` begins with the paper of row `first`."""
    ordinal, previous = 0, -1
    for row, start, end in layout.chunks[rows].tolist():
        ordinal = ordinal + 1 if row == previous else 0
        previous, paper = row, papers[row - first]
        yield row, Chunk(paper.paper_id, ordinal, paper.abstract[start:end], Span(start, end))


def _write_store(build: Path, layout: Layout, *, on_progress: Progress) -> None:
    """The vector index, read back and compared."""
    vectors = np.load(build / files.VECTORS, mmap_mode="r", allow_pickle=False)
    if len(vectors) < MIN_ROWS:
        return
    done = 0

    def advance(count: int) -> None:
        nonlocal done
        done += count
        on_progress(done, len(vectors), "indexing")

    folder = build / files.CHROMA
    folder.mkdir()
    store = ChromaStore.build(folder, vectors=vectors, chunks=_chunk_records(layout), on_batch=advance)
    try:
        store.verify(vectors)
    finally:
        store.close()


def _chunk_records(layout: Layout) -> Iterator[ChunkRecord]:
    row, paper = -1, None
    for chunk_row, start, end in layout.chunks.tolist():
        if paper is None or chunk_row != row:
            row, paper = chunk_row, layout.records.paper(chunk_row)
        yield ChunkRecord(paper.paper_id, paper.abstract[start:end], start, end)


def _new_array(path: Path, dtype: DTypeLike, shape: tuple[int, int]) -> "np.memmap[Any, Any]":
    """An array of zeros in `path` that is written through memory mapping."""
    return open_memmap(path, mode="w+", dtype=dtype, shape=shape)
