"""What happens, for those who run citewise: log records with fields, of which logs, metrics and traces are made.

Each answer, each request to an endpoint and each look into the embedding cache is one record. It holds no question
text unless CITEWISE_LOG_QUESTIONS is set. The records of one question carry its request id.
"""

import logging
from collections.abc import Iterator
from contextvars import ContextVar, copy_context
from time import time_ns
from typing import Any
from uuid import uuid4

from rag.domain import Answer, Event, Finished

logger = logging.getLogger(__name__)

request_id: ContextVar[str | None] = ContextVar("request_id", default=None)
"""The id of the question that is being answered."""


def tell(target: logging.Logger, event: str, message: str, *args: object, **fields: object) -> None:
    """Logs `message % args` as INFO, with the name of the event and its fields for handlers that take them.

    Costs a look at a level where nobody listens.
    """
    if target.isEnabledFor(logging.INFO):
        about = {"event": event, "fields": {**fields, "at_ns": time_ns(), "request_id": request_id.get()}}
        target.info(message, *args, extra=about, stacklevel=2)


def fields_of(record: logging.LogRecord) -> tuple[str, dict[str, Any]] | None:
    """The event of a record and its fields, None for a record of other code."""
    event, fields = getattr(record, "event", None), getattr(record, "fields", None)
    return (event, fields) if isinstance(event, str) and isinstance(fields, dict) else None


def observed(events: Iterator[Event]) -> Iterator[Event]:
    """`events` of one answer, under a request id of their own, with one record at their end.

    Each step runs in a context of its own, so that questions that are answered in turns do not mix.
    """
    context = copy_context()
    context.run(request_id.set, uuid4().hex[:16])
    iterator = iter(events)
    begin, finished = time_ns(), False
    try:
        while True:
            try:
                event = context.run(next, iterator)
            except StopIteration:
                return
            if isinstance(event, Finished):
                finished = True
                context.run(_tell_answer, event.answer, begin)
            yield event
    finally:
        if hasattr(iterator, "close"):
            context.run(iterator.close)
        if not finished:
            context.run(_tell_stopped, begin)


def _tell_answer(answer: Answer, begin: int) -> None:
    timings = answer.timings
    tell(
        logger,
        "answer",
        "answer: %s by %s after %.0f ms",
        answer.outcome,
        answer.writer,
        timings.total_ms or 0.0,
        outcome=answer.outcome,
        writer=answer.writer,
        model=answer.model,
        prompt=answer.prompt,
        retrieve_ms=timings.retrieve_ms,
        first_token_ms=timings.first_token_ms,
        total_ms=timings.total_ms,
        papers=len(answer.retrieved),
        citations=len(answer.citations),
        prompt_tokens=answer.usage.prompt_tokens,
        completion_tokens=answer.usage.completion_tokens,
        calls=answer.usage.calls,
        began_ns=begin,
        question=answer.question,
    )


def _tell_stopped(begin: int) -> None:
    tell(logger, "answer", "answer: stopped by its reader", outcome="stopped", began_ns=begin)
