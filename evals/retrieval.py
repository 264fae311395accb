"""Retrieval benchmarks: how well words, vectors and both find the relevant papers, and how fast."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from time import perf_counter
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from evals.benchmarks import Query, digest, read_benchmark_papers, read_gold, read_queries
from evals.metrics import Estimate, bootstrap, ndcg, recall, reciprocal_rank
from rag.building import Progress
from rag.corpus import Corpus
from rag.embedding import Embedder
from rag.errors import InputError
from rag.ingest import ensure_corpus, ingest_papers, list_corpora
from rag.reranking import Reranker
from rag.retrieval import HybridRetriever

if TYPE_CHECKING:
    from rich.table import Table

Mode = Literal["keyword", "dense", "rrf", "hybrid", "hybrid+rerank"]
MODES: tuple[Mode, ...] = ("keyword", "dense", "rrf", "hybrid")
"""Words alone, vectors alone, both by plain reciprocal rank fusion, and both as the product fuses them. With a reranker
there is one more, which reranks the last."""
RRF_K = 60
METRICS = ("nDCG@10", "recall@1", "recall@5", "recall@10", "MRR@10")
DEPTH = 10
_SEED = 0
_CHUNKS = 100
"""Chunks that dense search looks at, so that ten papers remain of them when each has several."""


@dataclass(frozen=True, slots=True)
class ModeResult:
    """One mode's scores over the queries of a group, and its time a query in milliseconds."""

    mode: Mode
    metrics: Mapping[str, Estimate]
    ms_p50: float
    ms_p95: float


@dataclass(frozen=True, slots=True)
class Difference:
    """How much better `mode` is than `other`, query by query."""

    mode: Mode
    other: Mode
    metrics: Mapping[str, Estimate]


@dataclass(frozen=True, slots=True)
class DatasetResult:
    """The results on one set of queries. `documents_per_second` is of indexing, None where the index was there."""

    name: str
    documents: int
    queries: int
    documents_per_second: float | None
    modes: tuple[ModeResult, ...]
    differences: tuple[Difference, ...]


def run(
    datasets: Sequence[Path],
    *,
    gold: Path | None = None,
    corpus: Corpus | None = None,
    modes: Sequence[Mode] = MODES,
    home: Path,
    embedder: Embedder,
    reranker: Reranker | None = None,
    limit: int | None = None,
    on_progress: Progress | None = None,
) -> list[DatasetResult]:
    """All results: one a dataset, and one a group of the questions in `gold`, which are asked of `corpus`.

    With a `reranker`, the mode "hybrid+rerank" comes on top. Of a dataset `limit` queries are asked, drawn by a fixed
    seed.
    Raises InputError where a file cannot be used or `gold` comes without `corpus`.
    """
    results = [
        evaluate_dataset(
            folder,
            modes=modes,
            home=home,
            embedder=embedder,
            reranker=reranker,
            limit=limit,
            on_progress=on_progress,
        )
        for folder in datasets
    ]
    if gold is not None:
        if corpus is None:
            raise InputError("Gold questions need a corpus to ask.", fix="Name it with --corpus.")
        results += evaluate_gold(gold, corpus=corpus, embedder=embedder, reranker=reranker, modes=modes)
    return results


def evaluate_dataset(
    folder: Path,
    *,
    modes: Sequence[Mode] = MODES,
    home: Path,
    embedder: Embedder,
    reranker: Reranker | None = None,
    limit: int | None = None,
    on_progress: Progress | None = None,
) -> DatasetResult:
    """Scores of `modes` on a benchmark: `corpus.jsonl[.gz]`, `queries.jsonl`, `qrels.tsv`, laid out as BEIR's are.

    The papers are ingested as any others are, into a corpus below `home / "benchmarks"` that later runs use again.
    Raises InputError where a file is missing or cannot be read.
    """
    queries = list(read_queries(folder))
    if limit is not None and limit < len(queries):
        queries = Random(_SEED).sample(queries, limit)  # noqa: S311
    corpus, rate = _open_corpus(folder, home=home / "benchmarks", embedder=embedder, on_progress=on_progress)
    try:
        return _evaluate(
            folder.name, queries, corpus=corpus, embedder=embedder, reranker=reranker, modes=modes, rate=rate
        )
    finally:
        corpus.close()


