"""Numbers as they are shown: by unit, with their intervals."""

from collections.abc import Iterable

from evals.results.summary import Cell
from evals.scoring.score import Unit
from evals.statistics.resampling import FEW_CLUSTERS, FEWEST, Difference, Interval
from evals.statistics.shrinkage import Shrunken

NONE = "n/a"


def shown(value: float, unit: Unit) -> str:
    """A value: shares with three digits behind the point, times and counts whole, dollars with four."""
    if unit in {"milliseconds", "tokens", "words"}:
        return f"{value:,.0f}"
    return f"${value:.4f}" if unit == "dollars" else f"{value:.1f}" if unit == "calls" else f"{value:.3f}"


def interval_text(interval: Interval | None, unit: Unit) -> str:
    """A value and, where it is known, its interval: "0.913 [0.847, 0.961]"."""
    if interval is None:
        return NONE
    text = shown(interval.value, unit)
    if interval.low is None or interval.high is None:
        return text
    return f"{text} [{shown(interval.low, unit)}, {shown(interval.high, unit)}]"


def cell_text(cell: Cell | None, unit: Unit) -> str:
    """A cell: the interval, or the median and 95th percentile of a time; "" where the metric does not apply."""
    if cell is None:
        return ""
    if cell.quantiles is not None:
        return f"p50 {shown(cell.quantiles.p50, unit)}, p95 {shown(cell.quantiles.p95, unit)}"
    return interval_text(cell.interval, unit)


def difference_text(difference: Difference, unit: Unit) -> str:
    """A difference with its sign and, where it is known, its interval."""
    parts = [difference.value, *(side for side in (difference.low, difference.high) if side is not None)]
    first, *sides = [("+" if part > 0 else "-" if part < 0 else "") + shown(abs(part), unit) for part in parts]
    return f"{first} [{', '.join(sides)}]" if sides else first


def caution(clusters: Iterable[int]) -> str:
    """What to say of intervals of differences, by the number of papers and conversations behind each; "" if nothing."""
    few = [count for count in clusters if count < FEW_CLUSTERS]
    if not few:
        return ""
    return (
        f"Some differences are of fewer than {FEW_CLUSTERS} papers and conversations ({min(few)} the fewest): their "
        f"intervals may be too narrow, and of fewer than {FEWEST} there is none."
    )


def shrunken_text(estimate: Shrunken) -> str:
    """A shrunken estimate with its interval: "-0.031 [-0.080, +0.017]"."""
    return f"{estimate.value:+.3f} [{estimate.low:+.3f}, {estimate.high:+.3f}]"


def unscored_text(cell: Cell | None) -> str:
    """How many answers have no value: "3 empty, 1 missing"."""
    counts = {"empty": sum(cell.empty.values()), "missing": sum(cell.missing.values())} if cell else {}
    return ", ".join(f"{count} {name}" for name, count in counts.items() if count)
