"""The drawer of conversations: listed, searched, opened, renamed, deleted, and taken away as a file."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import gradio as gr

from rag.assistant import Assistant
from rag.conversations import MAX_TITLE_CHARS, Heading, KeptTurn, title_of
from ui.components import html
from ui.exporting import FORMS, export
from ui.keeping import Keeper, Place, from_browser
from ui.rich_text import escape_html

_MAX_QUERY_CHARS = 200
_SHELL = (
    '<section role="region" aria-label="Conversations" tabindex="-1"><div class="head"><h2>Conversations</h2>'
    '<button type="button" class="close" aria-label="Close the conversations">✕</button></div>'
    '<button type="button" class="new">New conversation</button>'
    '<input type="search" aria-label="Search conversations" placeholder="Search" maxlength="200">'
    '<div class="list"></div><p class="note">${value}</p></section>'
)
_PENCIL = '<path d="M4 16.5V20h3.5L18 9.5 14.5 6 4 16.5Z"/>'
_BIN = '<path d="M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13"/>'


def history_drawer(keeper: Keeper, assistant: Assistant) -> gr.HTML:
    """Lays out the drawer. Its event `opened` is told the `id` of a conversation, "" for a new one."""
    kept = "" if keeper.keeps else "Conversations are kept in this browser alone."
    return html(
        keeper.notice or kept,
        "history",
        html_template=_SHELL,
        js_on_load="window.citewise.history(element, server, (request) => trigger('opened', request), %s);"
        % ("false" if keeper.keeps else "true"),
        server_functions=[_lister(keeper, assistant), _changer(keeper, assistant), _exporter(keeper)],
    )


def _lister(keeper: Keeper, assistant: Assistant) -> Callable[[object], dict[str, str]]:
    def conversations(request: object) -> dict[str, str]:
        """The list as HTML: of the conversations kept here, or of the headings that a browser sends."""
        asked = request if isinstance(request, Mapping) else {}
        query = str(asked.get("query") or "")[:_MAX_QUERY_CHARS]
        if keeper.keeps:
            return {"html": list_html(keeper.headings(query, corpus=assistant.corpus.name), query=query)}
        return {"html": list_html(_sent_headings(asked.get("headings")), query=query)}

    return conversations


def _changer(keeper: Keeper, assistant: Assistant) -> Callable[[object], dict[str, str]]:
    def change(request: object) -> dict[str, str]:
        """Renames, deletes or restores a conversation."""
        asked = request if isinstance(request, Mapping) else {}
        title = str(asked.get("title") or "")[: 2 * MAX_TITLE_CHARS]
        keeper.change(str(asked.get("do")), str(asked.get("id"))[:64], title)
        return {"html": list_html(keeper.headings("", corpus=assistant.corpus.name), query="")}

    return change


def _exporter(keeper: Keeper) -> Callable[[object], dict[str, str]]:
    def take(request: object) -> dict[str, str]:
        """A file of the conversation at `place`, or of its last answer: name, media type and text; {} for nothing."""
        asked = request if isinstance(request, Mapping) else {}
        form, place = str(asked.get("form")), Place.from_json(asked.get("place"))
        turns = keeper.turns(place.conversation_id) if keeper.keeps else from_browser(asked.get("turns"))
        answers = [turn.answer for turn in turns or () if turn.answer is not None]
        if form not in FORMS or not answers:
            return {}
        if asked.get("part") == "answer":
            answers = answers[-1:]
        whole = asked.get("part") != "answer" and keeper.title(place.conversation_id)
        title = whole or title_of(answers[0].question)
        text = export(answers, title=title, form=form)
        return {"name": f"{_file_name(title)}.{form}", "type": FORMS[form].media_type, "text": text}

    return take


def _file_name(title: str) -> str:
    plain = "".join(char if char.isascii() and char.isalnum() else "-" for char in title.lower())
    return "-".join(part for part in plain.split("-") if part)[:60].rstrip("-") or "conversation"


def _sent_headings(value: object) -> Sequence[Heading]:
    sent = [item for item in value[:1000] if isinstance(item, Mapping)] if isinstance(value, list) else []
    return [Heading(str(item.get("id"))[:64], title_of(str(item.get("title"))[:1000]), 0.0) for item in sent]


def list_html(headings: Sequence[Heading], *, query: str) -> str:
    """The conversations as a list of buttons."""
    if not headings:
        said = f"Nothing holds “{query}”." if query else "What you ask is kept here."
        return f'<p class="note">{escape_html(said)}</p>'
    return f"<ul>{''.join(_item(heading) for heading in headings)}</ul>"


def _item(heading: Heading) -> str:
    title = escape_html(heading.title)
    return (
        f'<li data-id="{escape_html(heading.conversation_id)}"><button type="button" class="open">{title}</button>'
        f"{_icon('rename', f'Rename {title}', _PENCIL)}{_icon('delete', f'Delete {title}', _BIN)}</li>"
    )


def _icon(name: str, label: str, path: str) -> str:
    return (
        f'<button type="button" class="{name}" aria-label="{label}"><svg viewBox="0 0 24 24" aria-hidden="true">'
        f"{path}</svg></button>"
    )


def turns_of_request(request: Mapping[str, Any], keeper: Keeper) -> tuple[KeptTurn, ...] | None:
    """The turns of the conversation that `opened` names, wherever they are kept; None where there is none."""
    if keeper.keeps:
        return keeper.turns(str(request.get("id") or "")[:64])
    return from_browser(request.get("turns")) or None