def evaluate_gold(
    gold: Path, *, corpus: Corpus, embedder: Embedder, reranker: Reranker | None = None, modes: Sequence[Mode] = MODES
) -> list[DatasetResult]:
    """Scores of `modes` on gold questions, a result a group: single, its variants, cross by kind, follow-up.

    Follow-ups are searched by their standalone form. Grade 2 are the papers that answer, 1 those that answer partly;
    recall and MRR count the former.
    """
    groups: dict[str, list[Query]] = {}
    for query in read_gold(gold):
        groups.setdefault(query.group, []).append(query)
    return [
        _evaluate(
            f"{gold.stem}/{group}",
            queries,
            corpus=corpus,
            embedder=embedder,
            reranker=reranker,
            modes=modes,
            rate=None,
        )
        for group, queries in groups.items()
    ]


def _evaluate(
    name: str,
    queries: Sequence[Query],
    *,
    corpus: Corpus,
    embedder: Embedder,
    reranker: Reranker | None,
    modes: Sequence[Mode],
    rate: float | None,
) -> DatasetResult:
    reranked: tuple[Mode, ...] = ("hybrid+rerank",) if reranker else ()
    modes = (*modes, *reranked)
    scores: dict[Mode, NDArray[np.float64]] = {}
    results = []
    for mode in modes:
        search = _searcher(mode, corpus=corpus, embedder=embedder, reranker=reranker)
        search(queries[0].text if queries else "warm up")  # opens what is loaded at first use, outside the clock
        values, times = [], []
        for query in queries:
            start = perf_counter()
            found = search(query.text)
            times.append((perf_counter() - start) * 1000)
            values.append(_score([paper for paper in found if paper != query.itself], query))
        scores[mode] = np.array(values).reshape(len(queries), len(METRICS))
        p50, p95 = np.quantile(times, [0.5, 0.95]).tolist() if times else (0.0, 0.0)
        results.append(ModeResult(mode, _estimates(scores[mode]), p50, p95))
    pairs: list[tuple[Mode, Mode]] = [("hybrid", mode) for mode in MODES if mode != "hybrid"]
    pairs.append(("hybrid+rerank", "hybrid"))
    differences = [
        Difference(better, worse, _estimates(scores[better] - scores[worse]))
        for better, worse in pairs
        if {better, worse} <= set(scores)
    ]
    return DatasetResult(name, len(corpus), len(queries), rate, tuple(results), tuple(differences))


def _searcher(
    mode: Mode, *, corpus: Corpus, embedder: Embedder, reranker: Reranker | None
) -> Callable[[str], list[str]]:
    """A function from a query to the ids of the best papers, one more than are scored: one may be the query itself."""

    def keyword(text: str) -> list[int]:
        rows: list[int] = corpus.keyword.search(text, n=_CHUNKS).paper_rows.tolist()
        return rows

    def dense(text: str) -> list[int]:
        hits = corpus.nearest_chunks(embedder.embed([text])[0], n=_CHUNKS)
        return list(dict.fromkeys(hits.paper_rows.tolist()))

    def ids(rows: Sequence[int]) -> list[str]:
        return [corpus.paper_ids[row] for row in rows[: DEPTH + 1]]

    if mode == "keyword":
        return lambda text: ids(keyword(text))
    if mode == "dense":
        return lambda text: ids(dense(text))
    if mode == "rrf":
        return lambda text: ids(reciprocal_rank_fusion([keyword(text), dense(text)]))
    retriever = HybridRetriever(corpus=corpus, embedder=embedder, reranker=reranker if mode not in MODES else None)
    return lambda text: [scored.paper.paper_id for scored in retriever.search(text, k=DEPTH + 1)]


