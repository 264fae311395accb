"""The one place that builds real objects from settings."""

from rag.wiring.endpoints import (
    build_embedding_endpoint,
    build_endpoint,
    build_judge_endpoint,
    local_model_file,
    local_server,
)
from rag.wiring.models import (
    Connect,
    build_judge,
    build_reviser,
    build_rewriter,
    build_row_writer,
    build_window,
    build_writer,
    guarded,
    model_warning,
    plain_models,
)
from rag.wiring.retrieving import build_chroma_server, build_embedder, build_reranker

__all__ = [
    "Connect",
    "build_chroma_server",
    "build_embedder",
    "build_embedding_endpoint",
    "build_endpoint",
    "build_judge",
    "build_judge_endpoint",
    "build_reranker",
    "build_reviser",
    "build_rewriter",
    "build_row_writer",
    "build_window",
    "build_writer",
    "guarded",
    "local_model_file",
    "local_server",
    "model_warning",
    "plain_models",
]
