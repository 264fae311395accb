"""The Ask tab: the chat, its question box and the sources beside it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import gradio as gr

from rag.assistant import MAX_QUESTION_CHARS, Assistant
from ui.components import PRIVATE, WRITING, html
from ui.conversation import BROKEN, STOPPED, Message, View, converse
from ui.panel import LEGEND, hover_card, model_hint, source_card
from ui.render import parse_cite, question_text
from ui.rich_text import DISPLAY_CLOSE, DISPLAY_OPEN, MATHS_CLOSE, MATHS_OPEN

_MAX_MESSAGE_CHARS = 100_000
_MAX_HREF_CHARS = 2_000
_MATHS: list[dict[str, str | bool]] = [
    {"left": MATHS_OPEN, "right": MATHS_CLOSE, "display": False},
    {"left": DISPLAY_OPEN, "right": DISPLAY_CLOSE, "display": True},
]
_EMPTY_CHAT = "<strong>Ask these abstracts</strong>Every sentence of an answer cites the sentence that it stands on."
_SOURCES = (
    '<section role="region" aria-label="Sources" tabindex="-1">'
    '<button type="button" class="close" aria-label="Close the source">✕</button>'
    '<div class="detail"></div><div class="list">${value}</div></section>'
)

Updates = tuple[Any, ...]


class _Components(NamedTuple):
    """The components of the Ask tab that events read and write."""

    chat: gr.Chatbot
    box: gr.Textbox
    status: gr.HTML
    sources: gr.HTML
    examples: Sequence[gr.Button]

    @property
    def outputs(self) -> list[Any]:
        return [self.chat, self.sources, self.status, self.box]


def ask_tab(assistant: Assistant) -> None:
    """Lays out the tab's components and wires their events."""
    with gr.Row(elem_id="reading"):
        with gr.Column(scale=3, elem_id="conversation"):
            chat = _chat()
            with gr.Column(elem_id="examples"):
                examples = [gr.Button(question) for question in assistant.example_questions(n=4)]
            status = html("", "status", html_template='<div role="status">${value}</div>')
            box = _question_box()
            html(model_hint(assistant.writer_name, assistant.about_writer), "hint")
        sources = html(
            LEGEND,
            "sources",
            html_template=_SOURCES,
            js_on_load="window.citewise.connect((request) => server.card(request));",
            server_functions=[_card_server(assistant)],
        )
    components = _Components(chat, box, status, sources, examples)
    _wire_questions(components, assistant)
    _wire_corrections(components)


def _chat() -> gr.Chatbot:
    return gr.Chatbot(
        elem_id="chat",
        show_label=False,
        label="Conversation",
        buttons=["copy"],  # sharing would post the conversation to another site
        editable="user",
        feedback_options=None,
        autoscroll=False,
        layout="bubble",
        line_breaks=False,
        latex_delimiters=_MATHS,
        placeholder=_EMPTY_CHAT,
        height="auto",
    )


def _question_box() -> gr.Textbox:
    return gr.Textbox(
        elem_id="ask",
        label="Question",
        show_label=False,
        placeholder="Ask a question",
        max_lines=6,
        max_length=MAX_QUESTION_CHARS,
        submit_btn=True,
        stop_btn=False,
        autofocus=True,
    )


def _wire_questions(ask: _Components, assistant: Assistant) -> None:
    """Whatever is answered: a new question, an example, an edited question, a retry; and the button that stops it."""

    def respond(question: str, before: tuple[Message, ...]) -> Iterator[Updates]:
        if not question.strip():
            yield gr.skip(), gr.skip(), gr.skip(), gr.skip()
            return
        for number, view in enumerate(converse(assistant, question, before=before)):
            yield _updates(view, first=number == 0)

    def submit(question: str, history: object) -> Iterator[Updates]:
        yield from respond(question, _messages(history))

    def retry(history: object, event: gr.RetryData) -> Iterator[Updates]:
        messages, at = _messages(history), _index(event.index)
        yield from respond(question_text(messages[at][1]), messages[:at])

    def edit(history: object, event: gr.EditData) -> Iterator[Updates]:
        yield from respond(str(event.value), _messages(history)[: _index(event.index)])

    def idle(status: str) -> Updates:
        return status, gr.update(submit_btn=True, stop_btn=False)

    chat, box = ask.chat, ask.box
    answers: list[Any] = [
        box.submit(submit, [box, chat], ask.outputs, **WRITING),
        chat.retry(retry, chat, ask.outputs, **WRITING),
        chat.edit(edit, chat, ask.outputs, **WRITING),
        *(button.click(submit, [button, chat], ask.outputs, **WRITING) for button in ask.examples),
    ]
    for answer in answers:
        answer.failure(lambda: idle(BROKEN), None, [ask.status, box], **PRIVATE)
    box.stop(lambda: idle(STOPPED), None, [ask.status, box], cancels=answers, **PRIVATE)


def _wire_corrections(ask: _Components) -> None:
    """What takes turns away: undo, which gives the question back, and clear."""

    def undo(history: object, event: gr.UndoData) -> Updates:
        messages, at = _messages(history), _index(event.index)
        return _shown(messages[:at]), LEGEND, "", gr.update(value=question_text(messages[at][1]))

    ask.chat.undo(undo, ask.chat, ask.outputs, **PRIVATE)
    ask.chat.clear(lambda: (LEGEND, ""), None, [ask.sources, ask.status], **PRIVATE)


def _updates(view: View, *, first: bool) -> Updates:
    """A view as the updates of chat, sources, status and question box."""
    box = gr.skip()
    if first:
        box = gr.update(value="", submit_btn=False, stop_btn=True)
    elif not view.busy:
        box = gr.update(submit_btn=True, stop_btn=False)
    kept = gr.skip()
    return (
        _shown(view.messages),
        kept if view.panel is None else view.panel,
        kept if view.status is None else view.status,
        box,
    )


def _shown(messages: Sequence[Message]) -> list[dict[str, str]]:
    return [{"role": role, "content": markdown} for role, markdown in messages]


def _messages(history: object) -> tuple[Message, ...]:
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


def _index(index: int | tuple[int, int]) -> int:
    return index if isinstance(index, int) else index[0]


def _card_server(assistant: Assistant) -> Any:
    """The function that the page asks for the source behind a citation; its requests may come from anyone."""

    def card(request: object) -> dict[str, str]:
        href = request.get("href") if isinstance(request, Mapping) else None
        target = parse_cite(href) if isinstance(href, str) and len(href) <= _MAX_HREF_CHARS else None
        row = assistant.corpus.row_of(target.paper_id) if target else None
        if target is None or row is None:
            return {}
        number = request.get("number") if isinstance(request, Mapping) else None
        paper = assistant.corpus.paper(row)
        shown = source_card(paper, target, number=number if isinstance(number, int) else None)
        return {"card": shown, "hover": hover_card(paper, target)}

    return card
