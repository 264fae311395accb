"""The view of a corpus: rows, vectors and neighbours that agree with each other, also when Chroma fails."""

import logging
import shutil
from pathlib import Path

import numpy as np
import pytest

from rag.chunking import chunk_abstract, text_to_embed
from rag.corpus import Corpus, nearest_exact
from rag.domain import Paper
from rag.embedding import MiniLMEmbedder, Vectors
from rag.filters import Filters
from rag.ingest import ensure_corpus, ingest_papers
from rag.recovery import DEFAULT_CORPUS
from rag.sentences import split_sentences
from tests.builders import paper
from tests.fake_embedder import FakeEmbedder

LONG = " ".join(f"Sentence {number} of the long abstract says {number}." for number in range(60))
PAPERS = [
    paper("a", title="Title A", abstract="First of A. Second of A."),
    paper("b", title="", abstract=LONG),
    paper("c", title="Title C", abstract="Only one sentence in C."),
]


def _vector(text: str) -> Vectors:
    vector: Vectors = FakeEmbedder().embed([text])[0]
    return vector


def _embedded(short: Paper) -> Vectors:
    """The vector of a paper of one chunk, as it is stored."""
    return _vector(text_to_embed(short, chunk_abstract(short)[0]))


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    """Three papers: two sentences, a long one without a title, one sentence."""
    ingest_papers(tmp_path / "home", "c", PAPERS, embedder=FakeEmbedder())
    return ensure_corpus(tmp_path / "home", "c", embedder=FakeEmbedder())


def test_papers_are_found_by_row_and_by_id(corpus: Corpus) -> None:
    assert len(corpus) == 3
    assert corpus.name == "c"
    assert list(corpus.paper_ids) == ["a", "b", "c"]
    assert [corpus.paper(row) for row in range(3)] == PAPERS
    assert [corpus.row_of(paper_id) for paper_id in ("c", "a", "x")] == [2, 0, None]


def test_sentence_vectors_stand_in_the_order_of_the_sentences(corpus: Corpus) -> None:
    for row, paper_ in enumerate(PAPERS):
        sentences = [paper_.abstract[a:b] for a, b in split_sentences(paper_.abstract)]
        expected = FakeEmbedder().embed(sentences)
        assert corpus.sentence_vectors(row).dtype == np.float32
        assert np.allclose(corpus.sentence_vectors(row), expected, atol=1e-3)
    assert corpus.sentence_starts.tolist() == [0, 2, 62, 63]
    assert corpus.all_sentence_vectors.shape == (63, 32)


def test_the_title_vector_is_zero_where_there_is_no_title(corpus: Corpus) -> None:
    assert np.allclose(corpus.title_vector(2), _vector("Title C"), atol=1e-3)
    assert not corpus.title_vector(1).any()


def test_the_nearest_chunk_is_the_one_of_the_same_text(corpus: Corpus) -> None:
    hits = corpus.nearest_chunks(_embedded(PAPERS[2]), n=3)
    assert hits.paper_rows[0] == 2
    assert hits.scores[0] == pytest.approx(1, abs=1e-3)
    assert (np.diff(hits.scores) <= 0).all()
    assert hits.paper_rows.dtype == np.dtype(np.int32)
    assert hits.scores.dtype == np.dtype(np.float32)
    corpus.close()


def test_a_paper_of_several_chunks_comes_up_with_each(corpus: Corpus) -> None:
    rows = corpus.nearest_chunks(_vector("x"), n=100).paper_rows.tolist()
    assert rows.count(1) == corpus.manifest.chunks - 2 > 1
    assert corpus.nearest_chunks(_vector("x"), n=0).paper_rows.tolist() == []
    corpus.close()


def test_the_keyword_index_counts_papers_by_the_same_rows(corpus: Corpus) -> None:
    assert corpus.keyword.search("sentence of the long abstract", n=1).paper_rows.tolist() == [1]


