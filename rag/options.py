"""What a reader may choose anew for each question, on top of the settings."""

from dataclasses import asdict, dataclass

from rag.context import ContextChoice
from rag.domain import WriterChoice
from rag.languages import LanguageChoice
from rag.settings import Settings


@dataclass(frozen=True, slots=True)
class AskOptions:
    """Options of a question; None is as the settings say."""

    writer: WriterChoice | None = None
    model: str | None = None
    k: int | None = None
    context: ContextChoice | None = None
    revise: int | None = None
    private: bool | None = None
    language: LanguageChoice | None = None

    def applied_to(self, settings: Settings) -> Settings:
        """`settings` with these options. What the settings keep private stays private."""
        chosen = {name: value for name, value in asdict(self).items() if value is not None}
        if settings.private:
            chosen.pop("private", None)
        return settings.model_copy(update=chosen)
