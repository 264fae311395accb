"""Reranking: MaxSim over token states, what is kept of them, and LlamaIndex's node postprocessors in its place."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from rag.embedding import MiniLMEmbedder, Vectors
from rag.errors import SettingsError
from rag.reranking import WEIGHT, MaxSimReranker, max_similarities, pack, unpack, z_scores
from rag.settings import load_settings
from rag.wiring import build_reranker
from tests.builders import paper, scored


class WordModel:
    """Every distinct word has a direction of its own."""

    model_id, dimension = "words", 64

    def __init__(self) -> None:
        self.words: dict[str, int] = {}
        self.asked: list[str] = []

    def token_states(self, texts: Sequence[str]) -> list[Vectors]:
        self.asked += texts
        places = [[self.words.setdefault(word, len(self.words)) for word in text.lower().split()] for text in texts]
        return [np.eye(self.dimension, dtype=np.float32)[of_text] for of_text in places]


ALIKE = tuple(
    scored(paper(name, title="", abstract=abstract), score=score)
    for name, abstract, score in (
        ("a", "red fish swim", 0.9),
        ("b", "blue birds fly", 0.8),
        ("c", "blue fish fly", 0.7),
    )
)


def test_max_similarity_is_the_mean_of_the_best_cosines() -> None:
    query = np.array([[1, 0], [0, 1]], dtype=np.float32)
    paper_ = np.array([[0.6, 0.8], [1, 0]], dtype=np.float32)
    assert max_similarities(query, [paper_, paper_[:0], paper_[1:]]).tolist() == pytest.approx([(1 + 0.8) / 2, 0, 0.5])
    assert max_similarities(query[:0], [paper_]).tolist() == [0]
    assert max_similarities(query, []).tolist() == []


def test_z_scores_of_equal_values_are_zero() -> None:
    assert z_scores(np.array([1, 3], dtype=np.float32)).tolist() == [-1, 1]
    assert z_scores(np.array([2, 2], dtype=np.float32)).tolist() == [0, 0]


def test_packed_states_keep_their_directions() -> None:
    states = np.random.default_rng(0).normal(size=(50, 384)).astype(np.float32)
    states /= np.linalg.norm(states, axis=1, keepdims=True)
    packed = pack(states)
    assert len(packed) == 50 * 384
    kept = unpack(packed, dimension=384)
    assert np.abs(kept @ states.T - states @ states.T).max() < 0.01
    assert unpack(b"", dimension=384).shape == (0, 384)


def test_the_paper_with_the_querys_words_rises_and_scores_stay(tmp_path: Path) -> None:
    found = MaxSimReranker(model=WordModel(), path=tmp_path / "states").rerank("blue fish fly", ALIKE)
    fused, maxsim = (0.9, 0.8, 0.7), (1 / 3, 2 / 3, 1.0)
    expected = z_scores(np.array(fused, dtype=np.float32)) + WEIGHT * z_scores(np.array(maxsim, dtype=np.float32))
    assert [item.paper.paper_id for item in found] == ["abc"[place] for place in np.argsort(-expected, kind="stable")]
    by_id = {item.paper.paper_id: item for item in found}
    assert [by_id[name].score for name in "abc"] == [0.9, 0.8, 0.7]
    assert [by_id[name].stages["maxsim"] for name in "abc"] == pytest.approx(maxsim, abs=1e-3)


def test_a_paper_of_clearly_more_similarity_overtakes(tmp_path: Path) -> None:
    close = tuple(scored(item.paper, score=score) for item, score in zip(ALIKE, (0.52, 0.51, 0.5), strict=True))
    close += tuple(scored(paper(f"x{n}", title="", abstract="green trees grow"), score=0.1) for n in range(5))
    found = MaxSimReranker(model=WordModel(), path=tmp_path / "states").rerank("blue fish fly", close)
    assert [item.paper.paper_id for item in found[:3]] == ["c", "b", "a"]


def test_states_of_a_paper_are_computed_once_for_all_processes(tmp_path: Path) -> None:
    first, second = WordModel(), WordModel()
    MaxSimReranker(model=first, path=tmp_path / "states").rerank("blue", ALIKE)
    second.words = first.words
    again = MaxSimReranker(model=second, path=tmp_path / "states").rerank("fish", ALIKE)
    assert len(first.asked) == 4
    assert second.asked == ["fish"]
    assert {item.paper.paper_id: item.stages["maxsim"] for item in again} == pytest.approx({"a": 1, "b": 0, "c": 1})


def test_states_of_the_embedded_model_are_those_of_its_pieces() -> None:
    states = MiniLMEmbedder().token_states(["memory traces", "", "word " * 400])
    assert [len(of_text) for of_text in states] == [2, 0, 254]
    assert np.allclose(np.linalg.norm(states[0], axis=1), 1, atol=1e-5)


def test_nothing_reranks_by_default(home: Path) -> None:
    assert build_reranker(load_settings(home=home), embedder=MiniLMEmbedder()) is None


def test_maxsim_reranks_where_it_is_set(home: Path) -> None:
    reranker = build_reranker(load_settings(home=home, rerank="maxsim"), embedder=MiniLMEmbedder())
    assert reranker is not None
    found = reranker.rerank("Which fish swim?", ALIKE)
    assert found[0].paper.paper_id == "a"
    assert (home / "cache" / "token_states.sqlite3").exists()


@pytest.mark.parametrize(
    "place",
    [
        "maxsim2",
        "no_such_module:Thing",
        "rag.reranking:NoSuchThing",
        "rag.reranking:MaxSimReranker",
        "pathlib:Path",
        ":",
    ],
)
def test_a_reranker_that_cannot_be_used_is_named(home: Path, place: str) -> None:
    with pytest.raises(SettingsError, match="CITEWISE_RERANK"):
        build_reranker(load_settings(home=home, rerank=place), embedder=MiniLMEmbedder())
