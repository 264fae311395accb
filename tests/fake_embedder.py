"""An embedder that needs no model: a text's vector is drawn from its hash, so only equal texts are near."""

import hashlib
from collections.abc import Callable, Sequence

import numpy as np

from rag.embedding import Vectors


class FakeEmbedder:
    """Unit vectors by hash; `embedded` keeps every text that was asked for."""

    def __init__(self, *, model_id: str = "fake", dimension: int = 32) -> None:
        self.model_id, self.dimension, self.batch_size = model_id, dimension, 128
        self.embedded: list[str] = []

    def embed(self, texts: Sequence[str], *, on_batch: Callable[[int], object] | None = None) -> Vectors:
        self.embedded += texts
        vectors = np.array([self._vector(text) for text in texts], dtype=np.float32).reshape(-1, self.dimension)
        if on_batch is not None:
            on_batch(len(texts))
        return vectors

    def _vector(self, text: str) -> Vectors:
        seed = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())
        vector = np.random.default_rng(seed).normal(size=self.dimension)
        return (vector / np.linalg.norm(vector)).astype(np.float32)
