"""What a metric says of one answer: a value with its reason, or why there is none. Never NaN."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from evals.cases.case import Case
from rag.domain import Answer, Support
from rag.support.coverage import Idf, default_idf

Status = Literal["scored", "empty", "missing"]


class Score(NamedTuple):
    """`value` is None where there is nothing to score. A mean over answers weighs each value by `weight`.

    `status` "empty": the answer holds nothing of the kind (no number, no citation), which is no fault; "missing": it
    should have a value and has none (the endpoint told no tokens, the corpus lacks the paper), which counts against a
    run as incomplete.
    """

    value: float | None
    reason: str
    weight: float = 1.0
    status: Status = "scored"


def empty(reason: str) -> Score:
    """Nothing of the kind in the answer."""
    return Score(None, reason, 0.0, "empty")


def missing(reason: str) -> Score:
    """No value where one should be."""
    return Score(None, reason, 0.0, "missing")


def share(hits: Sequence[bool], *, of: str, misses: Sequence[str] = ()) -> Score:
    """The share of `hits`, "3 of 4 `of`", with the first `misses` named; empty where there is nothing to count."""
    if not hits:
        return empty(f"no {of}")
    named = f"; not: {'; '.join(misses[:3])}" if misses else ""
    return Score(sum(hits) / len(hits), f"{sum(hits)} of {len(hits)} {of}{named}")


def _holds_all(paper_id: str) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Known:
    """What scoring knows beside the answer: rarity of terms, which papers the corpus holds, the system prompt.

    `is_fully_judged`: the corpus has no papers beside those that cases of scope "seed" were written on. `has_prices`:
    the model is OpenAI's own, whose prices the table has; another server may serve one by the same name. `verdicts` are
    a judge's, by sentence and ids of the cited papers, None for one that it did not give; without a judge, None.
    """

    idf: Idf = default_idf
    holds: Callable[[str], bool] = _holds_all
    is_fully_judged: bool = True
    system_prompt: str = ""
    has_prices: bool = False
    verdicts: Mapping[tuple[str, tuple[str, ...]], Support | None] | None = None


Measure = Callable[[Case, Answer, Known], Score | None]
"""None where the metric does not apply to such a case."""
Unit = Literal["share", "words", "tokens", "calls", "dollars", "milliseconds", "points"]


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric and how its numbers are read. `is_timing`: it differs from run to run of the same answers."""

    name: str
    title: str
    measure: Measure
    family: str
    is_better_high: bool = True
    unit: Unit = "share"
    is_timing: bool = False
