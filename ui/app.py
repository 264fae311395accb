"""The chat page: wires Gradio's components to `ui.conversation` and `ui.panel`. Decides nothing itself."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, NamedTuple

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")  # read at import: otherwise gradio calls home

import gradio as gr

from rag.answer_json import answer_to_dict
from rag.assistant import MAX_QUESTION_CHARS, Assistant
from rag.domain import Turn
from rag.errors import CitewiseError
from ui.conversation import BROKEN, STOPPED, Message, View, converse
from ui.panel import LEGEND, corpus_page, header, hover_card, model_hint, source_card
from ui.render import parse_cite, question_text
from ui.rich_text import DISPLAY_CLOSE, DISPLAY_OPEN, MATHS_CLOSE, MATHS_OPEN

PAPERS_ON_A_PAGE = 25
MAX_HISTORY = 6
"""Turns that a question is asked after, at most."""
ANSWERS_AT_ONCE = 8
_WAITING = 64
_SESSIONS = 500
_MAX_MESSAGE_CHARS = 100_000
_MAX_HREF_CHARS = 2_000
_PRIVATE: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden"}
_INSTANT: dict[str, Any] = {**_PRIVATE, "queue": False}
_WRITING: dict[str, Any] = {**_PRIVATE, "concurrency_id": "answers", "concurrency_limit": ANSWERS_AT_ONCE}
_MATHS: list[dict[str, str | bool]] = [
    {"left": MATHS_OPEN, "right": MATHS_CLOSE, "display": False},
    {"left": DISPLAY_OPEN, "right": DISPLAY_CLOSE, "display": True},
]
_EMPTY_CHAT = "<strong>Ask these abstracts</strong>Every sentence of an answer cites the sentence that it stands on."


@dataclass(frozen=True, slots=True)
class PageConfig:
    """Where the page is served from, and who may see it: `auth` is a user name and a password."""

    root_path: str | None = None
    auth: tuple[str, str] | None = None


class _Ask(NamedTuple):
    """The components of the Ask tab that events read and write."""

    chat: gr.Chatbot
    box: gr.Textbox
    status: gr.HTML
    sources: gr.HTML
    examples: Sequence[gr.Button]

    @property
    def outputs(self) -> list[Any]:
        return [self.chat, self.sources, self.status, self.box]


def build(assistant: Assistant, config: PageConfig) -> tuple[gr.Blocks, dict[str, Any]]:
    """The page, and the keyword arguments that `gr.mount_gradio_app` needs for it."""
    with gr.Blocks(title="citewise", analytics_enabled=False, fill_width=True) as page:
        _html(header(assistant.corpus.name, len(assistant.corpus)), "header")
        with gr.Tabs(elem_id="tabs"):
            with gr.Tab("Ask", elem_id="ask-tab"):
                _wire_ask(_ask_components(assistant), assistant)
            with gr.Tab("Corpus", elem_id="corpus-tab"):
                _corpus_tab(assistant)
        gr.events.api(_api(assistant), api_name="ask", concurrency_id="answers", concurrency_limit=ANSWERS_AT_ONCE)
    page.queue(max_size=_WAITING, default_concurrency_limit=ANSWERS_AT_ONCE, api_open=False)
    page.state_session_capacity = _SESSIONS  # mount_gradio_app has no argument for it
    return page, _mount_arguments(config)


def _mount_arguments(config: PageConfig) -> dict[str, Any]:
    static = files("ui") / "static"
    style = (static / "style.css").read_text(encoding="utf-8")
    script = (static / "page.js").read_text(encoding="utf-8")
    font = ["system-ui", "sans-serif"]
    mono = ["ui-monospace", "monospace"]
    return {
        "theme": gr.themes.Base(font=font, font_mono=mono, primary_hue="slate", neutral_hue="stone"),
        "head": f"<style>{style}</style><script>{script}</script>",  # css= would put a prefix before each selector
        "root_path": config.root_path,
        "auth": config.auth,
        "run_history": False,
        "enable_monitoring": False,
        "footer_links": [],
        "pwa": False,
        "ssr_mode": False,
        "mcp_server": False,
        "show_error": False,
        "max_file_size": "1kb",
    }


def _html(value: str, elem_id: str, *, js_on_load: str | None = None, **arguments: Any) -> gr.HTML:
    """HTML made by `ui.panel`, without Gradio's own styles and click handler."""
    return gr.HTML(value, elem_id=elem_id, apply_default_css=False, js_on_load=js_on_load, **arguments)