def reciprocal_rank_fusion(rankings: Sequence[Sequence[int]]) -> list[int]:
    """Rows by the sum of 1 / (60 + rank) over the rankings (Cormack et al. 2009, section 2); ties: lower row first."""
    scores: dict[int, float] = {}
    for ranking in rankings:
        for rank, row in enumerate(ranking, start=1):
            scores[row] = scores.get(row, 0.0) + 1 / (RRF_K + rank)
    return sorted(scores, key=lambda row: (-scores[row], row))


def _score(ranking: Sequence[str], query: Query) -> tuple[float, ...]:
    """The METRICS of one query, in their order."""
    recalls = (recall(ranking, query.gains, k=k, least=query.least) for k in (1, 5, 10))
    rank = reciprocal_rank(ranking, query.gains, k=DEPTH, least=query.least)
    return ndcg(ranking, query.gains, k=DEPTH), *recalls, rank


def _estimates(values: NDArray[np.float64]) -> dict[str, Estimate]:
    return {metric: bootstrap(values[:, column]) for column, metric in enumerate(METRICS)}


def _open_corpus(
    folder: Path, *, home: Path, embedder: Embedder, on_progress: Progress | None
) -> tuple[Corpus, float | None]:
    """The corpus of a benchmark, and how many papers a second were indexed if that happened now."""
    packed = folder / "corpus.jsonl.gz"
    path = packed if packed.exists() else folder / "corpus.jsonl"
    name = f"{re.sub('[^A-Za-z0-9]', '-', folder.name)[:40] or 'set'}-{digest(path)}"
    rate = None
    if name not in {summary.name for summary in list_corpora(home)}:
        start = perf_counter()
        report = ingest_papers(home, name, read_benchmark_papers(path), embedder=embedder, on_progress=on_progress)
        rate = report.total / (perf_counter() - start)
    return ensure_corpus(home, name, embedder=embedder, on_progress=on_progress), rate


def to_record(result: DatasetResult) -> dict[str, object]:
    """A result as plain values, for JSON."""
    return {
        "dataset": result.name,
        "documents": result.documents,
        "queries": result.queries,
        "documents_per_second": result.documents_per_second,
        "modes": [
            {"mode": mode.mode, "ms_p50": mode.ms_p50, "ms_p95": mode.ms_p95} | _metrics_record(mode.metrics)
            for mode in result.modes
        ],
        "differences": [
            {"mode": difference.mode, "minus": difference.other} | _metrics_record(difference.metrics)
            for difference in result.differences
        ],
    }


def to_table(results: Sequence[DatasetResult]) -> "Table":
    """The results as a table for the terminal: a row a mode, and a row a paired difference, each with its interval."""
    from rich.table import Table

    table = Table("set", "n", "mode", *METRICS, "ms p50 / p95", "docs/s")
    for result in results:
        rate = "" if result.documents_per_second is None else f"{result.documents_per_second:.0f}"
        for mode in result.modes:
            cells = [
                f"{estimate.mean:.3f} [{estimate.low:.3f}, {estimate.high:.3f}]" for estimate in mode.metrics.values()
            ]
            times = f"{mode.ms_p50:.1f} / {mode.ms_p95:.1f}"
            table.add_row(result.name, str(result.queries), mode.mode, *cells, times, rate)
        for pair in result.differences:
            cells = [
                f"{estimate.mean:+.3f} [{estimate.low:+.3f}, {estimate.high:+.3f}]"
                for estimate in pair.metrics.values()
            ]
            table.add_row(result.name, str(result.queries), f"{pair.mode} - {pair.other}", *cells, "", "")
        table.add_section()
    return table


def _metrics_record(metrics: Mapping[str, Estimate]) -> dict[str, object]:
    return {name: {"mean": e.mean, "low": e.low, "high": e.high} for name, e in metrics.items()}
