"""Remembers embeddings by content, so that an interrupted or repeated build embeds no text twice."""

import logging
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from rag.blob_cache import BlobCache, digest
from rag.embedding import Embedder, Vectors
from rag.errors import CorpusError
from rag.observing import tell
from rag.tokens import count_tokens

logger = logging.getLogger(__name__)


class EmbeddingCache:
    """Embeds through a SQLite file. Vectors are kept as float16, which moves a cosine by less than .001 and halves
    the file; all vectors pass through that rounding, so that a cached one equals a fresh one.

    A file that SQLite finds damaged is deleted and begun anew. Use as a context manager.
    """

    def __init__(self, path: Path, *, embedder: Embedder) -> None:
        self.embedder = embedder
        self._blobs = BlobCache(path, model_id=embedder.model_id)

    def __enter__(self) -> "EmbeddingCache":
        return self

    def __exit__(self, *_: object) -> None:
        self._blobs.close()

    def embed(self, texts: Sequence[str], *, on_batch: Callable[[int], object] | None = None) -> Vectors:
        """As `Embedder.embed`; texts whose vectors are known cost no embedding. Each batch is kept once it is there.

        Raises CorpusError where the model gives a vector that is not finite or of length 0, or the disk is full.
        """
        digests = [digest(text) for text in texts]
        known = self._read(digests)
        missing = {key: text for key, text in zip(digests, texts, strict=True) if key not in known}
        hits = sum(key not in missing for key in digests)
        about = {"hits": hits, "misses": len(digests) - hits}
        tell(logger, "embedding_cache", "embedding cache: %(hits)d hits, %(misses)d misses", about, **about)
        if on_batch is not None:
            on_batch(hits)
        # Texts of one length in one call: little is spent on padding. Characters tell a model's length less well.
        by_length = sorted(missing, key=lambda key: count_tokens(missing[key]))
        for first in range(0, len(by_length), self.embedder.batch_size):
            keys = by_length[first : first + self.embedder.batch_size]
            entries = dict(zip(keys, self._embed([missing[key] for key in keys]), strict=True))
            self._blobs.write(entries)
            known |= entries
            if on_batch is not None:
                on_batch(sum(key in entries for key in digests))
        rows = [np.frombuffer(known[key], dtype=np.float16) for key in digests]
        return _unit(np.array(rows, dtype=np.float32).reshape(len(texts), self.embedder.dimension))

    def missing(self, texts: Sequence[str]) -> list[str]:
        """The texts of `texts`, each once, that `embed` would have to embed."""
        by_digest = {digest(text): text for text in texts}
        known = self._read(list(by_digest))
        return [text for key, text in by_digest.items() if key not in known]

    def known(self, texts: Sequence[str]) -> dict[bytes, bytes]:
        """Those of `texts` that are in the cache: the digest of each with its vector (float16, little-endian)."""
        return self._read([digest(text) for text in texts])

    def add(self, entries: Mapping[bytes, bytes]) -> None:
        """Takes what `known` of another cache gave, and leaves out what is no unit vector of this model's length."""
        self._blobs.write({key: blob for key, blob in entries.items() if _is_unit(blob, self.embedder.dimension)})

    def _embed(self, texts: list[str]) -> list[bytes]:
        vectors = self.embedder.embed(texts)
        lengths = np.linalg.norm(vectors, axis=1)
        usable = np.isfinite(lengths) & (lengths > 0)
        if not usable.all():
            text = texts[int(np.argmin(usable))]
            raise CorpusError(
                f"The embedding model {self.embedder.model_id} gives no usable vector for {text[:80]!r}.",
                fix="Use another model, or remove that paper.",
            )
        return [vector.tobytes() for vector in _unit(vectors).astype(np.float16)]

    def _read(self, digests: Sequence[bytes]) -> dict[bytes, bytes]:
        """The known vectors of the model's dimension."""
        length = 2 * self.embedder.dimension
        return {key: blob for key, blob in self._blobs.read(digests).items() if len(blob) == length}


def _unit(vectors: Vectors) -> Vectors:
    unit: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit


def _is_unit(blob: bytes, dimension: int) -> bool:
    if len(blob) != 2 * dimension:
        return False
    length = float(np.linalg.norm(np.frombuffer(blob, dtype=np.float16).astype(np.float32)))
    return abs(length - 1) < 0.01  # not for NaN
