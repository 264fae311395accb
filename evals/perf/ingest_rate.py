"""How fast abstracts are embedded, beside the embedding model alone on the same texts."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, process_time

import numpy as np

from rag.building import Progress, embed_papers
from rag.chunking import chunk_abstract
from rag.corpus import Corpus
from rag.domain import Paper
from rag.embedding import Embedder, Vectors
from rag.embedding_cache import EmbeddingCache
from rag.records import to_line

_SEED = 1
_GROUP = 32
"""Papers that are embedded in turns: by citewise, then by the model alone."""


@dataclass(frozen=True, slots=True)
class IngestRate:
    """Papers a second: `citewise` reads their records, cuts, embeds, caches and writes; `model` embeds alone.

    Both embed the same `texts` texts: chunks, sentences and titles. `ratio` is citewise's rate by that of the model,
    `processor_ratio` the same by processor time, which other programs on the machine hardly change.
    """

    papers: int
    texts: int
    citewise: float
    model: float
    ratio: float
    processor_ratio: float


def measure_ingest_rate(
    corpus: Corpus, *, embedder: Embedder, papers: int, scratch: Path, on_progress: Progress
) -> IngestRate:
    """Embeds a sample of `papers` papers of `corpus` twice, with a cache that knows none of them."""
    count = min(papers, len(corpus))
    rows = np.random.default_rng(_SEED).choice(len(corpus), size=count, replace=False).tolist()
    recorder, citewise, model, texts = _Recorder(embedder), _Clock(), _Clock(), 0
    embedder.embed(["warm up"])
    chunk_abstract(Paper("", "", (), "A sentence to warm up by. " * 100))  # long enough to load the splitter
    with EmbeddingCache(scratch / "embeddings.sqlite3", embedder=recorder) as cache:
        for first, group in _groups(rows):
            build = scratch / f"papers-{first}"
            build.mkdir()
            lines = [to_line(corpus.paper(row)) for row in group]
            recorder.texts.clear()
            with citewise:
                embed_papers(build, lines, cache=cache, chunk_tokens=corpus.manifest.chunk_tokens)
            with model:
                embedder.embed(recorder.texts)
            texts += len(recorder.texts)
            on_progress(first + len(group), count, "embedding a sample twice")
    return IngestRate(
        count,
        texts,
        citewise=count / citewise.wall,
        model=count / model.wall,
        ratio=model.wall / citewise.wall,
        processor_ratio=model.processor / citewise.processor,
    )


class _Clock:
    """Adds up the seconds spent inside it: by the wall, and of the process's processor time."""

    def __init__(self) -> None:
        self.wall = self.processor = 0.0

    def __enter__(self) -> None:
        self.wall -= perf_counter()
        self.processor -= process_time()

    def __exit__(self, *_: object) -> None:
        self.wall += perf_counter()
        self.processor += process_time()


def _groups(rows: Sequence[int]) -> Iterator[tuple[int, Sequence[int]]]:
    return ((first, rows[first : first + _GROUP]) for first in range(0, len(rows), _GROUP))


class _Recorder:
    """An embedder that keeps what it was asked for."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder, self.texts = embedder, list[str]()
        self.model_id, self.batch_size = embedder.model_id, embedder.batch_size

    @property
    def dimension(self) -> int:
        return self._embedder.dimension

    def embed(self, texts: Sequence[str], *, on_batch: Callable[[int], object] | None = None) -> Vectors:
        self.texts += texts
        return self._embedder.embed(texts, on_batch=on_batch)
