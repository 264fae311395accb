"""What the panes of the Evals tab share, in which a reader decides on things one by one: see `static/panes.js`."""

from collections.abc import Callable, Mapping

from evals.running.errors import RunError
from rag.errors import CitewiseError
from ui.evals_view import problem
from ui.rich_text import escape_html

Request = Mapping[str, str]


def pane_html(words: str) -> str:
    """The button that opens a pane, hidden until there is something to open it for, and the pane."""
    return f'<button type="button" data-do="open" hidden>{words}</button><div class="pane"></div>'


def connect_js(script: str) -> str:
    """What tells `script` of the server's functions and of the component's value, whenever that changes."""
    return f"const connect = () => window.{script}.connect(server, props.value);\nwatch('value', connect);\nconnect();"


def answered(request: object, answer: Callable[[Request], str], *, most_chars: int) -> dict[str, str]:
    """The HTML that `answer` makes of a request, or what is wrong, as "error"; requests may come from anyone.

    A request is texts of at most `most_chars` by name.
    """
    try:
        if not isinstance(request, Mapping) or not all(
            isinstance(value, str) and len(value) <= most_chars for value in request.values()
        ):
            raise RunError("The page sent what cannot be read.", fix="Load it again, or write less.")
        return {"html": answer(request)}
    except CitewiseError as error:
        return {"error": problem(error)}


def head(told: str, *, done: int, total: int, bar: str, extra: str = "") -> str:
    """How far the reader is: `told` is text, `extra` HTML."""
    return (
        f'<div class="far"><p role="status">{escape_html(told)}</p>'
        f'<progress max="{max(total, 1)}" value="{done}" aria-label="{bar}"></progress>{extra}'
        '<button type="button" data-do="close">Close</button></div>'
    )


def button(action: str, words: str, key: str, *, label: str = "") -> str:
    """A button that asks for an action, with the key that asks for it too."""
    return (
        f'<button type="button" data-do="{action}" data-label="{label}" aria-keyshortcuts="{key}">'
        f"{words} <kbd>{key}</kbd></button>"
    )
