"""The bar around the question box: filters, their chips, suggestions, and the menus. Components only."""

from collections.abc import Sequence
from typing import NamedTuple

import gradio as gr

from ui.components import html
from ui.exporting import FORMS
from ui.filtering import Fields
from ui.rich_text import escape_html

_EXAMPLES = Fields("2024..2025", "ICML; NeurIPS", "Yisen Wang", "cs.LG")
_PARTS = {"conversation": "Conversation", "answer": "Last answer"}


class FilterBar(NamedTuple):
    """The fields of the filters, the papers that the chat is limited to, and the chips that show both.

    `scope` is a State of paper ids, as a tuple: another tab that sets it limits the chat to these papers.
    """

    fields: list[gr.Textbox]
    scope: gr.State
    chips: gr.HTML


def filter_bar() -> FilterBar:
    """Lays out the fields, which the button "Filter" opens, and the chips below them."""
    with gr.Row(elem_id="filters"):
        fields = [
            gr.Textbox(label=name.capitalize(), placeholder=example, max_length=500, elem_id=f"filter-{name}")
            for name, example in _EXAMPLES._asdict().items()
        ]
    chips = html("", "chips", js_on_load="window.citewise.onDrop((name) => trigger('dropped', { name }));")
    return FilterBar(fields, gr.State(()), chips)


def follow_ups_html(questions: Sequence[str]) -> str:
    """A button for each question to ask next."""
    buttons = "".join(
        f'<button type="button" data-ask="{escape_html(question)}">{escape_html(question)}</button>'
        for question in questions
    )
    return f'<div role="group" aria-label="Questions to ask next">{buttons}</div>' if buttons else ""


def follow_ups() -> gr.HTML:
    """The questions to ask next. Its event `asked` is told the `question`."""
    return html("", "follow-ups", js_on_load="window.citewise.onAsk((question) => trigger('asked', { question }));")


def tools(hint: str) -> gr.HTML:
    """The line below the question box: menus on the left, `hint` (HTML made by `ui.panel`) on the right."""
    kinds = "".join(
        f"<li><span>{form.label}</span>{''.join(_export(name, form.label, part) for part in _PARTS)}</li>"
        for name, form in FORMS.items()
    )
    menus = (
        '<button type="button" data-toggle="filters" aria-expanded="false">Filter</button>'
        f'<details class="export"><summary>Export</summary><ul>{kinds}</ul></details>'
        '<button type="button" data-toggle="settings" aria-expanded="false">Settings</button>'
        '<button type="button" data-show="shortcuts" aria-label="Keyboard shortcuts">?</button>'
    )
    return html(f'<div class="tools">{menus}</div><p id="hint">{hint}</p>', "tools")


def _export(form: str, label: str, part: str) -> str:
    said = _PARTS[part]
    return (
        f'<button type="button" data-export="{form}" data-part="{part}" aria-label="{said} as {label}">{said}</button>'
    )


def unseen(elem_id: str, value: str = "") -> gr.Textbox:
    """A value that the page holds and nobody sees."""
    return gr.Textbox(value, elem_id=elem_id, elem_classes="unseen", container=False, show_label=False)
