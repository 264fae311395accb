"""A measurement of speed and size, as values, JSON and a table."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from evals.perf.baselines import Recall
from evals.perf.cold_start import ColdStart
from evals.perf.ingest_rate import IngestRate
from evals.perf.timing import Times

if TYPE_CHECKING:
    from rich.table import Table


@dataclass(frozen=True, slots=True)
class Compared:
    """A stage beside what does its work elsewhere; `ratio` is the stage's median by the baseline's: low is fast."""

    stage: str
    baseline: str
    times: Times
    ratio: float


@dataclass(frozen=True, slots=True)
class PerfReport:
    """All that was measured of a corpus. `stages` are those of `evals.perf.stages`, each over all queries.

    `load` is how many programs wanted a processor at once, on the average of the minute before the end; `processors`
    are those of the machine. `disk_bytes` is what the served generation takes. `ingest` is None where it was not asked
    for.
    """

    corpus: str
    model: str
    papers: int
    chunks: int
    queries: int
    processors: int
    load: float
    stages: Mapping[str, Times]
    compared: tuple[Compared, ...]
    recall: Recall
    disk_bytes: int
    cold_start: ColdStart
    ingest: IngestRate | None


def to_record(report: PerfReport) -> dict[str, object]:
    """The report as plain values, for JSON. Times are in milliseconds, those of the cold start in seconds."""
    stages = {stage: times._asdict() for stage, times in report.stages.items()}
    compared = [asdict(item) | {"times": item.times._asdict()} for item in report.compared]
    recall = report.recall._asdict()
    return asdict(report) | {"stages": stages, "compared": compared, "recall": recall}


def to_table(report: PerfReport) -> "Table":
    """The report as a table for the terminal: what was measured, beside what it is compared with."""
    from rich.table import Table

    title = (
        f"{report.corpus}: {report.papers:,} papers, {report.chunks:,} chunks; {report.queries} queries; "
        f"{report.processors} processors, load {report.load:.1f}"
    )
    table = Table("measured", "citewise", "beside", "that takes", "ratio", title=title)
    for section in (_ingest_rows(report), _query_rows(report), _index_rows(report), _start_rows(report)):
        for row in section:
            table.add_row(*row)
        table.add_section()
    return table


_Row = tuple[str, ...]


def _ingest_rows(report: PerfReport) -> Iterator[_Row]:
    if rate := report.ingest:
        what = f"embedding {rate.papers} papers ({rate.texts:,} texts), papers/s"
        yield what, f"{rate.citewise:.2f}", "the model alone", f"{rate.model:.2f}", f"{rate.ratio:.2f}"
        yield "the same by processor time", "", "", "", f"{rate.processor_ratio:.2f}"


def _query_rows(report: PerfReport) -> Iterator[_Row]:
    for stage, times in report.stages.items():
        rows = [
            (item.baseline, _ms(item.times), f"{item.ratio:.2f}") for item in report.compared if item.stage == stage
        ]
        for number, row in enumerate(rows or [("", "", "")]):
            yield (f"{stage}, ms p50 / p95", _ms(times), *row) if number == 0 else ("", "", *row)


def _index_rows(report: PerfReport) -> Iterator[_Row]:
    recall = report.recall
    yield "HNSW recall@10", f"{recall.at_10:.4f}", "exact search", "1", f"{recall.at_10:.4f}"
    yield f"HNSW recall@{recall.asked}", f"{recall.at_asked:.4f}", "exact search", "1", f"{recall.at_asked:.4f}"
    each = report.disk_bytes / report.papers / 1e3
    yield "index on disk, MB", f"{report.disk_bytes / 1e6:,.0f} ({each:.1f} kB a paper)", "", "", ""


def _start_rows(report: PerfReport) -> Iterator[_Row]:
    start = report.cold_start
    yield "new process: imports, s", f"{start.imports:.2f}", "", "", ""
    yield "opening beyond imports, s", f"{start.opening:.2f}", "", "", ""
    yield "first question beyond imports, s", f"{start.first_question:.2f}", "", "", ""
    yield "first filtered question beyond imports, s", f"{start.first_filtered:.2f}", "", "", ""
    yield "peak memory, MB", "?" if start.peak_mb is None else f"{start.peak_mb:,.0f}", "", "", ""


def _ms(times: Times) -> str:
    return f"{times.p50:.1f} / {times.p95:.1f}"