def test_where_chroma_fails_all_chunks_are_compared_and_it_is_said_once(
    corpus: Corpus, caplog: pytest.LogCaptureFixture
) -> None:
    expected = corpus.nearest_chunks(_vector("x"), n=5)
    corpus.close()
    shutil.rmtree(corpus.folder / "chroma")
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            hits = corpus.nearest_chunks(_vector("x"), n=5)
            assert hits.paper_rows.tolist() == expected.paper_rows.tolist()
            assert np.allclose(hits.scores, expected.scores, atol=1e-5)
    assert caplog.text.count("searched one by one") == 1


def test_a_corpus_of_one_chunk_needs_no_chroma(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    ingest_papers(tmp_path, "one", [PAPERS[2]], embedder=FakeEmbedder())
    corpus = ensure_corpus(tmp_path, "one", embedder=FakeEmbedder())
    assert not (corpus.folder / "chroma").exists()
    assert corpus.nearest_chunks(_vector("x"), n=5).paper_rows.tolist() == [0]
    assert "one by one" not in caplog.text


def test_an_open_corpus_answers_while_newer_generations_are_published(corpus: Corpus, tmp_path: Path) -> None:
    for number in range(2):
        new: list[Paper] = [paper(f"new{number}", abstract=f"A new abstract {number}.")]
        ingest_papers(tmp_path / "home", "c", new, embedder=FakeEmbedder())
    assert len(corpus) == 3
    assert corpus.paper(1) == PAPERS[1]
    assert corpus.nearest_chunks(_embedded(PAPERS[0]), n=1).paper_rows.tolist() == [0]
    assert len(ensure_corpus(tmp_path / "home", "c", embedder=FakeEmbedder())) == 5


def test_exact_search_gives_the_best_first() -> None:
    vectors = np.eye(4, dtype=np.float32)
    query = np.array([0.1, 0.7, 0.5, 0.5], dtype=np.float32)
    assert nearest_exact(vectors, query, n=3).rows.tolist() == [1, 2, 3]


def test_the_packaged_papers_are_found_by_meaning_with_the_real_model(tmp_path: Path) -> None:
    embedder = MiniLMEmbedder()
    corpus = ensure_corpus(tmp_path, DEFAULT_CORPUS, embedder=embedder)
    question = embedder.embed(["What are memory traces in partially observable reinforcement learning?"])[0]
    hits = corpus.nearest_chunks(question, n=5)
    assert corpus.paper(int(hits.paper_rows[0])).title.endswith("with Memory Traces")
    assert np.allclose(hits.scores, nearest_exact(corpus._vectors, question, n=5).scores, atol=1e-4)
    corpus.close()


@pytest.mark.parametrize("exact", [0, 1000])
def test_only_chunks_of_allowed_papers_are_found(corpus: Corpus, monkeypatch: pytest.MonkeyPatch, exact: int) -> None:
    monkeypatch.setattr("rag.corpus.EXACT_CHUNKS", exact)
    chunks = corpus.manifest.chunks
    for allowed, most in (([True, False, True], 2), ([False, True, False], chunks - 2), ([False] * 3, 0)):
        hits = corpus.nearest_chunks(_vector("x"), n=100, allowed=np.array(allowed))
        assert len(hits.paper_rows) == most
        assert all(allowed[row] for row in hits.paper_rows)
    everything = corpus.nearest_chunks(_vector("x"), n=3, allowed=np.ones(3, dtype=np.bool_))
    assert np.allclose(everything.scores, corpus.nearest_chunks(_vector("x"), n=3).scores, atol=1e-4)
    corpus.close()


def test_where_chroma_finds_too_few_that_are_allowed_all_of_them_are_compared(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rag.corpus.EXACT_CHUNKS", 0)
    monkeypatch.setattr("rag.corpus.WIDEST", 1)
    hits = corpus.nearest_chunks(_embedded(PAPERS[2]), n=1, allowed=np.array([True, False, False]))
    assert hits.paper_rows.tolist() == [0]
    corpus.close()


def test_the_facets_are_those_of_its_papers(corpus: Corpus) -> None:
    assert corpus.facets.allowed(Filters(title_words=("Title",))).tolist() == [True, False, True]
