"""The endpoints that the settings name, of the chat model, the judge and the embedding model; and the local model."""

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pydantic import SecretStr

from rag.errors import SettingsError
from rag.picking import pick_writer
from rag.settings import Settings

if TYPE_CHECKING:
    from rag.llm import Endpoint
    from rag.local.files import ModelFile
    from rag.local.server import LlamaServer


def build_endpoint(settings: Settings) -> "Endpoint":
    """Where the chat model of `settings` is. Raises SettingsError where they cannot be used."""
    settings = pick_writer(settings).settings
    if settings.writer == "local":
        from rag.local.server import local_endpoint

        return local_endpoint(
            local_model_file(settings),
            max_output_tokens=settings.max_output_tokens,
            deadline=settings.deadline,
            first_token_timeout=settings.first_token_timeout,
        )
    from rag.llm import Endpoint

    return Endpoint(
        base_url=settings.base_url,
        model=settings.model,
        api_key=settings.api_key.get_secret_value() if settings.api_key else None,
        max_output_tokens=settings.max_output_tokens,
        deadline=settings.deadline,
        first_token_timeout=settings.first_token_timeout,
    )


def build_embedding_endpoint(settings: Settings) -> "Endpoint | None":
    """The endpoint that embeds, None where citewise does. OpenAI is one only where a model is named for it."""
    address, model = settings.embedding_base_url, settings.embedding_model
    if not address and not model:
        if settings.embedding_api_key:
            raise SettingsError(
                "CITEWISE_EMBEDDING_API_KEY is set, and no embedding model.",
                fix="Set CITEWISE_EMBEDDING_MODEL and CITEWISE_EMBEDDING_BASE_URL too, or unset it.",
            )
        return None
    if not model:
        raise SettingsError(
            "CITEWISE_EMBEDDING_BASE_URL is set, and no embedding model.",
            fix="Set CITEWISE_EMBEDDING_MODEL to one that it serves.",
        )
    if not address and settings.base_url:
        raise SettingsError(
            f"CITEWISE_EMBEDDING_MODEL is {model}, and it is not said where it is served.",
            fix="Set CITEWISE_EMBEDDING_BASE_URL: to the address of CITEWISE_BASE_URL if the same server embeds.",
        )
    return _embedding_endpoint(settings)


def _embedding_endpoint(settings: Settings) -> "Endpoint":
    from rag.llm import Endpoint

    endpoint = Endpoint(
        role="embedding",
        base_url=settings.embedding_base_url,
        model=settings.embedding_model,
        api_key=_key_for(settings.embedding_base_url, own=settings.embedding_api_key, settings=settings),
        deadline=settings.deadline,
        first_token_timeout=settings.first_token_timeout,
    )
    if settings.private and not endpoint.is_loopback:
        raise SettingsError(
            f"Private questions would be sent to the embedding endpoint {endpoint.host} as they are.",
            fix="Unset CITEWISE_EMBEDDING_BASE_URL and CITEWISE_EMBEDDING_MODEL, or do without --private.",
        )
    return endpoint


def build_judge_endpoint(settings: Settings) -> "Endpoint | None":
    """The model that judges support, None where the settings name none. Raises SettingsError for half an endpoint."""
    if not settings.judge_model:
        if settings.judge_base_url or settings.judge_api_key:
            raise SettingsError(
                "A judge's endpoint is set, and no model of it.", fix="Set CITEWISE_JUDGE_MODEL to one that it serves."
            )
        return None
    from rag.chat_judge import OUTPUT_TOKENS
    from rag.llm import Endpoint

    address = settings.judge_base_url or settings.base_url
    return Endpoint(
        role="judge",
        base_url=address,
        model=settings.judge_model,
        api_key=_key_for(address, own=settings.judge_api_key, settings=settings),
        max_output_tokens=OUTPUT_TOKENS,
        deadline=settings.deadline,
        first_token_timeout=settings.first_token_timeout,
    )


def _key_for(base_url: str | None, *, own: SecretStr | None, settings: Settings) -> str | None:
    """The key for an address: its own, or the chat model's at the same server. No key goes where it was not meant."""
    if own is None and _server(base_url) == _server(settings.base_url):
        own = settings.api_key
    return own.get_secret_value() if own else None


def _server(base_url: str | None) -> tuple[str, str]:
    """Scheme and host of an address; no address is OpenAI's."""
    from rag.llm.endpoint import OPENAI_URL

    try:
        parts = urlsplit((base_url or OPENAI_URL).strip())
    except ValueError:  # the endpoint says what is wrong with it
        return "", base_url or ""
    return parts.scheme.lower(), parts.netloc.rpartition("@")[2].lower()


def local_model_file(settings: Settings) -> "ModelFile":
    """The model that the local writer runs. Raises SettingsError where it is not there."""
    from rag.local.files import find_model

    return find_model(settings.model_file, home=settings.home)


def local_server(settings: Settings) -> "LlamaServer":
    """The server of the local writer; it starts with the first question. Raises SettingsError where it cannot."""
    from rag.local.server import shared_server

    return shared_server(local_model_file(settings), context_tokens=settings.context_tokens)
