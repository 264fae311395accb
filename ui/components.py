"""What both tabs share: how events are queued and shown, and HTML made by `ui.panel`."""

from typing import Any

import gradio as gr

ANSWERS_AT_ONCE = 8
"""Questions that are answered at the same time; others wait."""
ANSWERS_WAITING = 64
"""Questions that wait at most; more are refused."""

PRIVATE: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden"}
"""For every event. All are queued: calls that skip the queue are closed, for they would skip its limits too."""
WRITING: dict[str, Any] = {**PRIVATE, "concurrency_id": "answers", "concurrency_limit": ANSWERS_AT_ONCE}


def html(value: str, elem_id: str, *, js_on_load: str | None = None, **arguments: Any) -> gr.HTML:
    """A component for HTML made by `ui.panel`, without Gradio's own styles and click handler."""
    return gr.HTML(value, elem_id=elem_id, apply_default_css=False, js_on_load=js_on_load, **arguments)