def _ask_components(assistant: Assistant) -> _Ask:
    with gr.Row(elem_id="reading"):
        with gr.Column(scale=3, elem_id="conversation"):
            chat = gr.Chatbot(
                elem_id="chat",
                show_label=False,
                label="Conversation",
                buttons=["copy"],
                editable="user",
                feedback_options=None,
                autoscroll=False,
                layout="bubble",
                line_breaks=False,
                latex_delimiters=_MATHS,
                placeholder=_EMPTY_CHAT,
                height="auto",
            )
            with gr.Column(elem_id="examples"):
                examples = [gr.Button(question) for question in assistant.example_questions(n=4)]
            status = _html("", "status", html_template='<div role="status">${value}</div>')
            box = gr.Textbox(
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
            _html(model_hint(assistant.writer_name), "hint")
        sources = _html(
            LEGEND,
            "sources",
            html_template='<section role="region" aria-label="Sources" tabindex="-1">'
            '<button type="button" class="close" aria-label="Close the sources">✕</button>'
            '<div class="detail"></div><div class="list">${value}</div></section>',
            js_on_load="window.citewise.connect((request) => server.card(request));",
            server_functions=[_card_server(assistant)],
        )
    return _Ask(chat, box, status, sources, examples)


def _wire_ask(ask: _Ask, assistant: Assistant) -> None:
    def respond(question: str, before: tuple[Message, ...]) -> Iterator[tuple[Any, ...]]:
        if not question.strip():
            yield gr.skip(), gr.skip(), gr.skip(), gr.skip()
            return
        for number, view in enumerate(converse(assistant, question, before=before)):
            yield _updates(view, first=number == 0)

    def submit(question: str, history: object) -> Iterator[tuple[Any, ...]]:
        yield from respond(question, _messages(history))

    def retry(history: object, event: gr.RetryData) -> Iterator[tuple[Any, ...]]:
        messages, at = _messages(history), _index(event.index)
        yield from respond(question_text(messages[at][1]), messages[:at])

    def edit(history: object, event: gr.EditData) -> Iterator[tuple[Any, ...]]:
        yield from respond(question_text(str(event.value)), _messages(history)[: _index(event.index)])

    def undo(history: object, event: gr.UndoData) -> tuple[Any, ...]:
        messages, at = _messages(history), _index(event.index)
        return _shown(messages[:at]), LEGEND, "", gr.update(value=question_text(messages[at][1]))

    def idle(status: str) -> tuple[Any, ...]:
        return status, gr.update(submit_btn=True, stop_btn=False)

    chat, box = ask.chat, ask.box
    writing: list[Any] = [
        box.submit(submit, [box, chat], ask.outputs, **_WRITING),
        chat.retry(retry, chat, ask.outputs, **_WRITING),
        chat.edit(edit, chat, ask.outputs, **_WRITING),
        *(button.click(submit, [button, chat], ask.outputs, **_WRITING) for button in ask.examples),
    ]
    for event in writing:
        event.failure(lambda: idle(BROKEN), None, [ask.status, box], **_INSTANT)
    box.stop(lambda: idle(STOPPED), None, [ask.status, box], cancels=writing, **_INSTANT)
    chat.undo(undo, chat, ask.outputs, **_INSTANT)
    chat.clear(lambda: (LEGEND, ""), None, [ask.sources, ask.status], **_INSTANT)


def _updates(view: View, *, first: bool) -> tuple[Any, ...]:
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


def _api(assistant: Assistant) -> Callable[..., dict[str, Any]]:
    """The one public endpoint of the page."""

    def ask(question: str, history: list[dict[str, str]] | None = None) -> dict[str, Any]:
        """Answers a question of at most 4,000 characters, asked after `history`: objects with `question` and `answer`.

        Gives the same JSON object as `citewise ask --json`.
        """
        latest = (history or [])[-MAX_HISTORY:]
        turns = [Turn(_capped(turn.get("question")), _capped(turn.get("answer"))) for turn in latest]
        try:
            return answer_to_dict(assistant.ask(str(question), history=turns))
        except CitewiseError as error:
            raise gr.Error(str(error)) from error

    return ask


def _capped(text: object) -> str:
    return str(text or "")[:MAX_QUESTION_CHARS]


def _corpus_tab(assistant: Assistant) -> None:
    corpus = assistant.corpus

    def page_at(query: str, first: int) -> tuple[str, int, Any, Any]:
        asked = query.strip()[:MAX_QUESTION_CHARS]
        first = max(0, min(int(first), len(corpus) - 1))
        if asked:
            found = [hit.paper for hit in assistant.search(asked, k=PAPERS_ON_A_PAGE)]
            shown = corpus_page(found, total=len(corpus), first=1, query=asked)
            return shown, 0, gr.update(interactive=False), gr.update(interactive=False)
        rows = range(first, min(first + PAPERS_ON_A_PAGE, len(corpus)))
        shown = corpus_page([corpus.paper(row) for row in rows], total=len(corpus), first=first + 1)
        return shown, first, gr.update(interactive=first > 0), gr.update(interactive=rows.stop < len(corpus))

    first = gr.State(0)
    query = gr.Textbox(
        elem_id="find", label="Search titles and abstracts", placeholder="Search titles and abstracts", submit_btn=True
    )
    papers = _html(page_at("", 0)[0], "papers")
    with gr.Row(elem_id="pages"):
        previous = gr.Button("Previous", interactive=False)
        following = gr.Button("Next", interactive=len(corpus) > PAPERS_ON_A_PAGE)
    outputs = [papers, first, previous, following]
    query.submit(page_at, [query, first], outputs, **_INSTANT)
    previous.click(lambda text, at: page_at(text, at - PAPERS_ON_A_PAGE), [query, first], outputs, **_INSTANT)
    following.click(lambda text, at: page_at(text, at + PAPERS_ON_A_PAGE), [query, first], outputs, **_INSTANT)
