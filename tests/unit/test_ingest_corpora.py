"""Corpora on disk: their names and models, who may write to them, and what a failed build leaves."""

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from rag.embedding import Vectors
from rag.errors import CorpusError
from rag.ingest import ensure_corpus, ingest_files, ingest_papers, list_corpora, remove_papers
from rag.recovery import DEFAULT_CORPUS
from tests.corpora import held, ingest, some_papers
from tests.fake_embedder import FakeEmbedder


def test_corpora_are_kept_apart_and_listed(home: Path) -> None:
    ingest_papers(home, "b", some_papers(range(2)), embedder=FakeEmbedder())
    ingest_papers(home, "a", some_papers(range(5)), embedder=FakeEmbedder())
    assert [(corpus.name, corpus.papers, corpus.model) for corpus in list_corpora(home)] == [
        ("a", 5, "fake"),
        ("b", 2, "fake"),
    ]
    assert list(held(home, "b")) == ["p0", "p1"]


@pytest.mark.parametrize("name", ["", "..", "../x", "a/b", ".hidden", "a" * 65, "x\0"])
def test_a_name_that_could_lead_out_of_the_home_is_refused(home: Path, name: str) -> None:
    with pytest.raises(CorpusError, match="cannot be the name"):
        ingest_papers(home, name, some_papers([1]), embedder=FakeEmbedder())


def test_an_unknown_corpus_is_an_error_that_names_those_there_are(home: Path) -> None:
    ingest(home, some_papers([1]))
    for action in (
        lambda: ensure_corpus(home, "d", embedder=FakeEmbedder()),
        lambda: ingest_files(home, "d", [], embedder=FakeEmbedder(), rebuild=True),
        lambda: remove_papers(home, "d", ["p1"], embedder=FakeEmbedder()),
    ):
        with pytest.raises(CorpusError, match=r"no corpus d in .*; there is: c\.") as error:
            action()
        assert "citewise ingest FILE --corpus d" in error.value.fix


def test_the_default_corpus_begins_with_the_packaged_papers(home: Path) -> None:
    progress: list[tuple[int, int, str]] = []
    corpus = ensure_corpus(
        home, DEFAULT_CORPUS, embedder=FakeEmbedder(), on_progress=lambda *step: progress.append(step)
    )
    assert len(corpus) == 19
    assert {what for _, _, what in progress} == {"embedding", "indexing"}
    assert all(0 <= done <= total for done, total, _ in progress)
    for what in ("embedding", "indexing"):
        last = [step for step in progress if step[2] == what][-1]
        assert last[0] == last[1]


def test_an_ingest_into_the_default_corpus_adds_to_the_packaged_papers(home: Path) -> None:
    report = ingest_papers(home, DEFAULT_CORPUS, some_papers([1]), embedder=FakeEmbedder())
    assert (report.added, report.total) == (1, 20)


def test_another_model_is_refused_until_the_corpus_is_rebuilt(home: Path) -> None:
    ingest(home, some_papers(range(2)))
    other = FakeEmbedder(model_id="other", dimension=16)
    for action in (
        lambda: ensure_corpus(home, "c", embedder=other),
        lambda: ingest_papers(home, "c", some_papers([5]), embedder=other),
        lambda: remove_papers(home, "c", ["p0"], embedder=other),
    ):
        with pytest.raises(CorpusError, match=r"model fake \(32 dimensions\), and other is") as error:
            action()
        assert "citewise ingest --rebuild --corpus c" in error.value.fix
    report = ingest_files(home, "c", [], embedder=other, rebuild=True)
    assert (report.total, report.generation) == (2, 2)
    assert len(ensure_corpus(home, "c", embedder=other)) == 2


def test_a_corpus_that_another_process_writes_is_refused_with_its_pid(home: Path) -> None:
    ingest(home, some_papers([1]))
    script = (
        "import sys, time\nfrom pathlib import Path\nfrom rag.corpus_folder import CorpusFolder\n"
        "with CorpusFolder(Path(sys.argv[1]), 'c').lock():\n"
        "    print('locked', flush=True)\n"
        "    sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(home)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"locked\n"
        with pytest.raises(CorpusError, match=f"Process {holder.pid} is writing"):
            ingest(home, some_papers([2]))
        assert len(ensure_corpus(home, "c", embedder=FakeEmbedder())) == 1  # reading needs no lock
        holder.communicate()
    assert ingest(home, some_papers([2])).total == 2


def test_too_little_free_space_stops_the_build_before_it_begins(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ingest(home, some_papers([1]))
    usage = shutil.disk_usage(home)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=200_000))
    with pytest.raises(CorpusError, match="200,000 bytes free, and 270,000 are needed"):
        ingest(home, some_papers([2]))
    assert list(held(home)) == ["p1"]


def test_a_failed_build_leaves_the_old_state_and_no_rests(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ingest(home, some_papers([1]))

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device", str(home / "x"))

    monkeypatch.setattr("rag.building.np.save", full)
    with pytest.raises(CorpusError, match="No space left on device") as error:
        ingest(home, some_papers([2]))
    assert error.value.fix == "Free some space."
    monkeypatch.undo()
    assert list(held(home)) == ["p1"]
    assert not list((home / "corpora" / "c").glob("build-*"))


def test_one_embedding_batch_that_fails_leaves_the_old_state_and_names_a_text(home: Path) -> None:
    ingest(home, some_papers([1]))

    class Blank(FakeEmbedder):
        def _vector(self, text: str) -> Vectors:
            return super()._vector(text) * ("7 begins" not in text)

    with pytest.raises(CorpusError, match=r"no usable vector for '[^']*Abstract 7 begins"):
        ingest(home, some_papers(range(300)), embedder=Blank())
    assert list(held(home)) == ["p1"]
    assert not list((home / "corpora" / "c").glob("build-*"))


def test_only_two_generations_are_kept(home: Path) -> None:
    for number in range(4):
        ingest(home, some_papers([number]))
    assert sorted(path.name for path in (home / "corpora" / "c").glob("gen-*")) == ["gen-3", "gen-4"]


def test_all_that_is_written_is_readable_by_this_user_only(home: Path) -> None:
    umask = os.umask(0o022)
    try:
        ingest(home, some_papers(range(2)))
        assert os.umask(0o022) == 0o022
    finally:
        os.umask(umask)
    modes = {path: stat.S_IMODE(path.stat().st_mode) & 0o077 for path in [home, *home.rglob("*")]}
    assert {path: mode for path, mode in modes.items() if mode} == {}
