"""A report as one HTML file that opens from disk: no script, no request. Its parts are functions a page can use too."""

from collections.abc import Iterable, Sequence
from html import escape

from evals.report.cases import render_cases
from evals.report.loading import Report
from evals.report.numbers import caution, cell_text, unscored_text
from evals.report.plots import Plot, draw_plots
from evals.report.tables import LOSS_HEADS, REFUSAL_HEADS, about_lines, loss_rows, refusal_rows
from evals.results.summary import ALL, Summary
from rag.cleaning import without_invisible

STYLE = """
.cw-report { font: 15px/1.5 system-ui, sans-serif; color: #1c1c1c; background: #fff; max-width: 76rem; margin: 0 auto;
  padding: 1.5rem; }
.cw-report h1 { font-size: 1.4rem; } .cw-report h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; }
.cw-report table { border-collapse: collapse; font-size: .87rem; }
.cw-report th, .cw-report td { padding: .25rem .6rem; border-bottom: 1px solid #ddd; text-align: left;
  vertical-align: top; white-space: nowrap; }
.cw-report td.n { text-align: right; font-variant-numeric: tabular-nums; }
.cw-report .wide { overflow-x: auto; }
.cw-report .wide:not(.prose) thead th:not(:first-child) { text-align: right; }
.cw-report .prose td { text-align: left; white-space: normal; min-width: 9rem; overflow-wrap: anywhere; }
.cw-report .plots { display: flex; flex-wrap: wrap; gap: 1.5rem; } .cw-report figure { margin: 0; }
.cw-report figure svg { max-width: 100%; height: auto; }
.cw-report dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; font-size: .87rem; }
.cw-report dt { color: #555; } .cw-report dd { margin: 0; overflow-wrap: anywhere; }
.cw-report details.case { border: 1px solid #ddd; border-radius: 6px; margin: .4rem 0; padding: .4rem .8rem; }
.cw-report details.case > summary { cursor: pointer; overflow-wrap: anywhere; }
.cw-report .tag { font-size: .78rem; padding: 0 .4rem; border-radius: 4px; background: #e8e8e8; margin-right: .4rem; }
.cw-report .right .tag.state { background: #d4edd9; } .cw-report .wrong .tag.state { background: #f8d4d0; }
.cw-report .answer { background: #f6f6f3; padding: .6rem .8rem; border-radius: 6px; white-space: pre-wrap; }
.cw-report .unsupported { text-decoration: underline wavy #b3261e; }
.cw-report .partly { text-decoration: underline dotted #8a6d00; }
.cw-report mark { background: #ffec99; color: inherit; }
.cw-report input.only:checked ~ .cases .right { display: none; }
"""


def render_report(report: Report) -> str:
    """The whole file."""
    return render_page(report.results.name, render_body(report))


def render_page(title: str, body: str) -> str:
    """A file around `body`, which is HTML; nothing is loaded, whatever it holds: the file needs nothing but itself."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>{text(title)}</title><style>{STYLE}</style></head><body>{body}</body></html>\n"
    )


def render_body(report: Report) -> str:
    """The report without the page around it; needs STYLE."""
    return (
        f'<main class="cw-report"><h1>Run {text(report.results.name)}</h1>{render_figures_of(report)}'
        f"<h2>Cases</h2>{render_cases(report)}</main>"
    )


def render_figures_of(report: Report, *, over_runs: str = "") -> str:
    """All of a report but its cases; `over_runs` is HTML on other runs, below the metrics."""
    return (
        f"{render_about(report)}<h2>Metrics</h2>{render_metrics(report.summary)}{over_runs}"
        f"<h2>Plots</h2>{render_plots(report)}"
        f"<h2>Refusals</h2>{render_refusals(report)}"
        f"<h2>What other wordings cost</h2>{render_robustness(report.summary)}"
    )


def render_about(report: Report) -> str:
    """What the run was a run of."""
    lines = "".join(f"<dt>{text(name)}</dt><dd>{text(value)}</dd>" for name, value in about_lines(report))
    return f"<dl>{lines}</dl>"


def render_metrics(summary: Summary) -> str:
    """Metrics by group, each with its interval, its number of cases, and what could not be scored."""
    groups = [group for group in summary.groups if group != ALL]
    heads = ["metric", f"all ({summary.counts[ALL]})", "n", "unscored", *(f"{g} ({summary.counts[g]})" for g in groups)]
    rows = []
    for row in summary.rows:
        whole, unit = row.cells.get(ALL), row.metric.unit
        cells = [cell_text(whole, unit), str(whole.cases if whole else ""), unscored_text(whole)]
        cells += [
            _own(row.cells[group].cases, cell_text(row.cells[group], unit)) if group in row.cells else ""
            for group in groups
        ]
        rows.append([row.metric.title, *cells])
    return render_table("Metrics", heads, rows)


def render_plots(report: Report) -> str:
    """The plots of a run."""
    return render_figures(draw_plots(report.summary, report.results))


def render_figures(plots: Sequence[Plot]) -> str:
    """Plots as SVG within the page."""
    figures = []
    for plot in plots:
        title = text(plot.title)
        figures.append(
            f'<figure><div role="img" aria-label="{title}">{plot.svg}</div><figcaption>{title}</figcaption></figure>'
        )
    return f'<div class="plots">{"".join(figures)}</div>'


def render_refusals(report: Report) -> str:
    """Which questions were answered, refused or failed: with an answer, without one near and far, false premises."""
    return render_table("Refusals", REFUSAL_HEADS, refusal_rows(report))


def render_robustness(summary: Summary) -> str:
    """The paired differences of other wordings to the plain questions."""
    if not summary.robustness:
        return "<p>None asked.</p>"
    table = render_table("What other wordings cost", LOSS_HEADS, loss_rows(summary))
    return table + render_caution(loss.clusters for loss in summary.robustness)


def render_caution(clusters: Iterable[int]) -> str:
    """What to beware of in differences of few papers and conversations, if anything."""
    told = caution(clusters)
    return f"<p>{text(told)}</p>" if told else ""


def render_table(label: str, heads: list[str], rows: list[list[str]], *, is_prose: bool = False) -> str:
    """A table, which scrolls by keyboard too; every cell is escaped.

    All but the first column are set as numbers, or as text that wraps.
    """
    head = "".join(f'<th scope="col">{text(name)}</th>' for name in heads)
    lines = []
    for first, *cells in rows:
        numbers = "".join(f'<td class="n">{text(cell)}</td>' for cell in cells)
        lines.append(f'<tr><th scope="row">{text(first)}</th>{numbers}</tr>')
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
    look = "wide prose" if is_prose else "wide"
    return f'<div class="{look}" role="region" tabindex="0" aria-label="{text(label)}">{table}</div>'


def text(value: str) -> str:
    """`value` as text in HTML, without what is not seen."""
    return escape(without_invisible(value))


def _own(cases: int, shown: str) -> str:
    return f"{shown} n={cases}" if shown else ""
