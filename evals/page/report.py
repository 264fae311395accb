"""A measurement of the page beside its targets: as values, as JSON and as a table."""

import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from evals.page.asking import Asked, Readers
from evals.page.loading import Load
from evals.perf.timing import Times, summarise

if TYPE_CHECKING:
    from rich.table import Table

_LISTS = ("loads", "later", "bare", "bare_later", "hasty", "asked")
USABLE_MS, CITED_MS, WEIGHT_KB = 1_500, 200, 600


@dataclass(frozen=True, slots=True)
class PageReport:
    """All that was seen. `loads` are first loads of our page, `later` those of the same readers when they come back;
    `bare` and `bare_later` are the same of Gradio's chat as it comes.

    `hasty` are questions that new readers asked as soon as they could, `asked` those that one reader asked one by one,
    `together` those that `readers` asked at the same moment. `machine_load` is how many programs wanted a processor at
    once, on the average of the last minute.
    """

    corpus: str
    papers: int
    processors: int
    machine_load: float
    loads: Sequence[Load]
    later: Sequence[Load]
    bare: Sequence[Load]
    bare_later: Sequence[Load]
    hasty: Sequence[Asked]
    asked: Sequence[Asked]
    readers: int
    together: Readers


class _Row(NamedTuple):
    """A figure beside its target, "" for none, and the same of the bare page."""

    name: str
    value: str
    target: str = ""
    bare: str = ""
    ratio: str = ""


def failures(report: PageReport) -> list[str]:
    """What must not be: requests to other hosts, questions without an end, readers without their own answer. Times and
    weight are figures, to be judged by who reads them."""
    found = [f"asked another host: {url}" for load in report.loads for url in load.outside]
    unanswered = sum(not asked.outcome for asked in (*report.hasty, *report.asked))
    found += [f"{unanswered} questions without an end of their answer"] if unanswered else []
    return found + list(report.together.errors)


def to_record(report: PageReport) -> dict[str, Any]:
    """The report as plain values, for JSON: milliseconds, for `together` seconds, and bytes."""
    lists = {name: [item._asdict() for item in getattr(report, name)] for name in _LISTS}
    return asdict(report) | lists | {"together": report.together._asdict(), "failures": failures(report)}


def to_table(report: PageReport) -> "Table":
    """The report as a table for the terminal."""
    from rich.table import Table

    title = (
        f"{report.corpus}: {report.papers:,} papers; {len(report.loads)} loads; {report.processors} processors, "
        f"load {report.machine_load:.1f}"
    )
    table = Table("measured", "citewise", "target", "bare Gradio", "ratio", title=title)
    for rows in (_load_rows(report), _answer_rows(report)):
        for row in rows:
            table.add_row(*row)
        table.add_section()
    return table


def _load_rows(report: PageReport) -> Iterator[_Row]:
    first, later = (report.loads, report.bare), (report.later, report.bare_later)
    yield _usable_row("usable, ms p50 / p95", *first, target=f"{USABLE_MS:,}")
    yield _usable_row("  when one comes back", *later)
    yield _size_row("weight as sent, KB", *first, lambda load: load.sent / 1000, target=f"{WEIGHT_KB}")
    yield _size_row("  of it the document", *first, lambda load: load.document / 1000)
    yield _size_row("  unpacked", *first, lambda load: load.decoded / 1000)
    yield _size_row("  when one comes back", *later, lambda load: load.sent / 1000)
    yield _size_row("requests", *first, lambda load: load.requests)
    outside = [sum(len(load.outside) for load in loads) for loads in (report.loads, report.bare)]
    yield _Row("requests to other hosts", str(outside[0]), "0", str(outside[1]))


def _answer_rows(report: PageReport) -> Iterator[_Row]:
    cited = [asked.cited for asked in report.asked if asked.cited is not None]
    yield _Row(f"first citation of {len(cited)} answers, ms p50 / p95", _ms(summarise(cited)), f"{CITED_MS}")
    ended = sum(bool(asked.outcome) for asked in report.hasty)
    yield _Row("asked as soon as usable", f"{ended} answered", f"{len(report.hasty)}")
    waited = summarise([1000 * seconds for seconds in report.together.seconds])
    yield _Row(f"{report.readers} readers at once", f"{len(report.together.seconds)} answered", f"{report.readers}")
    yield _Row("  from asking to the end, ms p50 / p95", _ms(waited))
    yield _Row("failures", "; ".join(failures(report)) or "none", "none")


def _usable_row(name: str, loads: Sequence[Load], bare: Sequence[Load], *, target: str = "") -> _Row:
    ours, theirs = (summarise([load.usable for load in each]) for each in (loads, bare))
    return _Row(name, _ms(ours), target, _ms(theirs), f"{ours.p50 / theirs.p50:.2f}")


def _size_row(
    name: str, loads: Sequence[Load], bare: Sequence[Load], size: Callable[[Load], float], *, target: str = ""
) -> _Row:
    ours, theirs = (statistics.median(map(size, each)) for each in (loads, bare))
    return _Row(name, f"{ours:,.0f}", target, f"{theirs:,.0f}", f"{ours / theirs:.2f}")


def _ms(times: Times) -> str:
    return f"{times.p50:,.0f} / {times.p95:,.0f}"
