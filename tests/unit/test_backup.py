"""A corpus in one file: it comes back byte for byte and costs no embedding; what is no whole backup is refused."""

import json
import stat
import zipfile
from pathlib import Path

import pytest

from rag.backup import back_up, describe, restore
from rag.corpus_folder import CorpusFolder
from rag.errors import CorpusError, InputError
from rag.ingest import ingest_papers
from tests.builders import paper
from tests.corpora import held, ingest, some_papers
from tests.fake_embedder import FakeEmbedder

PAPERS = [*some_papers(range(5)), paper("untitled", title="", metadata={"note": ["x", {"y": None}]})]


@pytest.fixture
def backup(home: Path, tmp_path: Path) -> Path:
    """A backup of the corpus c, which holds PAPERS."""
    ingest(home, PAPERS)
    back_up(home, "c", tmp_path / "c.zip", embedder=FakeEmbedder())
    return tmp_path / "c.zip"


def rewritten(backup: Path, changes: dict[str, bytes]) -> Path:
    """A copy of `backup` in which some members hold something else."""
    other = backup.with_name("other.zip")
    with zipfile.ZipFile(backup) as archive, zipfile.ZipFile(other, "w") as out:
        for name in archive.namelist():
            out.writestr(name, changes.get(name, archive.read(name)))
    return other


def test_it_comes_back_byte_for_byte_and_embeds_nothing(home: Path, backup: Path, tmp_path: Path) -> None:
    embedder = FakeEmbedder()
    assert restore(tmp_path / "new", backup, embedder=embedder).papers == 6
    assert embedder.embedded == []
    assert held(tmp_path / "new") == held(home)
    old, new = (CorpusFolder(place, "c").generation(1) / "records.jsonl" for place in (home, tmp_path / "new"))
    assert new.read_bytes() == old.read_bytes()


def test_only_its_owner_reads_it(backup: Path) -> None:
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    assert [path.name for path in backup.parent.glob("*.part")] == []


def test_embeddings_that_are_none_are_made_anew(backup: Path, tmp_path: Path) -> None:
    embedder = FakeEmbedder()
    restore(tmp_path / "new", rewritten(backup, {"embeddings": b"\xff" * 160}), embedder=embedder)
    assert embedder.embedded
    assert len(held(tmp_path / "new")) == 6


def test_the_default_corpus_comes_back_without_papers_that_were_removed(tmp_path: Path, backup: Path) -> None:
    restore(tmp_path / "new", backup, name="icml2025", embedder=FakeEmbedder())
    assert len(held(tmp_path / "new", "icml2025")) == 6


def test_a_corpus_of_that_name_is_not_touched(home: Path, backup: Path) -> None:
    ingest(home, some_papers([9]))
    with pytest.raises(CorpusError, match="There is a corpus c already"):
        restore(home, backup, embedder=FakeEmbedder())
    assert len(held(home)) == 7
    assert restore(home, backup, name="old", embedder=FakeEmbedder()).papers == 6


def test_another_model_is_refused(backup: Path, tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="embedding model fake"):
        restore(tmp_path / "new", backup, embedder=FakeEmbedder(model_id="other"))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"records.jsonl": b'{"id": "x", "abstract": "Another."}\n' * 6}, "not those that were written"),
        ({"records.jsonl": b'{"id": "x"}\n'}, "its record 1 is broken"),
        ({"records.jsonl": b"\xff\n"}, "its record 1 is broken"),
        ({"records.jsonl": b""}, "not those that were written"),
        ({"corpus.json": b"{}"}, "description"),
        ({"corpus.json": b"[" * 60_000}, "description"),
        ({"corpus.json": json.dumps({"format": 1}).encode()}, "description"),
    ],
)
def test_a_file_that_was_changed_is_refused(
    backup: Path, tmp_path: Path, changes: dict[str, bytes], reason: str
) -> None:
    with pytest.raises(InputError, match=reason):
        restore(tmp_path / "new", rewritten(backup, changes), embedder=FakeEmbedder())
    assert not CorpusFolder(tmp_path / "new", "c").exists()


def test_a_name_that_leads_out_of_the_home_is_refused(backup: Path, tmp_path: Path) -> None:
    told = json.loads(zipfile.ZipFile(backup).read("corpus.json")) | {"name": "../../x"}
    with pytest.raises(CorpusError, match="cannot be the name"):
        restore(
            tmp_path / "new", rewritten(backup, {"corpus.json": json.dumps(told).encode()}), embedder=FakeEmbedder()
        )


def test_a_cut_file_is_refused_wherever_it_is_cut(backup: Path, tmp_path: Path) -> None:
    content = backup.read_bytes()
    for size in range(0, len(content) - 1, max(1, len(content) // 20)):
        backup.write_bytes(content[:size])
        with pytest.raises(InputError, match="no whole backup"):
            restore(tmp_path / "new", backup, embedder=FakeEmbedder())


def test_a_damaged_corpus_is_not_backed_up_over_a_good_backup(home: Path, backup: Path) -> None:
    content = backup.read_bytes()
    (CorpusFolder(home, "c").generation(1) / "records.jsonl").write_bytes(b"")
    with pytest.raises(CorpusError, match="doctor --deep"):
        back_up(home, "c", backup, embedder=FakeEmbedder())
    assert backup.read_bytes() == content


def test_what_cannot_be_read_or_written_is_named(home: Path, tmp_path: Path) -> None:
    ingest_papers(home, "c", PAPERS, embedder=FakeEmbedder())
    with pytest.raises(CorpusError, match="cannot be written"):
        back_up(home, "c", tmp_path / "none" / "c.zip", embedder=FakeEmbedder())
    with pytest.raises(InputError, match="no whole backup"):
        describe(tmp_path / "none.zip")
