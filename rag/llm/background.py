"""Async work driven from plain code: what it emits becomes an iterator, and closing the iterator cancels the work."""

import asyncio
import contextlib
import queue
import threading
from collections.abc import Callable, Coroutine, Generator
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")

CLOSE_SECONDS = 0.5
"""How long a closing iterator waits for the work to end. Only a name look-up, which cannot be stopped, outlasts it."""


class _Item(NamedTuple, Generic[T]):
    value: T


class _End(NamedTuple):
    error: BaseException | None


def iterate_in_thread(
    work: Callable[[Callable[[T], None]], Coroutine[object, object, None]], *, tick: float
) -> Generator[T | None, None, None]:
    """Runs `work(emit)` in an event loop of its own thread and yields what it emits.

    Yields None after each `tick` seconds in which nothing came: only a consumer that holds control can close. Raises
    what `work` raises. Nothing is started before the first item is asked for.
    """
    items: queue.SimpleQueue[_Item[T] | _End] = queue.SimpleQueue()
    loop = asyncio.new_event_loop()
    task = loop.create_task(work(lambda value: items.put(_Item(value))))
    thread = threading.Thread(target=_drive, args=(loop, task, items.put), name="citewise-model-call", daemon=True)
    thread.start()
    try:
        while True:
            try:
                item = items.get(timeout=tick)
            except queue.Empty:
                yield None
                continue
            if isinstance(item, _Item):
                yield item.value
            elif item.error is not None:
                raise item.error
            else:
                return
    finally:
        with contextlib.suppress(RuntimeError):  # the loop is closed already: the work has ended
            loop.call_soon_threadsafe(task.cancel)
        thread.join(CLOSE_SECONDS)


def _drive(loop: asyncio.AbstractEventLoop, task: "asyncio.Task[None]", put: Callable[[_End], None]) -> None:
    try:
        loop.run_until_complete(asyncio.wait({task}))
        put(_End(None if task.cancelled() else task.exception()))
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.run_until_complete(loop.shutdown_default_executor())
    finally:
        loop.close()
