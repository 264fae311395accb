"""What the commands share: exit codes, options, progress, and text that is safe to print on a terminal."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rag.cleaning import without_invisible
from rag.context import ContextChoice
from rag.domain import WriterChoice
from rag.errors import CitewiseError
from rag.inline import parse_runs
from rag.languages import LanguageChoice
from rag.textnorm import normalize

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID
    from rich.text import Text

    from rag.settings import Settings

EXIT_FAILED, EXIT_USAGE, EXIT_NOT_IN_CORPUS, EXIT_NEEDS_DETAIL = 1, 2, 3, 4
EXIT_BUSY = 75
"""What sysexits.h calls a failure that passes: another process writes to the corpus."""

CorpusOption = Annotated[str | None, typer.Option("--corpus", help="The corpus to use. [default: CITEWISE_CORPUS]")]
HomeOption = Annotated[
    Path | None, typer.Option("--home", help="Where corpora are kept. [default: CITEWISE_HOME]", file_okay=False)
]
WriterOption = Annotated[WriterChoice | None, typer.Option("--writer", help="Who writes. [default: CITEWISE_WRITER]")]
ContextOption = Annotated[
    ContextChoice | None, typer.Option("--context", help="What a model reads. [default: CITEWISE_CONTEXT]")
]
LanguageOption = Annotated[
    LanguageChoice | None,
    typer.Option(
        "--language",
        help="The language that a model answers in, such as de; auto is that of the question. "
        "[default: CITEWISE_LANGUAGE]",
        metavar="CODE",
        show_default=False,
    ),
]
ModelOption = Annotated[
    str | None,
    typer.Option(
        "--model",
        help="The chat model's name at the endpoint; for --writer local, a GGUF file or one of `citewise model list`. "
        "[default: CITEWISE_MODEL, CITEWISE_MODEL_FILE]",
        show_default=False,
    ),
]
PapersOption = Annotated[
    int | None, typer.Option("-k", help="Papers to retrieve. [default: CITEWISE_K]", min=1, max=50)
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, one object a line.")]

Progress = Callable[[int, int, str], None]


def with_model(settings: "Settings", model: str | None) -> "Settings":
    """`settings` with what `--model` gives: a file, or a name for the local writer or else for the endpoint."""
    if model is None:
        return settings
    is_local = settings.writer == "local" or model.lower().endswith(".gguf")
    changes = {"model_file": model} if is_local else {"model": model}
    if is_local and settings.writer == "auto":
        changes["writer"] = "local"
    return settings.model_copy(update=changes)


def safe(text: str) -> str:
    """`text` without the characters that could steer a terminal or hide in it."""
    return without_invisible(text)


def typeset(text: str, *, out: "Console", style: str = "") -> "Text":
    """`text` as a reader sees it: on a terminal with its Markdown and LaTeX as styles, else word for word."""
    from rich.text import Text

    if not out.is_terminal:
        return Text(safe(text), style=style)
    shown = Text(style=style)
    for run in parse_runs(safe(text)):
        plain = run.text if run.kind == "text" else normalize(f"${run.text}$")
        shown.append(plain, style=" ".join(_STYLES[name] for name in sorted(run.styles)))
    return shown


_STYLES = {"strong": "bold", "em": "italic", "code": "cyan"}


@lru_cache(maxsize=2)
def console(*, stderr: bool = False) -> "Console":
    """The terminal: answers go to stdout, progress and messages to stderr."""
    from rich.console import Console

    return Console(
        stderr=stderr, highlight=False, markup=False, emoji=False, soft_wrap=stderr or not sys.stdout.isatty()
    )


def print_error(error: CitewiseError) -> None:
    """The problem and what to do about it, on stderr."""
    console(stderr=True).print(f"Error: {safe(error.problem)}", style="bold red")
    console(stderr=True).print(safe(error.fix))


@contextmanager
def progress_bar() -> Iterator[Progress]:
    """A progress bar on stderr, with rate and time left; it shows once there is something to wait for."""
    bars: list[RichProgress] = []
    tasks: dict[str, TaskID] = {}

    def show(done: int, total: int, what: str) -> None:
        if not bars:
            bars.append(_start_bar())
        if what not in tasks:
            tasks[what] = bars[0].add_task(what, total=total)
        bars[0].update(tasks[what], completed=done, total=total)

    try:
        yield show
    finally:
        for bar in bars:
            bar.stop()


def _start_bar() -> "RichProgress":
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as RichProgress

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    bar = RichProgress(*columns, console=console(stderr=True), transient=True)
    bar.start()
    return bar
