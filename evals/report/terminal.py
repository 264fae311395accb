"""Figures as tables for the terminal and as records for JSON."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from evals.report.numbers import caution, cell_text, difference_text, shown, shrunken_text, unscored_text
from evals.results.comparison import Comparison
from evals.results.gate import Verdict
from evals.results.power import Power
from evals.results.summary import ALL, Summary
from rag.cleaning import without_invisible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_SLICES_SHOWN = 3
_QUESTION_SHOWN = 60
_UNBOUNDED = 100_000


def summary_table(summary: Summary, *, title: str, console: "Console") -> "Table":
    """Metrics with their interval over all cases and their value in each group, as far as `console` is wide enough."""
    groups = list(summary.groups[1:])
    table = _summary_table(summary, groups, title=title)
    unbounded = console.options.update(max_width=_UNBOUNDED)
    while groups and console.measure(table, options=unbounded).maximum > console.width:
        groups.pop()
        table = _summary_table(summary, groups, title=title)
    left_out = len(summary.groups) - 1 - len(groups)
    if left_out:
        told = f"{left_out} more groups of cases: citewise eval report"
        table.caption = f"{table.caption}\n{told}" if table.caption else told
    return table


def _summary_table(summary: Summary, groups: Sequence[str], *, title: str) -> "Table":
    from rich.table import Table

    table = Table("", f"all ({summary.counts[ALL]})", "n", "unscored", title=title)
    for group in groups:
        table.add_column(f"{group} ({summary.counts[group]})", justify="right")
    family = ""
    for row in summary.rows:
        if family not in {"", row.metric.family}:
            table.add_section()
        family, unit = row.metric.family, row.metric.unit
        whole = row.cells.get(ALL)
        cells = [
            shown(cell.interval.value, unit) if (cell := row.cells.get(group)) and cell.interval else ""
            for group in groups
        ]
        table.add_row(
            row.metric.title, cell_text(whole, unit), str(whole.cases if whole else ""), unscored_text(whole), *cells
        )
    table.add_section()
    for loss in summary.robustness:
        text = difference_text(loss.difference, "share")
        table.add_row(f"{loss.variant}: {loss.metric}", text, str(loss.cases), f"worst {loss.worst:+.2f}")
    table.caption = caution(loss.clusters for loss in summary.robustness) or None
    return table


def summary_records(summary: Summary, *, run: str) -> Iterator[dict[str, object]]:
    """A record a metric and group, then one a variant and metric."""
    for row in summary.rows:
        for group, cell in row.cells.items():
            interval = cell.interval
            yield {
                "run": run,
                "metric": row.metric.name,
                "group": group,
                "n": cell.cases,
                "value": interval.value if interval else None,
                "low": interval.low if interval else None,
                "high": interval.high if interval else None,
                "p50": cell.quantiles.p50 if cell.quantiles else None,
                "p95": cell.quantiles.p95 if cell.quantiles else None,
                "empty": sum(cell.empty.values()),
                "missing": sum(cell.missing.values()),
            }
    for loss in summary.robustness:
        value = loss.difference._asdict()
        own = {"variant": loss.variant, "n": loss.cases, "clusters": loss.clusters}
        worst = {"worst_case": loss.worst_case, "worst": loss.worst}
        yield {"run": run, "metric": loss.metric, **own, **worst, **value}


def comparison_table(comparison: Comparison) -> "Table":
    """Every metric in both runs with its paired difference."""
    from rich.table import Table

    table = Table("", "n", comparison.before, comparison.after, "difference", "p", "p, corrected")
    for row in comparison.rows:
        unit, adjusted = row.metric.unit, row.adjusted_p
        table.add_row(
            row.metric.title,
            str(row.cases),
            shown(row.before, unit),
            shown(row.after, unit),
            difference_text(row.difference, unit),
            f"{row.difference.p:.3f}",
            "" if adjusted is None else f"{adjusted:.3f}",
            style="bold" if adjusted is not None else None,
        )
    table.caption = caution(row.clusters for row in comparison.rows) or None
    return table


def flips_table(comparison: Comparison) -> "Table":
    """The cases that are right in one run only, the newly wrong ones first."""
    from rich.table import Table

    worse = sum(flip.is_worse for flip in comparison.flips)
    title = f"{worse} newly wrong, {len(comparison.flips) - worse} newly right"
    table = Table("", "case", "question", "before", "after", title=title)
    for flip in comparison.flips:
        cells = (flip.case.case_id, flip.case.question[:_QUESTION_SHOWN], flip.before, flip.after)
        table.add_row("worse" if flip.is_worse else "better", *map(without_invisible, cells))
    return table


def slices_table(comparison: Comparison) -> "Table":
    """The parts of the cases where the change hurt and helped most, shrunken towards all parts."""
    from rich.table import Table

    table = Table("metric", "by", "part", "n", "difference", "shrunken", title="where it hurt and helped most")
    by_kind: dict[tuple[str, str], list[int]] = {}
    for place, part in enumerate(comparison.slices):
        by_kind.setdefault((part.metric, part.dimension), []).append(place)
    for places in by_kind.values():
        ends = places if len(places) <= 2 * _SLICES_SHOWN else places[:_SLICES_SHOWN] + places[-_SLICES_SHOWN:]
        for part in (comparison.slices[place] for place in ends):
            estimate = part.difference
            name = without_invisible(part.name[:_QUESTION_SHOWN])
            table.add_row(
                part.metric, part.dimension, name, str(part.cases), f"{estimate.raw:+.3f}", shrunken_text(estimate)
            )
        table.add_section()
    return table


def comparison_records(comparison: Comparison) -> Iterator[dict[str, object]]:
    """A record a metric, a flip, and a slice, told apart by "record"."""
    both = {"before": comparison.before, "after": comparison.after}
    for row in comparison.rows:
        values = {"before_value": row.before, "after_value": row.after, "adjusted_p": row.adjusted_p}
        yield {"record": "metric", **both, "metric": row.metric.name, "n": row.cases, **values} | {
            "clusters": row.clusters,
            **row.difference._asdict(),
        }
    for flip in comparison.flips:
        own = {"case": flip.case.case_id, "question": flip.case.question, "metric": flip.metric}
        reasons = {"before_reason": flip.before, "after_reason": flip.after}
        yield {"record": "flip", **both, **own, "is_worse": flip.is_worse, **reasons}
    for part in comparison.slices:
        own = {"dimension": part.dimension, "name": part.name, "metric": part.metric}
        yield {"record": "slice", **both, **own, "n": part.cases, **part.difference._asdict()}


def verdict_table(verdict: Verdict, *, title: str) -> "Table":
    """The rules of a gate, the broken ones first."""
    from rich.table import Table

    table = Table("", "rule", "", "", title=title)
    for rule in verdict.rules:
        table.add_row("ok" if rule.is_kept else "FAIL", rule.kind, rule.name, rule.told)
    return table


def power_table(power: Power, *, chance: float) -> "Table":
    """Cases that it takes to see each difference."""
    from rich.table import Table

    basis = "two runs' paired differences" if power.is_paired else "one run, scores of a case correlated by 0.5"
    title = (
        f"{power.metric}: {power.cases} cases of {power.clusters} papers or conversations see ±{power.half_width:.3f}"
    )
    table = Table("true difference", f"cases for {chance:.0%}", "papers", "chance now", title=title, caption=basis)
    for row in power.rows:
        table.add_row(f"{row.difference:.2f}", f"{row.cases:,}", f"{row.clusters:,}", f"{row.power_now:.0%}")
    return table


def power_records(power: Power) -> Iterator[dict[str, object]]:
    """A record a difference."""
    own = {"metric": power.metric, "cases_now": power.cases, "clusters_now": power.clusters}
    for row in power.rows:
        yield {**own, "half_width": power.half_width, "is_paired": power.is_paired, **row._asdict()}
