"""The one place that builds real objects from settings: the embedder, the reranker and the writer."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pydantic import SecretStr

from rag.embedding import Embedder, MiniLMEmbedder
from rag.errors import SettingsError
from rag.extractive import ExtractiveWriter
from rag.picking import pick_writer
from rag.settings import Settings

if TYPE_CHECKING:
    from rag.answering import Writer
    from rag.chat_writer import Model
    from rag.context import Window
    from rag.followup import Rewriter
    from rag.judging import Judge
    from rag.llm import Endpoint
    from rag.local.files import ModelFile
    from rag.local.server import LlamaServer
    from rag.private import Knows
    from rag.reranking import Reranker
    from rag.revising import Reviser

Connect = Callable[["Endpoint"], "Model"]
"""Makes the chat model at an endpoint."""
SHORTEST_SECRET = 8


def build_embedder(settings: Settings) -> Embedder:
    """The embedded model, or the one at the endpoint that `settings` name; nothing is sent yet.

    Raises SettingsError where an embedding endpoint is half configured, or would see what is to stay private.
    """
    endpoint = build_embedding_endpoint(settings)
    if endpoint is None:
        return MiniLMEmbedder()
    from rag.llm import EndpointEmbedder

    return EndpointEmbedder(
        endpoint,
        dimension=settings.embedding_dimension,
        batch_size=settings.embedding_batch,
        max_tokens=settings.embedding_max_tokens,
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


def build_reranker(settings: Settings, *, embedder: Embedder) -> "Reranker | None":
    """What orders the first papers of a search anew, None where nothing does.

    Raises SettingsError where `settings` name a node postprocessor that cannot be loaded.
    """
    if settings.rerank == "off":
        return None
    if settings.rerank == "maxsim":
        from rag.reranking import MaxSimReranker

        model = embedder if isinstance(embedder, MiniLMEmbedder) else MiniLMEmbedder()
        return MaxSimReranker(model=model, path=settings.home / "cache" / "token_states.sqlite3")
    from rag.retrieval_llamaindex import PostprocessorReranker, load_postprocessor

    return PostprocessorReranker(load_postprocessor(settings.rerank))


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


def local_model_file(settings: Settings) -> "ModelFile":
    """The model that the local writer runs. Raises SettingsError where it is not there."""
    from rag.local.files import find_model

    return find_model(settings.model_file, home=settings.home)


def local_server(settings: Settings) -> "LlamaServer":
    """The server of the local writer; it starts with the first question. Raises SettingsError where it cannot."""
    from rag.local.server import shared_server

    return shared_server(local_model_file(settings), context_tokens=settings.context_tokens)


def guarded(settings: Settings, *, knows: "Knows | None" = None, connect: Connect | None = None) -> Connect:
    """How all chat models are made: behind the walls of `rag.guarding`, and of `rag.private` where it is set.

    `knows` tells the words of the corpus, which need no stand-in. `connect` replaces the model that makes the calls.
    """

    def make(endpoint: "Endpoint") -> "Model":
        from rag.guarding import GuardedModel

        model = (connect or plain_models(settings))(endpoint)
        if settings.private:
            from rag.private import PrivateModel

            model = PrivateModel(model, knows=knows or (lambda word: False))
        secrets = (endpoint.api_key or "", *(endpoint.credentials or ()))
        return GuardedModel(model, secrets=[secret for secret in secrets if len(secret) >= SHORTEST_SECRET])

    return make


def plain_models(settings: Settings) -> Connect:
    """What makes the calls to the chat model of `settings`, without any wall before it."""
    from rag.llm import ChatModel

    if pick_writer(settings).name != "local":
        return ChatModel
    from rag.local.server import LocalModel

    server = local_server(settings)
    # A judge is at an endpoint of its own.
    return lambda endpoint: ChatModel(endpoint) if endpoint.role == "judge" else LocalModel(endpoint, server=server)


def build_writer(settings: Settings, *, models: Connect | None = None) -> "Writer":
    """The writer that `settings` ask for, ready to write; nothing is sent yet."""
    settings = pick_writer(settings).settings
    if settings.writer == "extractive":
        return ExtractiveWriter()
    from rag.chat_writer import ChatWriter
    from rag.guarding import GuardedWriter
    from rag.prompting import IN_USE, load_prompt

    prompt = "brief" if settings.writer == "local" else "answer"
    writer = ChatWriter(
        model=(models or guarded(settings))(build_endpoint(settings)),
        prompt=load_prompt(prompt, IN_USE[prompt], folder=settings.prompts),
        window=build_window(settings),
        name=settings.writer,
        warning=model_warning(settings),
    )
    return GuardedWriter(writer)


def model_warning(settings: Settings) -> str | None:
    """One sentence on a model that is too weak to be trusted; None for all others."""
    settings = pick_writer(settings).settings
    return local_model_file(settings).warning if settings.writer == "local" else None


def build_window(settings: Settings) -> "Window":
    """What the chat model reads and may write; local models get few sources unless the user says how many."""
    from rag.context import LOCAL_SOURCES, Window, choose_context

    if settings.max_output_tokens >= settings.context_tokens:
        raise SettingsError(
            f"A window of {settings.context_tokens} tokens has no room for answers of {settings.max_output_tokens}.",
            fix="Lower CITEWISE_MAX_OUTPUT_TOKENS or raise CITEWISE_CONTEXT_TOKENS.",
        )
    few = settings.writer == "local" and "k" not in settings.model_fields_set
    return Window(
        context_tokens=settings.context_tokens,
        max_output_tokens=settings.max_output_tokens,
        context=choose_context(settings.context, context_tokens=settings.context_tokens),
        most_sources=LOCAL_SOURCES if few else None,
    )


def build_rewriter(settings: Settings, *, models: Connect | None = None) -> "Rewriter | None":
    """Who restates follow-up questions: a chat model where one writes, unless it is weak or the settings say no."""
    settings = pick_writer(settings).settings
    if settings.writer == "extractive" or not settings.rewrite or model_warning(settings):
        return None
    from rag.prompting import IN_USE, load_prompt
    from rag.rewriting import MAX_OUTPUT_TOKENS, ChatRewriter

    short = replace(build_endpoint(settings), max_output_tokens=MAX_OUTPUT_TOKENS)
    return ChatRewriter(
        model=(models or guarded(settings))(short),
        prompt=load_prompt("standalone", IN_USE["standalone"], folder=settings.prompts),
        context_tokens=settings.context_tokens,
    )


def build_reviser(settings: Settings, *, models: Connect | None = None) -> "Reviser | None":
    """Who corrects answers that the check finds wanting: a chat model where one writes and the settings ask for it."""
    settings = pick_writer(settings).settings
    if settings.writer == "extractive" or not settings.revise:
        return None
    from rag.chat_reviser import ChatReviser
    from rag.prompting import IN_USE, load_prompt

    return ChatReviser(
        model=(models or guarded(settings))(build_endpoint(settings)),
        prompt=load_prompt("revise", IN_USE["revise"], folder=settings.prompts),
        window=build_window(settings),
        rounds=settings.revise,
    )


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


def build_judge(settings: Settings, *, models: Connect | None = None) -> "Judge | None":
    """Who judges support beside the check by words: the model that the settings name, None without one."""
    endpoint = build_judge_endpoint(settings)
    if endpoint is None:
        return None
    from rag.chat_judge import ChatJudge
    from rag.prompting import IN_USE, load_prompt

    prompt = load_prompt("judge", IN_USE["judge"], folder=settings.prompts)
    model = (models or guarded(settings))(endpoint)
    return ChatJudge(model=model, prompt=prompt, context_tokens=settings.context_tokens)
