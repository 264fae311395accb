"""The web app behind a real port of this machine, served by a thread: for clients that are not given an app."""

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn

from ui.app import PageConfig
from ui.server import create_app


@contextmanager
def live(assistant: object, config: PageConfig | None = None) -> Iterator[str]:
    """The address of the app while it is served, without a slash at its end."""

    started: list[uvicorn.Server] = []

    async def serve() -> None:
        app = create_app(assistant, config or PageConfig())  # type: ignore[arg-type]
        started.append(
            uvicorn.Server(
                uvicorn.Config(app, host="127.0.0.1", port=0, log_level="warning", timeout_graceful_shutdown=2)
            )
        )
        await started[0].serve()

    # In the thread, as Playwright leaves a loop running in this one.
    thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
    thread.start()
    until = time.monotonic() + 60
    while not (started and started[0].started):
        assert thread.is_alive(), "the server ended before it was ready"
        assert time.monotonic() < until, "the server was not ready in time"
        time.sleep(0.02)
    (server,) = started
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(20)
