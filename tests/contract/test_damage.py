"""A corpus damaged on disk: every damage is found before anything is served, and the corpus is rebuilt whole."""

import gzip
import logging
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rag.chunking import chunk_abstract, text_to_embed
from rag.corpus_folder import CorpusFolder
from rag.domain import Paper
from rag.errors import CorpusError
from rag.generation import mark_files, verify_generation
from rag.ingest import ensure_corpus, ingest_papers, list_corpora
from rag.recovery import DEFAULT_CORPUS
from rag.store import DATABASE
from tests.builders import paper
from tests.fake_embedder import FakeEmbedder

PAPERS = [
    paper(f"p{number}", title=f"Title {number}", abstract=f"Abstract {number} begins. It ends with {number}.")
    for number in range(40)
]
NEWER = paper("newer", abstract="What was ingested last.")


def _truncate(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _zero(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def _flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0x10
    path.write_bytes(content)


DAMAGES: list[Callable[[Path], None]] = [_truncate, _empty, _zero, Path.unlink, _flip]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the corpus "c" of two generations; copy it before damaging it."""
    home = tmp_path_factory.mktemp("built")
    ingest_papers(home, "c", PAPERS, embedder=FakeEmbedder())
    ingest_papers(home, "c", [NEWER], embedder=FakeEmbedder())
    return home


@pytest.fixture
def home(built: Path, tmp_path: Path) -> Path:
    """A copy of `built`."""
    shutil.copytree(built, tmp_path / "damaged")
    return tmp_path / "damaged"


def _folder(home: Path) -> Path:
    return home / "corpora" / "c" / "gen-2"


def _assert_whole(home: Path, papers: list[Paper]) -> None:
    corpus = ensure_corpus(home, "c", embedder=FakeEmbedder())
    assert [corpus.paper(row) for row in range(len(corpus))] == papers
    vector = FakeEmbedder().embed([text_to_embed(PAPERS[7], chunk_abstract(PAPERS[7])[0])])[0]
    assert corpus.nearest_chunks(vector, n=1).paper_rows.tolist() == [7]
    assert corpus.keyword.search("abstract 7", n=40).paper_rows.size
    assert corpus.sentence_vectors(7).shape == (2, 32)
    assert verify_generation(corpus.folder, corpus.manifest, deep=True) == ()
    corpus.close()


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_to_any_file_of_a_generation_is_found(home: Path, damage: Callable[[Path], None]) -> None:
    manifest = CorpusFolder(home, "c").current()
    assert manifest is not None
    assert verify_generation(_folder(home), manifest) == ()
    paths = [path for path in _folder(home).rglob("*") if path.is_file() and path.stat().st_size > 0]
    assert len(paths) > 20
    for path in paths:
        if path.name == DATABASE and damage is _flip:
            continue  # a flipped bit in a row of the database is for the deep check
        content = path.read_bytes()
        damage(path)
        if path.exists() and path.read_bytes() == content:
            continue  # a file of zeros, zeroed
        assert verify_generation(_folder(home), manifest), f"{damage.__name__} of {path.name} was not found"
        path.write_bytes(content)
    assert verify_generation(_folder(home), manifest) == ()


@pytest.mark.parametrize(
    "name",
    ["records.jsonl", "records.backup.jsonl.gz", "vectors.npy", "ids.json", "manifest.json", f"chroma/{DATABASE}"],
)
@pytest.mark.parametrize("damage", [_truncate, Path.unlink])
def test_a_damaged_corpus_is_rebuilt_without_a_word_lost(
    home: Path, name: str, damage: Callable[[Path], None], caplog: pytest.LogCaptureFixture
) -> None:
    damage(_folder(home) / name)
    _assert_whole(home, [*PAPERS, NEWER])
    assert "is damaged" in caplog.text
    assert list_corpora(home)[0].generation == 3


def test_damage_to_each_file_of_the_vector_index_is_repaired(home: Path) -> None:
    segment = next(path for path in (_folder(home) / "chroma").iterdir() if path.is_dir())
    for path in segment.iterdir():
        path.write_bytes(b"\xff" * max(path.stat().st_size, 1))
    _assert_whole(home, [*PAPERS, NEWER])


def test_a_rebuild_after_damage_embeds_nothing(home: Path) -> None:
    _zero(_folder(home) / "vectors.npy")
    embedder = FakeEmbedder()
    ensure_corpus(home, "c", embedder=embedder)
    assert embedder.embedded == []


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_current_file_is_written_anew_without_a_rebuild(home: Path, damage: Callable[[Path], None]) -> None:
    damage(home / "corpora" / "c" / "CURRENT")
    _assert_whole(home, [*PAPERS, NEWER])


def test_an_ingest_repairs_what_it_finds_damaged(home: Path) -> None:
    _empty(_folder(home) / "chunks.npy")
    report = ingest_papers(home, "c", [NEWER], embedder=FakeEmbedder())
    assert (report.unchanged, report.total, report.generation) == (1, 41, 3)
    _assert_whole(home, [*PAPERS, NEWER])


def test_records_lost_twice_over_come_from_the_generation_before_and_that_is_said(
    home: Path, caplog: pytest.LogCaptureFixture
) -> None:
    _truncate(_folder(home) / "records.jsonl")
    _truncate(_folder(home) / "records.backup.jsonl.gz")
    _assert_whole(home, PAPERS)
    assert "lost what was ingested since its generation 1" in caplog.text


def test_records_without_any_manifest_come_from_the_compressed_copy(home: Path) -> None:
    for path in [home / "corpora" / "c" / "CURRENT", *(home / "corpora" / "c").glob("gen-*/manifest.json")]:
        path.unlink()
    _assert_whole(home, [*PAPERS, NEWER])


def test_a_corpus_of_which_nothing_is_left_is_an_error_that_says_what_to_delete(home: Path) -> None:
    for path in (home / "corpora" / "c").rglob("records.*"):
        _empty(path)
    with pytest.raises(CorpusError, match="none of its records can be read") as error:
        ensure_corpus(home, "c", embedder=FakeEmbedder())
    assert str(home / "corpora" / "c") in error.value.fix


def test_a_default_corpus_of_which_nothing_is_left_begins_anew(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    ensure_corpus(tmp_path, DEFAULT_CORPUS, embedder=FakeEmbedder())
    for path in (tmp_path / "corpora").rglob("records.*"):
        _empty(path)
    with caplog.at_level(logging.WARNING):
        assert len(ensure_corpus(tmp_path, DEFAULT_CORPUS, embedder=FakeEmbedder())) == 19
    assert "lost all but the papers that come with citewise" in caplog.text


def test_an_index_of_other_code_is_rebuilt(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag.recovery.code_version", lambda: "other")
    monkeypatch.setattr("rag.building.code_version", lambda: "other")
    _assert_whole(home, [*PAPERS, NEWER])
    assert list_corpora(home)[0].generation == 3


def test_large_files_are_sampled_at_opening_and_read_whole_by_the_deep_check(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rag.generation._WHOLE", 1000)
    monkeypatch.setattr("rag.generation._BLOCK", 8)
    monkeypatch.setattr("rag.generation._SAMPLES", 3)
    ingest_papers(home, "c", [*PAPERS[:1], paper("more")], embedder=FakeEmbedder())
    manifest = CorpusFolder(home, "c").current()
    assert manifest is not None
    folder = home / "corpora" / "c" / "gen-3"
    assert verify_generation(folder, manifest) == ()
    content = bytearray((folder / "vectors.npy").read_bytes())
    content[-100] ^= 1
    (folder / "vectors.npy").write_bytes(content)
    assert verify_generation(folder, manifest) == ()
    assert verify_generation(folder, manifest, deep=True) == ("vectors.npy holds other bytes than were written",)
    content[-1] ^= 1
    (folder / "vectors.npy").write_bytes(content)
    assert verify_generation(folder, manifest) == ("vectors.npy holds other bytes than were written",)


def test_the_deep_check_compares_what_chroma_holds_with_the_vectors(home: Path) -> None:
    manifest = CorpusFolder(home, "c").current()
    assert manifest is not None
    folder = _folder(home)
    vectors = np.load(folder / "vectors.npy")
    vectors[[3, 4]] = vectors[[4, 3]]
    np.save(folder / "vectors.npy", vectors)
    other = replace(manifest, files=mark_files(folder))
    (folder / "manifest.json").write_bytes(other.to_json())
    assert verify_generation(folder, other) == ()
    assert verify_generation(folder, other, deep=True) == ("The vector index holds another vector for chunk 3.",)


def test_the_compressed_copy_holds_the_same_records(built: Path) -> None:
    folder = _folder(built)
    assert gzip.decompress((folder / "records.backup.jsonl.gz").read_bytes()) == (folder / "records.jsonl").read_bytes()
