"""What writers that stand around another one have in common."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rag.answering import Writer


class WrappedWriter:
    """Goes by the name, model and prompt of the writer that it stands around; `instead` writes where that must not."""

    def __init__(self, writer: "Writer", *, instead: "Writer") -> None:
        self._writer, self._instead = writer, instead
        self.name = writer.name

    @property
    def model(self) -> str | None:
        return self._writer.model

    @property
    def prompt(self) -> str | None:
        return self._writer.prompt
