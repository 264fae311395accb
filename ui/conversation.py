"""One question of the chat, from the event stream of an answer to what the page shows. No Gradio, no state kept."""

import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import cast

from rag.assistant import MAX_QUESTION_CHARS, Assistant
from rag.domain import Answer, Cited, Event, Finished, Retrieved, TextPart
from rag.errors import CitewiseError
from rag.filters import Filters, describe
from rag.options import AskOptions
from ui.panel import LEGEND, reading_panel, searching_status, sources_panel, status_line, status_text
from ui.render import message_markdown, streaming_markdown, turns_of
from ui.rich_text import question_markdown
from ui.unfinished import stopped_answer, unanswered

AS_SET = AskOptions()
SECONDS_BETWEEN_UPDATES = 1 / 15
"""More updates a second cost the browser more than the reader sees."""

Message = tuple[str, str]
"""A role ("user" or "assistant") and Markdown made by `ui.render`."""

STOPPED = status_text(["Stopped. What was written stays, its citations are not checked."])
BROKEN = status_text(["Something broke here; the log of the server says what. Ask again."])


@dataclass(frozen=True, slots=True)
class View:
    """What the page shows. What is None stays as it is.

    `follow_ups` are questions to ask next; `read` says to which papers the words of the question kept the search.
    """

    messages: tuple[Message, ...] | None = None
    panel: str | None = None
    status: str | None = None
    busy: bool = True
    follow_ups: tuple[str, ...] | None = None
    read: str | None = None


def converse(
    assistant: Assistant,
    question: str,
    *,
    before: tuple[Message, ...],
    options: AskOptions = AS_SET,
    filters: Filters | None = None,
    keep: Callable[[Answer], object] = lambda answer: None,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[View]:
    """The views of one question asked after the messages `before`; it is answered once one is not busy.

    Closing the iterator closes the answer's request. `keep` is given the answer, once: finished, failed, or as far as
    it came where the iterator is closed. What went wrong is shown and not raised, where it is a CitewiseError.
    """
    question = question[:MAX_QUESTION_CHARS]
    messages = (*before, ("user", question_markdown(question)))
    yield View(messages, panel=LEGEND, status=status_text(["Searching …"]), follow_ups=(), read="")
    history = turns_of(before)
    try:
        asked = assistant.with_options(options)
        events = cast(Generator[Event, None, None], asked.stream(question, history=history, filters=filters))
        with closing(events):
            answer = yield from _follow(events, question, messages, keep=keep, clock=clock)
    except CitewiseError as error:
        answer = unanswered(question, error)
        keep(answer)
    read = "" if filters is not None else describe(assistant.scope(answer.searched).filters) if answer.retrieved else ""
    shown = (*messages, ("assistant", message_markdown(answer)))
    yield View(shown, panel=sources_panel(answer), status=status_line(answer), busy=False, read=read)
    yield View(busy=False, follow_ups=assistant.follow_ups(answer, history=history))


def _follow(
    events: Iterator[Event],
    question: str,
    messages: tuple[Message, ...],
    *,
    keep: Callable[[Answer], object],
    clock: Callable[[], float],
) -> Generator[View, None, Answer]:
    """The views until the answer is finished, which is returned."""
    parts: list[TextPart | Cited] = []
    found: Retrieved | None = None
    shown_at = float("-inf")
    try:
        for event in events:
            if isinstance(event, Finished):
                keep(event.answer)
                return event.answer
            if isinstance(event, Retrieved):
                found = event
                status = searching_status(event.papers, event.searched)
                yield View(messages, panel=reading_panel(event.papers), status=status)
                shown_at = clock()  # what is quoted is finished before an update of its text alone would be seen
                continue
            parts.append(event)
            if clock() - shown_at >= SECONDS_BETWEEN_UPDATES:
                shown_at = clock()
                # Empty parts, while a model is silent, only give control: no bubble stands empty.
                text = streaming_markdown(parts)
                yield View((*messages, ("assistant", text)) if text.strip() else messages)
    except GeneratorExit:
        keep(stopped_answer(question, found, parts))
        raise
    raise AssertionError("the stream of an answer ends with Finished")
