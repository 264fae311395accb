"""The whole measurement of a corpus, step by step."""

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from evals.perf.baselines import Recall, exact_numpy, raw_chroma, recall_of
from evals.perf.cold_start import measure_cold_start
from evals.perf.ingest_rate import measure_ingest_rate
from evals.perf.report import Compared, PerfReport
from evals.perf.stages import StagedSearch
from evals.perf.timing import Times, summarise, take_turns
from rag.building import Progress
from rag.corpus import Corpus
from rag.embedding import Embedder, Vectors
from rag.errors import InputError
from rag.folding import fold
from rag.retrieval import CANDIDATES
from rag.store import MIN_ROWS

K = 8
"""Papers that a search is asked for, as a question asks for them."""
LLAMA_INDEX_CHUNKS = 20_000
"""LlamaIndex's own store holds a vector as Python numbers, 12 kB each, and compares them one by one in Python."""
_CHROMA, _EXACT, _LLAMA_INDEX = "raw chromadb query", "exact numpy search", "LlamaIndex VectorStoreIndex retriever"


class _Probe(NamedTuple):
    """A query and its vector."""

    text: str
    vector: Vectors


def measure(
    corpus: Corpus,
    *,
    home: Path,
    embedder: Embedder,
    queries: Sequence[str],
    ingest_papers: int,
    on_progress: Progress = lambda done, total, what: None,
) -> PerfReport:
    """Measures a corpus of `home` by `queries`, and the embedding of `ingest_papers` of its papers (0: none).

    The model embeds these twice, and LlamaIndex is given at most 20,000 chunks. Scratch files are below `home`. Raises
    InputError for a corpus of one chunk, which has no vector index.
    """
    if corpus.manifest.chunks < MIN_ROWS:
        raise InputError(f"The corpus {corpus.name} is too small to measure.", fix="Ingest more abstracts.")
    cold_start = measure_cold_start(home, corpus.name, question=queries[0], word=_title_word(corpus))
    with tempfile.TemporaryDirectory(prefix="perf-", dir=home) as scratch:
        searches = _searches(corpus, embedder=embedder, queries=queries, scratch=Path(scratch), on_progress=on_progress)
        ingest = None
        if ingest_papers:
            ingest = measure_ingest_rate(
                corpus, embedder=embedder, papers=ingest_papers, scratch=Path(scratch), on_progress=on_progress
            )
    return PerfReport(
        corpus=corpus.name,
        model=corpus.manifest.model,
        papers=len(corpus),
        chunks=corpus.manifest.chunks,
        queries=len(queries),
        processors=os.cpu_count() or 1,
        load=os.getloadavg()[0],
        stages=searches.stages,
        compared=searches.compared,
        recall=searches.recall,
        disk_bytes=sum(path.stat().st_size for path in corpus.folder.rglob("*") if path.is_file()),
        cold_start=cold_start,
        ingest=ingest,
    )


class _Searches(NamedTuple):
    """What asking the queries showed."""

    stages: Mapping[str, Times]
    compared: tuple[Compared, ...]
    recall: Recall


def _searches(
    corpus: Corpus, *, embedder: Embedder, queries: Sequence[str], scratch: Path, on_progress: Progress
) -> _Searches:
    """Asks each query of citewise and of the baselines in turns."""
    from evals.perf.llama_index_baseline import llama_index_retriever

    probes = [_Probe(query, embedder.embed([query])[0]) for query in queries]
    n = min(CANDIDATES, corpus.manifest.chunks)
    staged, exact = StagedSearch(corpus=corpus, embedder=embedder, k=K), exact_numpy(corpus, n=n)
    retrieve = llama_index_retriever(corpus, embedder=embedder, k=K, most=LLAMA_INDEX_CHUNKS)
    with raw_chroma(corpus, n=n, scratch=scratch) as chroma:
        contestants: dict[str, Callable[[_Probe], object]] = {
            "citewise": lambda probe: staged(probe.text),
            _CHROMA: lambda probe: chroma(probe.vector),
            _EXACT: lambda probe: exact(probe.vector),
            _LLAMA_INDEX: lambda probe: retrieve(probe.text),
        }
        for contestant in contestants.values():
            contestant(probes[0])  # loads what is loaded at first use
        staged.forget()
        times = take_turns(probes, contestants, on_item=lambda done: on_progress(done, len(probes), "asking"))
        recall = recall_of(chroma, exact, corpus=corpus, queries=[probe.vector for probe in probes])
    stages = {stage: summarise(milliseconds) for stage, milliseconds in staged.milliseconds.items()}
    baselines = {name: summarise(times[name]) for name in (_CHROMA, _EXACT, _LLAMA_INDEX)}
    return _Searches(stages, tuple(_compare(stages, baselines, chunks=corpus.manifest.chunks)), recall)


def _compare(stages: Mapping[str, Times], baselines: Mapping[str, Times], *, chunks: int) -> Iterator[Compared]:
    """Each baseline beside the stage that does its work; LlamaIndex's embeds the query and searches, as ours does."""
    for stage, name in (("dense", _CHROMA), ("dense", _EXACT), ("search", _LLAMA_INDEX)):
        part = f" ({LLAMA_INDEX_CHUNKS:,} chunks)" if name == _LLAMA_INDEX and chunks > LLAMA_INDEX_CHUNKS else ""
        yield Compared(stage, name + part, baselines[name], stages[stage].p50 / baselines[name].p50)


def _title_word(corpus: Corpus) -> str:
    """A word for the filter of the first filtered question: the longest in the first title that there is."""
    titles = (fold(corpus.paper(row).title) for row in range(len(corpus)))
    return max(next(filter(None, titles), "none").split(), key=len)
