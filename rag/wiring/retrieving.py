"""What retrieves: the embedder and the reranker."""

from typing import TYPE_CHECKING

from rag.embedding import Embedder, MiniLMEmbedder
from rag.settings import Settings
from rag.wiring.endpoints import build_embedding_endpoint

if TYPE_CHECKING:
    from rag.remote_store import ChromaServer
    from rag.reranking import Reranker


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


def build_chroma_server(settings: Settings) -> "ChromaServer | None":
    """The Chroma server that `settings` name, None where Chroma runs in this process; nothing is sent yet.

    Raises SettingsError where its address is none.
    """
    if not settings.chroma:
        return None
    from rag.remote_store import ChromaServer

    token = settings.chroma_token.get_secret_value() if settings.chroma_token else None
    return ChromaServer.parse(settings.chroma, token=token)
