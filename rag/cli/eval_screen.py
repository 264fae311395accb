"""What the commands of `citewise eval` share."""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rag.cli.screen import console

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

OutOption = Annotated[
    Path | None, typer.Option("--out", help="Where runs are kept. [default: runs in the home]", file_okay=False)
]
RunArgument = Annotated[
    str, typer.Argument(help="A run: its name, the beginning of it, its folder, or last.", metavar="RUN")
]


WIDEST = 500
"""Characters of a line that is not for a terminal: no table is wider."""


def wide_console() -> "Console":
    """A terminal as it is; piped output as wide as its tables."""
    from rich.console import Console

    width = None if sys.stdout.isatty() else WIDEST
    return Console(width=width, markup=False, emoji=False, highlight=False)


def print_report(record: Mapping[str, object], table: "Table", *, as_json: bool) -> None:
    """A benchmark's report: as a table, or as a line of JSON."""
    from rag.answer_json import dump

    if as_json:
        print(dump(record))
    else:
        wide_console().print(table)


@contextmanager
def question_bar(what: str) -> Iterator[Callable[[int, int], None]]:
    """A bar on stderr with the rate and the time left; `what` is under way."""
    from rich.progress import BarColumn, MofNCompleteColumn, ProgressColumn, Task, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as RichProgress
    from rich.text import Text

    class Rate(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text("" if task.speed is None else f"{task.speed:.2f}/s")

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), Rate(), TimeRemainingColumn())
    with RichProgress(*columns, console=console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
