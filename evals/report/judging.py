"""How verdicts agree with people, as tables: a judge's calibration, and the check's agreement with labels."""

from typing import TYPE_CHECKING

from evals.judging.calibration import LABELS, Agreement, Calibration
from evals.report.numbers import interval_text
from evals.statistics.resampling import Interval

if TYPE_CHECKING:
    from rich.table import Table


def counts_heads(by: str) -> list[str]:
    """The heads of `counts_rows`; `by` is whose verdicts they are."""
    return ["people", *(f"{by}: {label}" for label in LABELS)]


def counts_rows(found: Agreement | Calibration) -> list[list[str]]:
    """Who said what: a row for each of people's labels."""
    return [[label, *map(str, row)] for label, row in zip(LABELS, found.table, strict=True)]


def agreement_rows(found: Agreement | Calibration, *, human: Interval | None) -> list[list[str]]:
    """The figures: names and values."""
    return [
        ["sentences judged", str(found.judged)],
        ["kappa, supported or not", interval_text(found.kappa, "share")],
        ["kappa of two people", interval_text(human, "share")],
    ]


def agreement_tables(found: Agreement | Calibration, *, human: Interval | None, by: str) -> "tuple[Table, Table]":
    """Who said what, and the figures."""
    from rich.table import Table

    counts, figures = Table(*counts_heads(by)), Table("", "")
    for row in counts_rows(found):
        counts.add_row(*row)
    for row in agreement_rows(found, human=human):
        figures.add_row(*row)
    return counts, figures


def calibration_tables(calibration: Calibration) -> "tuple[Table, Table]":
    """The same of a judge, with its controls and its cost."""
    counts, figures = agreement_tables(calibration, human=calibration.human, by="judge")
    counts.title = calibration.judge
    for kind, (caught, total) in calibration.caught.items():
        figures.add_row(f"{kind} controls caught", f"{caught} of {total}")
    for reason, count in calibration.unscored.items():
        figures.add_row(f"no verdict: {reason}", str(count))
    figures.add_row("cost", "n/a" if calibration.dollars is None else f"${calibration.dollars:.4f}")
    return counts, figures
