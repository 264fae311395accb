"""What an answer took: tokens, money, calls, time."""

from collections.abc import Callable

from evals.cases.case import Case
from evals.prices import cost, load_prices
from evals.scoring.score import Known, Measure, Score, empty
from rag.domain import Answer, Timings, Usage


def counted(read: Callable[[Usage], int | None], *, of: str) -> Measure:
    """A count of the model's usage."""

    def measure(case: Case, answer: Answer, known: Known) -> Score | None:
        if answer.usage.calls == 0:
            return Score(0.0, "no model was called") if answer.model is None else empty("no complete call")
        count = read(answer.usage)
        return empty(f"the endpoint does not tell {of}") if count is None else Score(float(count), f"{count} {of}")

    return measure


def dollars(case: Case, answer: Answer, known: Known) -> Score | None:
    """US dollars of the model's calls, by the dated table of prices; unknown models have no cost."""
    value = cost(answer.usage, model=answer.model if known.has_prices else None)
    if value is None:
        return empty(f"n/a: no price of {answer.model}, or no token counts")
    return Score(value, f"by prices of {load_prices().date}" if answer.usage.calls else "no model was called")


def milliseconds(read: Callable[[Timings], float | None]) -> Measure:
    """A time of the answer."""

    def measure(case: Case, answer: Answer, known: Known) -> Score | None:
        value = read(answer.timings)
        return empty("there was no such moment") if value is None else Score(value, f"{value:.0f} ms")

    return measure
