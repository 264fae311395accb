"""The one place that builds real objects from settings: the embedder and the writer."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag.embedding import Embedder, MiniLMEmbedder
from rag.errors import SettingsError
from rag.extractive import ExtractiveWriter
from rag.settings import Settings

if TYPE_CHECKING:
    from rag.answering import Writer
    from rag.llm import Endpoint

PROMPT_VERSION = "v1"


@dataclass(frozen=True, slots=True)
class WriterPick:
    """Who writes, and why: one clause for `citewise doctor` and the page."""

    name: str
    why: str


def build_embedder() -> Embedder:
    """The embedded model."""
    return MiniLMEmbedder()


def pick_writer(settings: Settings) -> WriterPick:
    """The writer that `settings` ask for; `auto` takes a chat model where an endpoint or a key is configured."""
    if settings.writer != "auto":
        return WriterPick(settings.writer, "CITEWISE_WRITER or --writer says so")
    if settings.base_url:
        return WriterPick("chat", "an endpoint is configured")
    if settings.api_key:
        return WriterPick("chat", "an API key is configured")
    return WriterPick("extractive", "no model endpoint is configured")


def build_endpoint(settings: Settings) -> "Endpoint":
    """The endpoint that `settings` describe. Raises SettingsError where they cannot be used."""
    from rag.llm import Endpoint

    return Endpoint(
        base_url=settings.base_url,
        model=settings.model,
        api_key=settings.api_key.get_secret_value() if settings.api_key else None,
        max_output_tokens=settings.max_output_tokens,
        deadline=settings.deadline,
        first_token_timeout=settings.first_token_timeout,
    )


def build_writer(settings: Settings) -> "Writer":
    """The writer that `settings` ask for, ready to write; nothing is sent yet."""
    if pick_writer(settings).name == "extractive":
        return ExtractiveWriter()
    from rag.chat_writer import ChatWriter
    from rag.llm import ChatModel
    from rag.prompting import ANSWER_PLACEHOLDERS, load_prompt

    if settings.max_output_tokens >= settings.context_tokens:
        raise SettingsError(
            f"A window of {settings.context_tokens} tokens has no room for answers of {settings.max_output_tokens}.",
            fix="Lower CITEWISE_MAX_OUTPUT_TOKENS or raise CITEWISE_CONTEXT_TOKENS.",
        )
    prompt = load_prompt("answer", PROMPT_VERSION, placeholders=ANSWER_PLACEHOLDERS, folder=settings.prompts)
    return ChatWriter(
        model=ChatModel(build_endpoint(settings)),
        prompt=prompt,
        context_tokens=settings.context_tokens,
        max_output_tokens=settings.max_output_tokens,
    )
