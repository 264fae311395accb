"""Tables of an answer on a terminal: lines with pipes are held back until their table is whole, and then drawn."""

from typing import TYPE_CHECKING

from rag.cli.screen import safe
from rag.tables import Table, find_tables

if TYPE_CHECKING:
    from rich.console import Console

MARKER_STYLE = "bold cyan"


class AnswerPrinter:
    """Prints an answer's text as it comes, its markers and its tables. End it with `finish`."""

    def __init__(self, out: "Console") -> None:
        self._out = out
        self._held = ""
        self._at_line_start = True

    def add(self, text: str, *, style: str | None = None) -> None:
        """Prints `text`, or keeps it back where it stands in a table."""
        for line in text.splitlines(keepends=True):
            if self._at_line_start and self._held and not line.startswith("|"):
                self.finish()
            if self._held or (self._at_line_start and line.startswith("|")):
                self._held += line
            else:
                self._out.print(safe(line), end="", style=style, soft_wrap=True)
            self._at_line_start = line.endswith("\n")

    def finish(self) -> None:
        """Draws the table that is held back; what turns out to be none is printed as it is."""
        held, self._held = self._held, ""
        tables = find_tables(held.rstrip("\n"))
        if len(tables) == 1 and tables[0].span.start == 0:
            self._draw(held, tables[0])
            held = held[tables[0].span.end :].lstrip("\n")
        if held:
            self._out.print(safe(held), end="", soft_wrap=True)

    def _draw(self, text: str, table: Table) -> None:
        from rich import box
        from rich.table import Table as Grid
        from rich.text import Text

        grid = Grid(box=box.SIMPLE, show_lines=True)
        for start, end in table.header:
            grid.add_column(Text(safe(text[start:end])))
        for row in table.rows:
            grid.add_row(*(Text(safe(text[start:end])) for start, end in row[: len(table.header)]))
        self._out.print(grid, end="")
