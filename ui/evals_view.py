"""What the Evals tab shows of runs, as HTML by the same functions as the reports."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from evals.report.cases import is_wrong, render_case
from evals.report.comparing import render_comparison_body
from evals.report.html import render_figures, render_figures_of, text
from evals.report.loading import Report, load_report
from evals.report.plots import Point, draw_runs
from evals.results.comparison import compare
from evals.results.loading import headline
from evals.results.summary import cell_of
from evals.running.folder import RunFolder, list_runs, run_in
from evals.scoring import metric_named
from rag.errors import CitewiseError

CASES_ON_A_PAGE = 20
_MOST_RUNS = 12
"""Runs in the plot over runs."""
_OVER_RUNS = ("accuracy", "nugget_recall", "citation_f1", "refusal_f1")


def run_choices(runs: Path) -> list[tuple[str, str]]:
    """Label and name of each run that was scored, newest first."""
    return [(_label(run), run.name) for run in reversed(list_runs(runs)) if _is_scored(run)]


def run_view(runs: Path, name: str) -> str:
    """A run's metrics, plots and refusals, and its metrics beside those of earlier runs of its suite."""
    run = run_in(runs, name)
    report = _report(run.path, _stamp(run))
    plots = render_figures(draw_runs(list(_points(runs, run))))
    figures = render_figures_of(report, over_runs=f"<h2>Over the runs</h2>{plots}")
    return f'<section class="cw-report"><h1>{text(name)}</h1>{figures}</section>'


def cases_view(runs: Path, name: str, *, first: int, only_wrong: bool) -> tuple[str, int, int]:
    """A page of a run's cases, the place of its first one, and how many there are."""
    run = run_in(runs, name)
    report = _report(run.path, _stamp(run))
    scores = report.results.scores
    keys = [key for key in report.samples if not only_wrong or is_wrong(scores[key])]
    first = max(0, min(first, (len(keys) - 1) // CASES_ON_A_PAGE * CASES_ON_A_PAGE))
    shown = keys[first : first + CASES_ON_A_PAGE]
    cards = [render_case(report.results.cases[key[0]], report.samples[key], scores[key]) for key in shown]
    told = f"Cases {first + 1} to {first + len(shown)} of {len(keys)}" if shown else "No such case."
    return f'<section class="cw-report"><h2>{told}</h2>{"".join(cards)}</section>', first, len(keys)


def comparison_view(runs: Path, before: str, after: str) -> str:
    """What changed from one run to another, and which cases flipped."""
    reports = [_report(run.path, _stamp(run)) for run in (run_in(runs, name) for name in (before, after))]
    body = render_comparison_body(compare(reports[0].results, reports[1].results))
    return f'<section class="cw-report">{body}</section>'


def problem(error: CitewiseError) -> str:
    """What went wrong, and what to do."""
    return f'<p class="problem">{text(error.problem)} {text(error.fix)}</p>'


def _label(run: RunFolder) -> str:
    identity = run.about()["identity"]
    model = f" {identity['model']}" if identity["model"] else ""
    when = str(run.about()["created"])[:16].replace("T", " ")
    return f"{when}: {identity['suite']}, {identity['writer']}{model}, {identity['corpus']}"


def _is_scored(run: RunFolder) -> bool:
    try:
        return bool(run.scores())
    except CitewiseError:
        return False


def _stamp(run: RunFolder) -> tuple[int, ...]:
    """Changes with what the run's folder holds."""
    return tuple(path.stat().st_mtime_ns for path in sorted(run.path.glob("*.json*")))


@lru_cache(maxsize=8)
def _report(path: Path, stamp: tuple[int, ...]) -> Report:
    return load_report(RunFolder(path))


def _points(runs: Path, run: RunFolder) -> Iterator[Point]:
    """The chief metrics of this run and of earlier ones of its suite, oldest first."""
    suite = run.identity().suite
    known = [each for each in list_runs(runs) if each.identity().suite == suite and _is_scored(each)]
    upto = [each for each in known if each.name <= run.name][-_MOST_RUNS:]
    for each in upto:
        yield from _points_of(each.path, _stamp(each))


@lru_cache(maxsize=64)
def _points_of(path: Path, stamp: tuple[int, ...]) -> Sequence[Point]:
    results = _report(path, stamp).results
    points = []
    for name in _OVER_RUNS:
        cell = cell_of(results, metric_named(name), keep=headline)
        if cell and cell.interval:
            value, low, high = cell.interval[:3]
            bounds = (value if low is None else low, value if high is None else high)
            points.append(Point(path.name[:15], metric_named(name).title, value, *bounds))
    return tuple(points)
