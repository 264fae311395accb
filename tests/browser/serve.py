"""Serves the page for a browser test: `python -m tests.browser.serve fake|quoting|nameless|real PORT`.

Whatever this process asks of the network beyond loopback is refused and printed as a line that begins with OUTSIDE.
"""

import os
import sys
from pathlib import Path
from typing import Any

from tests.browser.fake_assistant import FakeAssistant


def guard(event: str, arguments: tuple[Any, ...]) -> None:
    """An audit hook: no name look-up and no connection beyond loopback."""
    if event == "socket.getaddrinfo":
        host = arguments[0]
    elif event == "socket.connect" and isinstance(arguments[1], tuple):
        host = arguments[1][0]
    else:
        return
    name = host.decode() if isinstance(host, bytes) else str(host or "")
    if name not in {"", "localhost", "::1", "::", "0.0.0.0"} and not name.startswith("127."):  # noqa: S104
        print("OUTSIDE", event, name, flush=True)
        raise PermissionError(f"{event} {name}")


def main(kind: str, port: int) -> None:
    sys.addaudithook(guard)
    from rag.assistant import Assistant
    from rag.settings import load_settings
    from ui.server import serve
    from ui.settings_drawer import Choices

    assistants = {
        "fake": FakeAssistant,
        "nameless": FakeAssistant,
        "quoting": lambda: FakeAssistant(writer_name="extractive", pause=0.0),
        "real": Assistant.open,
    }
    home = Path(os.environ["CITEWISE_HOME"])
    offered = Choices(writer="model", can_chat=True, model="fake-model", models=lambda: ("fake-model", "other-model"))
    choices = offered if kind in {"fake", "nameless"} else None
    kept = None if kind == "nameless" else home
    evals = load_settings(home=home, writer="extractive")
    serve(assistants[kind](), port=port, home=kept, choices=choices, evals=evals)  # type: ignore[arg-type]


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
