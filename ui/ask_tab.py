"""The Ask tab: the chat, its question box and the sources beside it. Layout here, what happens in `ui.ask_events`."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import gradio as gr

from rag.assistant import MAX_QUESTION_CHARS, Assistant
from rag.domain import Paper
from ui.ask_events import AskComponents, wire
from ui.components import html
from ui.controls import filter_bar, follow_ups, tools, unseen
from ui.history import history_drawer
from ui.keeping import Keeper, Place, from_browser
from ui.panel import LEGEND, hover_card, model_hint, source_card
from ui.render import parse_cite
from ui.rich_text import DISPLAY_CLOSE, DISPLAY_OPEN, MATHS_CLOSE, MATHS_OPEN
from ui.settings_drawer import Choices, settings_drawer

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


class AskTab(NamedTuple):
    """What other tabs may use.

    `scope_ids` is a State: a tuple of the ids of the papers that the chat is limited to; where it is empty, to none.
    """

    scope_ids: gr.State


def ask_tab(assistant: Assistant, page: gr.Blocks, *, keeper: Keeper, choices: Choices) -> AskTab:
    """Lays out the tab's components and wires their events."""
    with gr.Row(elem_id="reading"):
        history = history_drawer(keeper, assistant)
        with gr.Column(scale=3, elem_id="conversation"):
            chat = _chat()
            with gr.Column(elem_id="examples"):
                examples = [gr.Button(question) for question in assistant.example_questions(n=4)]
            suggested = follow_ups()
            status = html("", "status", html_template='<div role="status">${value}</div>')
            filters = filter_bar()
            box = _question_box()
            tools(model_hint(assistant.writer_name, assistant.about_writer))
        sources = html(
            LEGEND,
            "sources",
            html_template=_SOURCES,
            js_on_load="window.citewise.connect((request) => server.card(request));",
            server_functions=[_card_server(assistant, keeper)],
        )
    settings = settings_drawer(choices, page)
    components = AskComponents(
        chat=chat,
        box=box,
        status=status,
        sources=sources,
        examples=examples,
        suggested=suggested,
        history=history,
        filters=filters,
        settings=settings,
        place=unseen("place", Place().to_json()),
        turn=unseen("turn"),
        read=unseen("read"),
    )
    wire(components, assistant, keeper, page)
    return AskTab(filters.scope)


def _chat() -> gr.Chatbot:
    return gr.Chatbot(
        elem_id="chat",
        show_label=False,
        label="Conversation",
        buttons=["copy"],  # sharing would post the conversation to another site
        editable="user",
        feedback_options=("Like", "Dislike"),
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


def _card_server(assistant: Assistant, keeper: Keeper) -> Any:
    """The function that the page asks for the source behind a citation; its requests may come from anyone."""

    def card(request: object) -> dict[str, str]:
        asked = request if isinstance(request, Mapping) else {}
        href = asked.get("href")
        target = parse_cite(href) if isinstance(href, str) and len(href) <= _MAX_HREF_CHARS else None
        paper = _paper(target.paper_id, asked) if target else None
        if target is None or paper is None:
            return {}
        number = asked.get("number")
        shown = source_card(paper, target, number=number if isinstance(number, int) else None)
        return {"card": shown, "hover": hover_card(paper, target)}

    def _paper(paper_id: str, asked: Mapping[str, Any]) -> Paper | None:
        """The paper as the corpus has it, or, where it has it no more, as the conversation's answers kept it."""
        corpus = assistant.corpus
        row = corpus.row_of(paper_id)
        if row is not None:
            return corpus.paper(row)
        place = Place.from_json(asked.get("place"))
        turns = keeper.turns(place.conversation_id) if keeper.keeps else from_browser(asked.get("turns"))
        answers = [turn.answer for turn in turns or () if turn.answer]
        papers = [hit.paper for answer in answers for hit in answer.retrieved]
        return next((paper for paper in papers if paper.paper_id == paper_id), None)

    return card
