"""The embedding cache: no text is embedded twice, and no damage to its file loses more than time."""

import logging
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from rag.embedding import Vectors
from rag.embedding_cache import EmbeddingCache
from rag.errors import CorpusError
from tests.fake_embedder import FakeEmbedder


def test_known_texts_are_not_embedded_again(tmp_path: Path) -> None:
    first, second = FakeEmbedder(), FakeEmbedder()
    with EmbeddingCache(tmp_path / "c", embedder=first) as cache:
        before = cache.embed(["a", "b", "a"])
    with EmbeddingCache(tmp_path / "c", embedder=second) as cache:
        after = cache.embed(["b", "a", "c"])
    assert sorted(first.embedded) == ["a", "b"]
    assert second.embedded == ["c"]
    assert np.array_equal(before[[1, 0]], after[:2])
    assert np.array_equal(before[0], before[2])


def test_vectors_are_the_embedders_to_a_thousandth_and_of_length_one(tmp_path: Path) -> None:
    texts = [f"text {number}" for number in range(300)]
    with EmbeddingCache(tmp_path / "c", embedder=FakeEmbedder()) as cache:
        vectors = cache.embed(texts)
    assert vectors.dtype == np.float32
    assert np.abs(vectors - FakeEmbedder().embed(texts)).max() < 1e-3
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)


def test_models_are_kept_apart(tmp_path: Path) -> None:
    with EmbeddingCache(tmp_path / "c", embedder=FakeEmbedder(model_id="one")) as cache:
        cache.embed(["a"])
    other = FakeEmbedder(model_id="two", dimension=8)
    with EmbeddingCache(tmp_path / "c", embedder=other) as cache:
        assert cache.embed(["a"]).shape == (1, 8)
    assert other.embedded == ["a"]


def test_no_text_gives_no_vector(tmp_path: Path) -> None:
    with EmbeddingCache(tmp_path / "c", embedder=FakeEmbedder()) as cache:
        assert cache.embed([]).shape == (0, 32)


def test_every_text_is_reported_once(tmp_path: Path) -> None:
    counts: list[int] = []
    with EmbeddingCache(tmp_path / "c", embedder=FakeEmbedder()) as cache:
        cache.embed(["a"])
        cache.embed([f"text {number % 200}" for number in range(400)] + ["a"], on_batch=counts.append)
    assert sum(counts) == 401


class _Interrupted(FakeEmbedder):
    """Stops after 200 texts."""

    def embed(self, texts: Sequence[str], *, on_batch: Callable[[int], object] | None = None) -> Vectors:
        if len(self.embedded) > 200:
            raise KeyboardInterrupt
        return super().embed(texts)


def test_what_was_embedded_before_an_interruption_is_kept(tmp_path: Path) -> None:
    texts = [f"text {number}" for number in range(600)]
    with pytest.raises(KeyboardInterrupt), EmbeddingCache(tmp_path / "c", embedder=_Interrupted()) as cache:
        cache.embed(texts)
    resumed = FakeEmbedder()
    with EmbeddingCache(tmp_path / "c", embedder=resumed) as cache:
        cache.embed(texts)
    assert 0 < len(resumed.embedded) < 400


@pytest.mark.parametrize("damage", [b"not a database at all, but long enough to be looked at" * 100, b""])
def test_a_damaged_file_is_begun_anew(tmp_path: Path, damage: bytes, caplog: pytest.LogCaptureFixture) -> None:
    with EmbeddingCache(tmp_path / "c", embedder=FakeEmbedder()) as cache:
        before = cache.embed(["a"])
    (tmp_path / "c").write_bytes(damage)
    with EmbeddingCache(tmp_path / "c", embedder=FakeEmbedder()) as cache:
        assert np.array_equal(cache.embed(["a"]), before)


def test_a_file_damaged_within_is_begun_anew(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    texts = [f"text {number}" for number in range(500)]
    with EmbeddingCache(tmp_path / "c", embedder=FakeEmbedder()) as cache:
        before = cache.embed(texts)
    content = (tmp_path / "c").read_bytes()
    (tmp_path / "c").write_bytes(content[:4096] + b"\xa5" * (len(content) - 4096))
    with caplog.at_level(logging.WARNING), EmbeddingCache(tmp_path / "c", embedder=FakeEmbedder()) as cache:
        assert np.array_equal(cache.embed(texts), before)
    assert "is damaged" in caplog.text


class _Broken(FakeEmbedder):
    def embed(self, texts: Sequence[str], *, on_batch: Callable[[int], object] | None = None) -> Vectors:
        vectors = super().embed(texts)
        vectors[list(texts).index("bad")] = np.nan
        return vectors


def test_a_vector_that_is_not_finite_is_an_error_that_names_the_text(tmp_path: Path) -> None:
    with (
        EmbeddingCache(tmp_path / "c", embedder=_Broken()) as cache,
        pytest.raises(CorpusError, match="no usable vector for 'bad'"),
    ):
        cache.embed(["good", "bad"])


def test_a_path_that_cannot_hold_a_database_is_a_corpus_error(tmp_path: Path) -> None:
    (tmp_path / "c").mkdir()
    with pytest.raises(CorpusError, match="cannot be used"):
        EmbeddingCache(tmp_path / "c", embedder=FakeEmbedder())
