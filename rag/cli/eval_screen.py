"""What the commands of `citewise eval` share."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.console import Console

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
