"""The plots of a report: Vega-Lite specifications, made pure, and drawn as static SVG without any script."""

from collections.abc import Sequence
from functools import lru_cache
from json import dumps
from typing import Any, NamedTuple

from evals.results.comparison import Comparison
from evals.results.loading import Results
from evals.results.summary import ALL, Summary

RECALLS = (1, 3, 5, 10)
FOREST = (
    "recall@5",
    "citation_validity",
    "citation_recall",
    "citation_precision",
    "citation_f1",
    "number_precision",
    "nugget_recall",
    "accuracy",
    "refusal_recall_near",
    "refusal_recall_far",
    "refusal_f1",
    "over_refusal",
)
_WIDTH, _HEIGHT = 420, 240
_CONFIG = {"font": "sans-serif", "view": {"stroke": None}, "axis": {"labelFontSize": 12, "titleFontSize": 12}}
_COLOUR = "#2457a6"
_BINS = 24
Spec = dict[str, Any]


class Plot(NamedTuple):
    """A plot: what it shows, and its SVG."""

    title: str
    svg: str


def draw_plots(summary: Summary, results: Results) -> list[Plot]:
    """The plots that the run has figures for."""
    specs = {
        "Recall by papers retrieved": recall_spec(summary),
        "Metrics over all cases, with 95 % intervals": forest_spec(summary),
        "Time of an answer": latency_spec(results.values("total_ms", keep=lambda case: True)),
    }
    return [Plot(title, to_svg(dumps(spec))) for title, spec in specs.items() if spec is not None]


def draw_differences(comparison: Comparison) -> list[Plot]:
    """The plot of a comparison, if it has anything to show."""
    spec = differences_spec(comparison)
    return [Plot("Differences with 95 % intervals", to_svg(dumps(spec)))] if spec is not None else []


def recall_spec(summary: Summary) -> Spec | None:
    """Recall at 1, 3, 5 and 10 as a curve a group; None where no case has papers."""
    rows = {row.metric.name: row for row in summary.rows}
    values = [
        {"k": k, "recall": cell.interval.value, "group": group}
        for k in RECALLS
        if (row := rows.get(f"recall@{k}"))
        for group, cell in row.cells.items()
        if cell.interval and not group.startswith("variant")
    ]
    if not values:
        return None
    x = {"field": "k", "type": "quantitative", "title": "papers", "axis": {"values": list(RECALLS)}}
    y = {"field": "recall", "type": "quantitative", "scale": {"domain": [0, 1]}}
    colour = {"field": "group", "type": "nominal", "title": None}
    return _spec(values, mark={"type": "line", "point": True}, encoding={"x": x, "y": y, "color": colour})


def forest_spec(summary: Summary) -> Spec | None:
    """The chief metrics as points with their intervals; None where none has a value."""
    rows = {row.metric.name: row for row in summary.rows}
    values = []
    for name in FOREST:
        cell = rows[name].cells.get(ALL) if name in rows else None
        if cell is not None and cell.interval is not None:
            value, low, high = cell.interval
            bounds = {"low": value if low is None else low, "high": value if high is None else high}
            values.append({"metric": rows[name].metric.title, "value": value, **bounds})
    if not values:
        return None
    return _forest(values, x={"scale": {"domain": [0, 1]}, "title": None})


def differences_spec(comparison: Comparison) -> Spec | None:
    """The chief metrics' differences, with a line at none; None where none was compared."""
    values = []
    for row in comparison.rows:
        if row.metric.name in FOREST:
            value, low, high, _ = row.difference
            bounds = {"low": value if low is None else low, "high": value if high is None else high}
            values.append({"metric": row.metric.title, "value": value, **bounds})
    if not values:
        return None
    forest = _forest(values, x={"title": f"{comparison.after} less {comparison.before}"})
    none = {
        "mark": {"type": "rule", "color": "#777", "strokeDash": [4, 3], "aria": False},
        "encoding": {"x": {"datum": 0}},
    }
    return forest | {"layer": [none, *forest["layer"]]}


class Point(NamedTuple):
    """A metric's value in a run, with the bounds of its interval."""

    run: str
    metric: str
    value: float
    low: float
    high: float


def draw_runs(points: Sequence[Point]) -> list[Plot]:
    """The plot of metrics over runs, in the order given; none where there are no points."""
    return (
        [Plot("Metrics over the runs of this suite, with 95 % intervals", to_svg(dumps(runs_spec(points))))]
        if points
        else []
    )


def runs_spec(points: Sequence[Point]) -> Spec:
    """A line a metric over the runs, with its intervals."""
    colour = {"field": "metric", "type": "nominal", "title": None}
    x = {"field": "run", "type": "nominal", "sort": None, "title": None, "axis": {"labelAngle": -30, "labelLimit": 180}}
    y = {"type": "quantitative", "scale": {"domain": [0, 1]}, "title": None}
    line = {"mark": {"type": "line", "point": True}, "encoding": {"x": x, "y": y | {"field": "value"}, "color": colour}}
    rule = {
        "mark": {"type": "rule", "opacity": 0.5},
        "encoding": {"x": x, "y": y | {"field": "low"}, "y2": {"field": "high"}, "color": colour},
    }
    return _base([point._asdict() for point in points]) | {"layer": [line, rule]}


def latency_spec(milliseconds: Sequence[float]) -> Spec | None:
    """How many answers took how long; None where no time was measured."""
    if not milliseconds:
        return None
    x = {"field": "ms", "type": "quantitative", "bin": {"maxbins": _BINS}, "title": "milliseconds"}
    y = {"aggregate": "count", "type": "quantitative", "title": "answers"}
    return _spec([{"ms": value} for value in milliseconds], mark={"type": "bar"}, encoding={"x": x, "y": y})


@lru_cache(maxsize=32)
def to_svg(spec: str) -> str:
    """Draws a Vega-Lite specification, as JSON."""
    import vl_convert

    return str(vl_convert.vegalite_to_svg(spec))


def _forest(values: list[dict[str, Any]], *, x: Spec) -> Spec:
    """Points with their intervals, a metric a line."""
    y = {"field": "metric", "type": "nominal", "sort": None, "title": None}
    along = {"type": "quantitative", **x}
    rule = {
        "mark": {"type": "rule", "color": _COLOUR},
        "encoding": {"y": y, "x": along | {"field": "low"}, "x2": {"field": "high"}},
    }
    point = {"mark": {"type": "point", "filled": True, "size": 60, "color": _COLOUR}}
    point |= {"encoding": {"y": y, "x": along | {"field": "value"}}}
    return _base(values) | {"layer": [rule, point]}


def _spec(values: list[dict[str, Any]], *, mark: Spec, encoding: Spec) -> Spec:
    return _base(values) | {"mark": {"color": _COLOUR, **mark}, "encoding": encoding}


def _base(values: list[dict[str, Any]]) -> Spec:
    return {"data": {"values": values}, "width": _WIDTH, "height": _HEIGHT, "config": _CONFIG, "background": "white"}
