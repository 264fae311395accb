"""A report as Markdown: the figures, the refusals, what other wordings cost, and the cases that are not right."""

import re
from collections.abc import Iterable, Iterator

from evals.report.loading import Report
from evals.report.numbers import caution, cell_text, unscored_text
from evals.report.tables import LOSS_HEADS, REFUSAL_HEADS, about_lines, loss_rows, refusal_rows
from evals.results.summary import ALL
from rag.cleaning import without_invisible

_SPECIAL = re.compile(r"([\\`*_\[\]<>|#$~])")


def render_markdown(report: Report) -> str:
    """The whole report."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: Report) -> Iterator[str]:
    summary = report.summary
    yield f"# Run {_text(report.results.name)}\n"
    yield from (f"- {_text(name)}: {_text(value)}" for name, value in about_lines(report))
    yield "\n## Metrics\n"
    groups = [group for group in summary.groups if group != ALL]
    heads = [f"{group} ({summary.counts[group]})" for group in groups]
    yield from _table(
        ["metric", f"all ({summary.counts[ALL]}), 95 % interval", "n", "unscored", *heads],
        (
            [
                row.metric.title,
                cell_text(whole, row.metric.unit),
                str(whole.cases if whole else ""),
                unscored_text(whole),
                *(cell_text(row.cells.get(group), row.metric.unit) for group in groups),
            ]
            for row in summary.rows
            for whole in [row.cells.get(ALL)]
        ),
    )
    yield "\n## Refusals\n"
    yield from _table(REFUSAL_HEADS, refusal_rows(report))
    if summary.robustness:
        yield "\n## What other wordings cost\n"
        yield from _table(LOSS_HEADS, loss_rows(summary))
        if told := caution(loss.clusters for loss in summary.robustness):
            yield f"\n{told}"
    yield "\n## Cases that are not right\n"
    for case_id, repeat in report.samples:
        score = report.results.scores[case_id, repeat].get("accuracy")
        if score is not None and score.value == 0:
            yield f"- **{_text(case_id)}** {_text(report.results.cases[case_id].question)}: {_text(score.reason)}"


def _table(head: list[str], rows: Iterable[list[str]]) -> Iterator[str]:
    yield f"| {' | '.join(map(_text, head))} |"
    yield f"|{'---|' * len(head)}"
    yield from (f"| {' | '.join(map(_text, row))} |" for row in rows)


def _text(text: str) -> str:
    """`text` on one line, nothing of it read as markup."""
    return _SPECIAL.sub(r"\\\1", " ".join(without_invisible(text).split()))
