"""Two runs compared, as one HTML file that opens from disk."""

from evals.report.html import render_caution, render_figures, render_page, render_table, text
from evals.report.numbers import difference_text, shown, shrunken_text
from evals.report.plots import draw_differences
from evals.results.comparison import Comparison

_METRIC_HEADS = ["metric", "n", "papers", "before", "after", "difference", "p", "p, corrected"]
_FLIP_HEADS = ["case", "change", "question", "metric", "before", "after"]
_SLICE_HEADS = ["part", "by", "metric", "n", "difference", "shrunken"]


def render_comparison(comparison: Comparison) -> str:
    """The whole file."""
    body = f'<main class="cw-report">{render_comparison_body(comparison)}</main>'
    return render_page(f"{comparison.before} and {comparison.after}", body)


def render_comparison_body(comparison: Comparison) -> str:
    """The comparison without the page around it; needs STYLE."""
    worse = sum(flip.is_worse for flip in comparison.flips)
    flips = f"{worse} newly wrong, {len(comparison.flips) - worse} newly right"
    only = f"<p>{len(comparison.only)} cases are in one run only, or asked differently.</p>" if comparison.only else ""
    return (
        f"<h1>From {text(comparison.before)} to {text(comparison.after)}</h1>{only}"
        f"<h2>Metrics</h2>{render_differences(comparison)}{render_caution(r.clusters for r in comparison.rows)}"
        f"{render_figures(draw_differences(comparison))}"
        f"<h2>Cases that changed: {flips}</h2>{render_flips(comparison)}"
        f"<h2>Where it hurt and helped</h2>{render_slices(comparison)}"
    )


def render_differences(comparison: Comparison) -> str:
    """Every metric in both runs, with its paired difference and p-values; corrected ones are those of the primaries."""
    rows = [
        [
            row.metric.title,
            str(row.cases),
            str(row.clusters),
            shown(row.before, row.metric.unit),
            shown(row.after, row.metric.unit),
            difference_text(row.difference, row.metric.unit),
            f"{row.difference.p:.3f}",
            "" if row.adjusted_p is None else f"{row.adjusted_p:.3f}",
        ]
        for row in comparison.rows
    ]
    return render_table("Metrics", _METRIC_HEADS, rows)


def render_flips(comparison: Comparison) -> str:
    """The cases that are right in one run only, the newly wrong ones first, with the reasons of both."""
    rows = [
        [f.case.case_id, "worse" if f.is_worse else "better", f.case.question, f.metric, f.before, f.after]
        for f in comparison.flips
    ]
    return render_table("Cases that changed", _FLIP_HEADS, rows, is_prose=True) if rows else "<p>None.</p>"


def render_slices(comparison: Comparison) -> str:
    """The difference in each part of the cases, as it is and shrunken towards that of all parts."""
    rows = []
    for part in comparison.slices:
        raw, interval = f"{part.difference.raw:+.3f}", shrunken_text(part.difference)
        rows.append([part.name, part.dimension, part.metric, str(part.cases), raw, interval])
    return render_table("Where it hurt and helped", _SLICE_HEADS, rows) if rows else "<p>There are no parts.</p>"
