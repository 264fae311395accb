"""The settings that a reader may change for the next questions; each browser keeps its own."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import gradio as gr

from rag.languages import LANGUAGES
from rag.options import AskOptions
from ui.components import PRIVATE, html

MAX_K = 20
_ALLOWED: dict[str, Callable[[Any], bool]] = {
    "writer": lambda value: value in ("model", "extractive"),
    "model": lambda value: isinstance(value, str) and 0 < len(value) <= 200,
    "k": lambda value: type(value) in (int, float) and 1 <= value <= MAX_K,
    "context": lambda value: value in ("auto", "whole", "evidence"),
    "revise": lambda value: type(value) is int and 0 <= value <= 2,
    "private": lambda value: value is True,
    "language": lambda value: isinstance(value, str) and value in ("auto", *LANGUAGES),
}
"""The values that a client may send, in the order of the components."""
_STORAGE_KEY, _SECRET = "citewise_settings_v1", "citewise"
_KEEP = "(...values) => [values]"  # in the browser itself: by way of the server, a page closed at once would lose them
_HEAD = '<h2>Settings</h2><button type="button" class="close" aria-label="Close the settings">✕</button>'
_COSTS = {
    "writer": "Quoting costs nothing and takes a blink. A model costs one call a question, and writes.",
    "model": "Larger ones write better, and cost and wait more.",
    "k": "Each further paper adds some 250 tokens to a model's prompt; quoting stays free.",
    "context": "Evidence alone takes about half the tokens of whole abstracts, and loses little.",
    "revise": "Each round is one more call where the check finds something unsupported; else none.",
    "private": "Free. Names, numbers and addresses in questions leave as stand-ins; the topic is still seen.",
    "language": "Free. In another language than the abstracts', only names and numbers of an answer can be checked.",
}


@dataclass(frozen=True, slots=True)
class Choices:
    """What there is to choose, and what holds where nothing is chosen.

    `writer` is who writes by default: "model" or "extractive", the one choice where `can_chat` is not set. `models`
    asks the endpoint for those that can be chosen; it is None where there is one model and no other.
    """

    writer: str = "extractive"
    can_chat: bool = False
    model: str | None = None
    k: int = 8
    context: str = "auto"
    revise: int = 0
    private: bool = False
    language: str = "auto"
    models: Callable[[], Sequence[str]] | None = None


class SettingsDrawer(NamedTuple):
    """The components whose values an ask needs, in order, and what makes options of them."""

    inputs: list[Any]
    options: Callable[[Sequence[object]], AskOptions]


def settings_drawer(choices: Choices, page: gr.Blocks) -> SettingsDrawer:
    """Lays out the drawer; its values are kept in the browser, and set anew when the page loads."""

    def models(request: object) -> list[str]:
        """The names of the models, asked for when the drawer is opened."""
        return list(choices.models()) if choices.models else []

    with gr.Column(elem_id="settings"):
        html(
            _HEAD,
            "settings-head",
            js_on_load="window.citewise.settings(server);",
            server_functions=[models],
        )
        writer = gr.Radio(
            [("A model", "model"), ("Quote the abstracts", "extractive")],
            value=choices.writer,
            label="Who writes",
            info=_COSTS["writer"],
            visible=choices.can_chat,
        )
        model = gr.Textbox(
            value=choices.model or "",
            label="Model",
            info=_COSTS["model"],
            placeholder="The only one served",
            max_length=200,
            visible=choices.models is not None,
            elem_id="model",
        )
        k = gr.Slider(1, MAX_K, value=min(choices.k, MAX_K), step=1, label="Papers to read", info=_COSTS["k"])
        context = gr.Radio(
            [("As the window allows", "auto"), ("Whole abstracts", "whole"), ("Evidence", "evidence")],
            value=choices.context,
            label="What a model reads",
            info=_COSTS["context"],
            visible=choices.can_chat,
        )
        revise = gr.Radio(
            [("Never", 0), ("Once", 1), ("Twice", 2)],
            value=choices.revise,
            label="Correct what is unsupported",
            info=_COSTS["revise"],
            visible=choices.can_chat,
        )
        language = gr.Dropdown(
            [("That of the question", "auto"), *sorted((name, code) for code, name in LANGUAGES.items())],
            value=choices.language,
            label="Language of answers",
            info=_COSTS["language"],
            visible=choices.can_chat,
            elem_id="language",
        )
        private = gr.Checkbox(
            value=choices.private,
            label="Private questions",
            info=_COSTS["private"],
            visible=choices.can_chat,
            interactive=not choices.private,
        )
        html(
            "" if choices.can_chat else "There is no model, so there is nothing else to choose.",
            "settings-note",
        )
    inputs: list[Any] = [writer, model, k, context, revise, private, language]
    kept = gr.BrowserState(None, storage_key=_STORAGE_KEY, secret=_SECRET)
    for component in inputs:
        component.input(None, inputs, kept, js=_KEEP, **PRIVATE)
    page.load(lambda values: _restored(values, choices), kept, inputs, **PRIVATE)
    return SettingsDrawer(inputs, lambda values: read_options(values, choices=choices))


def _restored(values: object, choices: Choices) -> list[Any]:
    """What the browser kept, where it can still be chosen."""
    kept = dict(zip(_ALLOWED, values if isinstance(values, list) else (), strict=False))
    return [
        gr.update(value=kept[name])
        if name in kept and allowed(kept[name]) and (choices.can_chat or name == "k")
        else gr.skip()
        for name, allowed in _ALLOWED.items()
    ]


def read_options(values: Sequence[object], *, choices: Choices) -> AskOptions:
    """The options that the components' values come to; a client may send anything, and gets what there is."""
    asked = dict(zip(_ALLOWED, values, strict=False))
    chosen: dict[str, Any] = {
        name: value
        for name, value in asked.items()
        if _ALLOWED[name](value) and value != getattr(choices, name) and (choices.can_chat or name == "k")
    }
    if "model" in chosen and chosen["model"] not in (choices.models() if choices.models else ()):
        del chosen["model"]
    if "k" in chosen:
        chosen["k"] = int(chosen["k"])
    return AskOptions(**chosen)
