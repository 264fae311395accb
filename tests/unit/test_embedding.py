"""The embedded model."""

import numpy as np
import pytest

from rag.embedding import MiniLMEmbedder


@pytest.fixture(scope="module")
def embedder() -> MiniLMEmbedder:
    return MiniLMEmbedder()


def test_vectors_are_float32_of_length_one(embedder: MiniLMEmbedder) -> None:
    vectors = embedder.embed(["a", "", "word " * 1000, "记忆"])
    assert vectors.shape == (4, 384)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_like_meanings_are_nearer_than_others(embedder: MiniLMEmbedder) -> None:
    query, near, far = embedder.embed(["a cat on a mat", "a kitten on a rug", "interest rates in 1986"])
    assert query @ near > query @ far + 0.3


def test_a_text_has_the_same_vector_alone_and_in_a_batch(embedder: MiniLMEmbedder) -> None:
    texts = ["short", "a text of some length about reinforcement learning", *(f"text number {n}" for n in range(40))]
    together = embedder.embed(texts)
    for row in (0, 1, 40):
        assert float(embedder.embed([texts[row]])[0] @ together[row]) > 0.98


def test_batches_are_told_and_nothing_gives_nothing(embedder: MiniLMEmbedder) -> None:
    counts: list[int] = []
    embedder.embed([f"text {n}" for n in range(70)], on_batch=counts.append)
    assert sum(counts) == 70
    assert embedder.embed([]).shape == (0, 384)
