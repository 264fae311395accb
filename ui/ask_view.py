"""What the Ask tab shows, as updates of its components, and what it sends back. No events."""

from collections.abc import Mapping, Sequence
from typing import Any

import gradio as gr

from rag.assistant import Assistant
from rag.conversations import KeptTurn
from ui.controls import follow_ups_html
from ui.conversation import Message, View
from ui.keeping import Place
from ui.panel import LEGEND, sources_panel, status_line
from ui.render import message_markdown, turns_of
from ui.rich_text import question_markdown
from ui.unfinished import lost_answer

_MAX_MESSAGE_CHARS = 100_000
SHOWN = ("chat", "sources", "status", "box", "place", "turn", "read", "suggested")
"""The components that answers change, in the order of `Updates`."""

Updates = tuple[Any, ...]


def show(**named: Any) -> Updates:
    """Updates of the components of `SHOWN` by name; what is not named stays as it is."""
    return tuple(named.get(name, gr.skip()) for name in SHOWN)


def conversation_updates(conversation_id: str, turns: Sequence[KeptTurn] | None, assistant: Assistant) -> Updates:
    """A kept conversation with its last sources; without turns, an empty page."""
    idle = gr.update(submit_btn=True, stop_btn=False)
    if not turns:
        nothing = {"status": "", "place": Place().to_json(), "read": "", "suggested": ""}
        return show(chat=[], sources=LEGEND, box=idle, **nothing)
    answers = [turn.answer or lost_answer(turn.question) for turn in turns]
    messages: list[Message] = []
    for answer in answers:
        messages += [("user", question_markdown(answer.question)), ("assistant", message_markdown(answer))]
    judged = [None if turn.liked is None else "Like" if turn.liked else "Dislike" for turn in turns]
    following = assistant.follow_ups(answers[-1], history=turns_of(messages[:-2]))
    return show(
        chat=gr.update(value=shown(messages), feedback_value=judged),
        sources=sources_panel(answers[-1]),
        status=status_line(answers[-1]),
        box=idle,
        place=Place(conversation_id, tuple(turn.turn_id for turn in turns)).to_json(),
        read="",
        suggested=follow_ups_html(following),
    )


def view_updates(view: View, *, first: bool) -> dict[str, Any]:
    """A view as the updates of components."""
    named: dict[str, Any] = {
        "chat": None if view.messages is None else shown(view.messages),
        "sources": view.panel,
        "status": view.status,
        "read": view.read,
        "suggested": None if view.follow_ups is None else follow_ups_html(view.follow_ups),
    }
    if first:
        named["box"] = gr.update(value="", submit_btn=False, stop_btn=True)
    elif not view.busy and view.messages is not None:
        named["box"] = gr.update(submit_btn=True, stop_btn=False)
    return {name: value for name, value in named.items() if value is not None}


def shown(messages: Sequence[Message]) -> list[dict[str, str]]:
    return [{"role": role, "content": markdown} for role, markdown in messages]


def read_messages(history: object) -> tuple[Message, ...]:
    """The chat as the browser sends it back: roles and text only, for a client may send anything, files included."""
    messages: list[Message] = []
    for message in history if isinstance(history, list) else []:
        role = message.get("role") if isinstance(message, Mapping) else None
        if role in ("user", "assistant"):
            messages.append((role, _text_of(message.get("content"))[:_MAX_MESSAGE_CHARS]))
    return tuple(messages)


def _text_of(content: object) -> str:
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    return "".join(str(block["text"]) for block in blocks if isinstance(block, Mapping) and "text" in block)


def index_of(index: int | tuple[int, int]) -> int:
    return index if isinstance(index, int) else index[0]
