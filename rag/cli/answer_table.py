"""Tables of an answer on a terminal: lines with pipes are held back until their table is whole, and then drawn."""

from typing import TYPE_CHECKING

from rag.cli.screen import typeset
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
                self._print(line, style=style)
            self._at_line_start = line.endswith("\n")

    def finish(self) -> None:
        """Draws the table that is held back; what turns out to be none is printed as it is."""
        held, self._held = self._held, ""
        tables = find_tables(held.rstrip("\n"))
        if len(tables) == 1 and tables[0].span.start == 0:
            self._draw(held, tables[0])
            held = held[tables[0].span.end :].lstrip("\n")
        if held:
            self._print(held)

    def _print(self, text: str, *, style: str | None = None) -> None:
        self._out.print(typeset(text, out=self._out, style=style or ""), end="", soft_wrap=True)

    def _draw(self, text: str, table: Table) -> None:
        from rich import box
        from rich.table import Table as Grid

        grid = Grid(box=box.SIMPLE, show_lines=True)
        for start, end in table.header:
            grid.add_column(typeset(text[start:end], out=self._out))
        for row in table.rows:
            grid.add_row(*(typeset(text[start:end], out=self._out) for start, end in row[: len(table.header)]))
        self._out.print(grid, end="")
