"""`citewise doctor --deep`: what only a reading of every byte finds is found, and repaired without a word lost."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from rag.cli import app
from rag.corpus_folder import CorpusFolder
from rag.errors import CorpusError
from rag.ingest import ensure_corpus
from rag.repair import check_corpus, repair_corpus
from tests.builders import paper
from tests.corpora import held, ingest, some_papers
from tests.fake_embedder import FakeEmbedder

PAPERS = some_papers(range(30))


@pytest.fixture
def sampled(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A corpus whose files count as large, so that opening it reads samples of them only; its generation's folder."""
    monkeypatch.setattr("rag.generation._WHOLE", 100)
    monkeypatch.setattr("rag.generation._BLOCK", 8)
    monkeypatch.setattr("rag.generation._SAMPLES", 3)
    ingest(home, PAPERS)
    return CorpusFolder(home, "c").generation(1)


@pytest.mark.parametrize("name", ["records.jsonl", "vectors.npy", "sentence_vectors.npy", "records.backup.jsonl.gz"])
def test_a_flipped_bit_between_the_samples_is_found_and_repaired(sampled: Path, home: Path, name: str) -> None:
    content = bytearray((sampled / name).read_bytes())
    content[len(content) // 3] ^= 1
    (sampled / name).write_bytes(content)
    ensure_corpus(home, "c", embedder=FakeEmbedder()).close()  # opening does not find it
    assert check_corpus(home, "c") == (f"{name} holds other bytes than were written",)
    embedder = FakeEmbedder()
    repaired = repair_corpus(home, "c", embedder=embedder)
    assert (len(repaired.problems), repaired.manifest.generation, embedder.embedded) == (1, 2, [])
    assert list(held(home).values()) == PAPERS
    assert check_corpus(home, "c") == ()


def test_a_whole_corpus_is_left_alone(home: Path) -> None:
    ingest(home, PAPERS)
    repaired = repair_corpus(home, "c", embedder=FakeEmbedder())
    assert (repaired.problems, repaired.manifest.generation) == ((), 1)


def test_a_corpus_without_current_and_with_damaged_vectors_is_repaired(home: Path) -> None:
    ingest(home, PAPERS)
    folder = CorpusFolder(home, "c")
    (folder.path / "CURRENT").unlink()
    (folder.generation(1) / "vectors.npy").write_bytes(b"")
    assert check_corpus(home, "c") == ("CURRENT cannot be read",)
    repair_corpus(home, "c", embedder=FakeEmbedder())
    assert list(held(home).values()) == PAPERS


def test_another_model_does_not_repair(home: Path) -> None:
    ingest(home, [paper("p")])
    (CorpusFolder(home, "c").generation(1) / "vectors.npy").write_bytes(b"")
    with pytest.raises(CorpusError, match="indexed with the embedding model fake"):
        repair_corpus(home, "c", embedder=FakeEmbedder(model_id="other"))


def test_the_command_backs_up_restores_and_repairs(tmp_path: Path) -> None:
    def run(*arguments: str) -> str:
        done = CliRunner().invoke(app, [*arguments, "--home", str(tmp_path / "home")])
        assert done.exit_code == 0, done.output
        return done.output

    (tmp_path / "a.txt").write_text("Frogs climb walls.\n\nGlaciers melt in Norway.\n")
    run("ingest", str(tmp_path / "a.txt"), "--corpus", "own")
    run("corpus", "backup", "--corpus", "own", "--output", str(tmp_path / "own.zip"))
    assert "copy: 2 papers" in run("corpus", "restore", str(tmp_path / "own.zip"), "--corpus", "copy")
    assert "every byte" in run("doctor", "--deep", "--corpus", "copy")
    (CorpusFolder(tmp_path / "home", "copy").generation(1) / "vectors.npy").write_bytes(b"")
    assert "was damaged" in run("doctor", "--deep", "--corpus", "copy")
    assert "Norway" in run("search", "glaciers", "--corpus", "copy")
