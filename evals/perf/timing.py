"""Times of calls, taken in turns so that whatever else the machine does hits all alike."""

from collections.abc import Callable, Mapping, Sequence
from time import perf_counter
from typing import NamedTuple, TypeVar

import numpy as np

_Item = TypeVar("_Item")


class Times(NamedTuple):
    """Milliseconds a call: the median and the 95th percentile."""

    p50: float
    p95: float


def summarise(milliseconds: Sequence[float]) -> Times:
    """Median and 95th percentile; zeros where there was no call."""
    return Times(*np.quantile(milliseconds, [0.5, 0.95]).tolist()) if milliseconds else Times(0.0, 0.0)


def take_turns(
    items: Sequence[_Item],
    contestants: Mapping[str, Callable[[_Item], object]],
    *,
    on_item: Callable[[int], object] = lambda done: None,
) -> dict[str, list[float]]:
    """Milliseconds of each of `contestants` for each of `items`. Who comes first changes from item to item.

    `on_item` is told how many items are done.
    """
    names = list(contestants)
    times: dict[str, list[float]] = {name: [] for name in names}
    for number, item in enumerate(items):
        first = number % len(names)
        for name in names[first:] + names[:first]:
            start = perf_counter()
            contestants[name](item)
            times[name].append((perf_counter() - start) * 1000)
        on_item(number + 1)
    return times
