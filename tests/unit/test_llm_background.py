"""Async work driven from plain code."""

import asyncio
import threading
from collections.abc import Callable

import pytest

from rag.llm.background import iterate_in_thread


def test_what_is_emitted_is_yielded_in_order() -> None:
    async def work(emit: Callable[[int], None]) -> None:
        for number in range(3):
            emit(number)
            await asyncio.sleep(0)

    assert list(iterate_in_thread(work, tick=5)) == [0, 1, 2]


def test_an_error_comes_after_what_came_before_it() -> None:
    async def work(emit: Callable[[int], None]) -> None:
        emit(1)
        raise LookupError("gone")

    items = iterate_in_thread(work, tick=5)
    assert next(items) == 1
    with pytest.raises(LookupError, match="gone"):
        next(items)


def test_closing_cancels_and_waits_for_the_cleanup() -> None:
    cleaned = threading.Event()

    async def work(emit: Callable[[int], None]) -> None:
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.05)
            cleaned.set()

    items = iterate_in_thread(work, tick=0.01)
    assert next(items) is None
    items.close()
    assert cleaned.is_set()


def test_nothing_starts_before_the_first_item_is_asked_for() -> None:
    started = threading.Event()

    async def work(emit: Callable[[int], None]) -> None:
        started.set()

    iterate_in_thread(work, tick=5).close()
    assert not started.is_set()


def test_no_thread_is_left_behind() -> None:
    async def work(emit: Callable[[int], None]) -> None:
        emit(1)

    before = threading.active_count()
    assert list(iterate_in_thread(work, tick=5)) == [1]
    assert threading.active_count() == before
