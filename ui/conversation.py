"""One question of the chat, from the event stream of an answer to what the page shows. No Gradio, no state kept."""

import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import cast

from rag.assistant import MAX_QUESTION_CHARS, Assistant
from rag.domain import Cited, Event, Finished, Retrieved, TextPart
from rag.errors import CitewiseError
from ui.panel import LEGEND, reading_panel, searching_status, sources_panel, status_line, status_text
from ui.render import failed_markdown, message_markdown, streaming_markdown, turns_of
from ui.rich_text import question_markdown

SECONDS_BETWEEN_UPDATES = 1 / 15
"""More updates a second cost the browser more than the reader sees."""

Message = tuple[str, str]
"""A role ("user" or "assistant") and Markdown made by `ui.render`."""

STOPPED = status_text(["Stopped. What was written stays, its citations are not checked."])
BROKEN = status_text(["Something broke here; the log of the server says what. Ask again."])


@dataclass(frozen=True, slots=True)
class View:
    """What the page shows. `panel` and `status` are None where they stay as they are."""

    messages: tuple[Message, ...]
    panel: str | None = None
    status: str | None = None
    busy: bool = True


def converse(
    assistant: Assistant,
    question: str,
    *,
    before: tuple[Message, ...],
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[View]:
    """The views of one question asked after the messages `before`; the last one is not busy.

    Closing the iterator closes the answer's request. What went wrong, too, is shown and not raised, where it is
    a CitewiseError.
    """
    messages = (*before, ("user", question_markdown(question[:MAX_QUESTION_CHARS])))
    yield View(messages, panel=LEGEND, status=status_text(["Searching …"]))
    try:
        events = cast(Generator[Event, None, None], assistant.stream(question, history=turns_of(before)))
        with closing(events):
            yield from _follow(events, messages, clock)
    except CitewiseError as error:
        failed = (*messages, ("assistant", failed_markdown(error.problem, error.fix)))
        yield View(failed, panel=LEGEND, status=status_text(["Failed"]), busy=False)


def _follow(events: Iterator[Event], messages: tuple[Message, ...], clock: Callable[[], float]) -> Iterator[View]:
    parts: list[TextPart | Cited] = []
    shown_at = float("-inf")
    for event in events:
        if isinstance(event, Retrieved):
            status = searching_status(event.papers, event.searched)
            yield View(messages, panel=reading_panel(event.papers), status=status)
        elif isinstance(event, Finished):
            answered = (*messages, ("assistant", message_markdown(event.answer)))
            panel, status = sources_panel(event.answer), status_line(event.answer)
            yield View(answered, panel=panel, status=status, busy=False)
        else:
            parts.append(event)
            if clock() - shown_at >= SECONDS_BETWEEN_UPDATES:
                shown_at = clock()
                # Empty parts, while a model is silent, only give control: no bubble stands empty.
                text = streaming_markdown(parts)
                yield View((*messages, ("assistant", text)) if text.strip() else messages)
