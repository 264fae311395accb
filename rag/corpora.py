"""What all that changes a corpus does first and last: is it known, does the model fit, build and publish."""

from collections.abc import Iterable

from rag.building import BYTES_PER_PAPER, USUAL_DIMENSION, Progress, build_generation
from rag.chunking import CHUNK_TOKENS
from rag.corpus_folder import CorpusFolder, corpus_names
from rag.embedding import Embedder
from rag.embedding_cache import EmbeddingCache
from rag.embedding_cost import BeforeEmbedding
from rag.errors import CorpusError
from rag.generation import Manifest

_SPACE_FACTOR = 3
"""Free space that a build needs, in times of what it is expected to write."""


def require_known(folder: CorpusFolder) -> None:
    """Raises CorpusError where the corpus was never built."""
    if not folder.exists():
        names = ", ".join(corpus_names(folder.home)) or "none yet"
        raise CorpusError(
            f"There is no corpus {folder.name} in {folder.home}; there is: {names}.",
            fix=f"Make it by: citewise ingest FILE --corpus {folder.name}",
        )


def require_model(folder: CorpusFolder, embedder: Embedder) -> None:
    """Raises CorpusError for another embedding model: vectors of two cannot be compared, even where of one length."""
    served = folder.current()
    if served is None:
        return
    # An endpoint may have to be asked for its dimension: only where the name does not tell the models apart.
    other_name = served.model != embedder.model_id
    if other_name or served.dimension != embedder.dimension:
        now = embedder.model_id if other_name else f"{embedder.model_id} ({embedder.dimension} dimensions)"
        raise CorpusError(
            f"The corpus {folder.name} was indexed with the embedding model {served.model} ({served.dimension} "
            f"dimensions), and {now} is in use.",
            fix=f"To index it anew, run: citewise ingest --rebuild --corpus {folder.name}",
        )


def embedding_cache(folder: CorpusFolder, embedder: Embedder) -> EmbeddingCache:
    """The cache that all corpora of the folder's home share; to be closed."""
    return EmbeddingCache(folder.home / "cache" / "embeddings.sqlite3", embedder=embedder)


def build_next(
    folder: CorpusFolder,
    lines: Iterable[bytes],
    count: int,
    *,
    embedder: Embedder,
    on_progress: Progress | None,
    before_embedding: BeforeEmbedding | None = None,
) -> Manifest:
    """Builds, verifies and publishes the next generation, of `count` records. The lock is held."""
    longer = max(1.0, embedder.dimension / USUAL_DIMENSION)
    folder.require_space(int(_SPACE_FACTOR * BYTES_PER_PAPER * count * longer))
    with embedding_cache(folder, embedder) as cache, folder.new_build() as build:
        manifest = build_generation(
            build,
            lines,
            number=folder.next_number(),
            cache=cache,
            chunk_tokens=CHUNK_TOKENS,
            on_progress=on_progress or (lambda done, total, what: None),
            before_embedding=before_embedding,
        )
        folder.publish(build, manifest)
    return manifest
