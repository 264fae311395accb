"""A judge's calibration as tables."""

from typing import TYPE_CHECKING

from evals.judging.calibration import LABELS, Calibration
from evals.report.numbers import interval_text

if TYPE_CHECKING:
    from rich.table import Table


def calibration_tables(calibration: Calibration) -> "tuple[Table, Table]":
    """Who said what, and the figures."""
    from rich.table import Table

    counts = Table("people", *(f"judge: {label}" for label in LABELS), title=calibration.judge)
    for label, row in zip(LABELS, calibration.table, strict=True):
        counts.add_row(label, *map(str, row))
    figures = Table("", "")
    figures.add_row("sentences judged", str(calibration.judged))
    figures.add_row("kappa, supported or not", interval_text(calibration.kappa, "share"))
    figures.add_row("kappa of two people", interval_text(calibration.human, "share"))
    for kind, (caught, total) in calibration.caught.items():
        figures.add_row(f"{kind} controls caught", f"{caught} of {total}")
    for reason, count in calibration.unscored.items():
        figures.add_row(f"no verdict: {reason}", str(count))
    figures.add_row("cost", "n/a" if calibration.dollars is None else f"${calibration.dollars:.4f}")
    return counts, figures
