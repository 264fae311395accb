"""`citewise chat`: the page."""

import ctypes
import os
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from rag.cli.screen import (
    ContextOption,
    CorpusOption,
    HomeOption,
    LanguageOption,
    ModelOption,
    WriterOption,
    console,
    progress_bar,
    safe,
    with_model,
)
from rag.errors import SettingsError

if TYPE_CHECKING:
    from rag.settings import Settings
    from ui.settings_drawer import Choices


def chat(
    corpus: CorpusOption = None,
    home: HomeOption = None,
    writer: WriterOption = None,
    model: ModelOption = None,
    context: ContextOption = None,
    language: LanguageOption = None,
    host: Annotated[str, typer.Option("--host", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", help="Port to listen on.", min=1, max=65535)] = 7860,
    root_path: Annotated[str, typer.Option("--root-path", help="Path behind a reverse proxy, such as /qa.")] = "",
    auth: Annotated[
        str | None,
        typer.Option(
            "--auth",
            help="NAME that the page asks for, with a password that is asked for here; or NAME:PASSWORD.",
            envvar="CITEWISE_AUTH",
        ),
    ] = None,
    adds: Annotated[
        bool | None,
        typer.Option("--add/--no-add", help="Let readers add and remove papers. [default: only on this machine]"),
    ] = None,
    mcp: Annotated[bool, typer.Option("--mcp", help="Serve ask and search as MCP tools at /mcp.")] = False,
    open_browser: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
) -> None:
    """Chat with the corpus in a browser, at http://127.0.0.1:7860."""
    from rag.assistant import Assistant
    from rag.settings import load_settings
    from rag.wiring.observing import start_observing
    from ui.server import serve

    _share_heaps()
    settings = load_settings(home=home, corpus=corpus, writer=writer, context=context, language=language)
    settings = with_model(settings, model)
    login = _login(auth or (settings.auth.get_secret_value() if settings.auth else None))
    metrics = start_observing(settings)
    with progress_bar() as on_progress:
        assistant = Assistant.from_settings(settings, on_progress=on_progress)
    console(stderr=True).print(
        f"{len(assistant.corpus):,} papers in corpus {assistant.corpus.name}; answers by the {assistant.writer_name} "
        f"writer, as {safe(assistant.about_writer)} The page is at http://{host}:{port}{root_path} (Ctrl-C ends it)."
    )
    serve(
        assistant,
        host=host,
        port=port,
        root_path=root_path or None,
        auth=login,
        adds=adds,
        mcp=mcp,
        open_browser=open_browser,
        metrics=metrics,
        home=settings.home,
        evals=settings,
        choices=_choices(settings, writer=assistant.writer_name),
    )


_M_ARENA_MAX = -8
"""Of glibc's `mallopt`, what MALLOC_ARENA_MAX is in the environment."""


def _share_heaps() -> None:
    """Lets all threads share two heaps of glibc's: with eight a processor, what is freed in one stays there, so that
    memory grows while nothing is kept."""
    if sys.platform == "linux" and "MALLOC_ARENA_MAX" not in os.environ:
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # musl has none, and one heap
        if mallopt is not None:
            mallopt(_M_ARENA_MAX, 2)


def _choices(settings: "Settings", *, writer: str) -> "Choices":
    """What the page's settings offer. Where nothing but quoting is set, no model can be chosen."""
    from rag.picking import pick_writer
    from rag.wiring import build_endpoint
    from ui.settings_drawer import Choices

    if writer == "extractive":
        return Choices(k=settings.k)
    endpoint = build_endpoint(pick_writer(settings).settings)

    def models() -> tuple[str, ...]:
        from rag.llm import list_models

        return list_models(endpoint)

    return Choices(
        writer="model",
        k=settings.k,
        can_chat=True,
        model=endpoint.model,
        context=settings.context,
        revise=settings.revise,
        private=settings.private,
        language=settings.language,
        models=models if writer == "chat" else None,
    )


def _login(auth: str | None) -> tuple[str, str] | None:
    """User name and password of NAME:PASSWORD; for a NAME alone, the password is asked for, and not shown."""
    if auth is None:
        return None
    name, colon, password = auth.partition(":")
    if name and not colon:
        password = typer.prompt(f"Password for {name}", hide_input=True, err=True)
    if not (name and password):
        raise SettingsError("--auth has no name or no password.", fix="Give both: --auth NAME:PASSWORD.")
    return name, password
