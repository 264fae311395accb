"""A measurement of load as plain values and as a table."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from evals.load.run import LoadReport, percentile
from evals.load.sessions import Tally

if TYPE_CHECKING:
    from rich.table import Table


def failures(report: LoadReport) -> list[str]:
    """What must not be: errors, somebody else's answer, a question past capacity that is not told so, a server that
    does not end. Memory and slowness are figures, to be judged by who reads them."""
    steady = [report.tally, *([report.beside_ingest] if report.beside_ingest else [])]
    found = [f"{count} x {error}" for tally in (*steady, report.flood) for error, count in tally.errors.items()]
    strangers = sum(tally.strangers for tally in (*steady, report.flood, report.ending))
    found += [f"{strangers} answers to another question"] if strangers else []
    found += ["the server had to be killed"] if report.exit_code is None else []
    found += [f"{report.left_open} streams of the endpoint left open"] if report.left_open else []
    return found


def to_record(report: LoadReport) -> dict[str, Any]:
    """The report as plain values, for JSON. Times are in seconds, memory in MiB."""
    tallies = {name: _told(getattr(report, name)) for name in ("tally", "flood", "ending", "beside_ingest")}
    return asdict(report) | tallies | {"failures": failures(report)}


def to_table(report: LoadReport) -> "Table":
    """The report as a table for the terminal."""
    from rich.table import Table

    plan = report.plan
    writer = "extractive" if plan.endpoint_seconds is None else f"an endpoint that takes {plan.endpoint_seconds:g} s"
    title = (
        f"{plan.sessions} sessions for {plan.seconds:g} s, {report.papers:,} papers, writer: {writer}; "
        f"{report.processors} processors, load {report.machine_load:.1f}"
    )
    table = Table("measured", "result", title=title)
    for row in _rows(report):
        table.add_row(*row)
    return table


def _rows(report: LoadReport) -> Iterator[tuple[str, str]]:
    yield "answers", _answers(report.tally, report.plan.seconds)
    yield "memory", f"{report.memory[0]:.0f} to {report.memory[1]:.0f} MiB ({report.growth:+.1%})"
    if report.beside_ingest:
        ratio = percentile(report.beside_ingest.seconds, 0.95) / percentile(report.tally.seconds, 0.95)
        yield "beside an ingest", f"{_answers(report.beside_ingest, None)}; p95 x {ratio:.2f}"
    refused = sum(report.flood.refused.values())
    yield f"{report.plan.flood} at once", f"{len(report.flood.seconds)} answered, {refused} told that the queue is full"
    ended = f"{len(report.ending.seconds)} finished, {sum(report.ending.errors.values())} cancelled"
    yield "asked to end", f"{ended}; gone after {report.end_seconds:.1f} s"
    yield "failures", "; ".join(failures(report)) or "none"


def _answers(tally: Tally, seconds: float | None) -> str:
    p50, p95 = percentile(tally.seconds, 0.5), percentile(tally.seconds, 0.95)
    rate = f", {len(tally.seconds) / seconds:.1f} a second" if seconds else ""
    return f"{len(tally.seconds):,}{rate}; p50 {p50:.2f} s, p95 {p95:.2f} s, most {max(tally.seconds, default=0):.2f} s"


def _told(tally: Tally | None) -> dict[str, Any] | None:
    if tally is None:
        return None
    times = {f"p{int(100 * share)}": percentile(tally.seconds, share) for share in (0.5, 0.95, 0.99, 1.0)}
    return {
        "answers": len(tally.seconds),
        "seconds": times,
        "outcomes": dict(tally.outcomes),
        "errors": dict(tally.errors),
        "refused": dict(tally.refused),
        "strangers": tally.strangers,
    }
