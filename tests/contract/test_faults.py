"""An ingest that is killed at its steps on disk, or finds the disk full or read-only: the old state or the new."""

import errno
import multiprocessing
import os
import resource
import signal
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rag.corpus_folder import CorpusFolder
from rag.errors import CorpusError
from rag.generation import verify_generation
from rag.ingest import ensure_corpus, ingest_papers, list_corpora
from tests.builders import paper
from tests.corpora import held, ingest
from tests.fake_embedder import FakeEmbedder

OLD = [paper(f"old{number}", abstract=f"Old abstract {number}.") for number in range(20)]
NEW = [paper(f"new{number}", abstract=f"New abstract {number}.") for number in range(20)]
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_NOBODY = 65534


@pytest.fixture(scope="module")
def context() -> Any:
    """Starts processes that have the slow imports behind them already."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["chromadb", "chromadb.config", "llama_index.core.node_parser", "rag.ingest"])
    return context


def run(context: Any, target: Callable[..., object], *args: object) -> int:
    process = context.Process(target=target, args=args)
    process.start()
    process.join(120)
    code: int = process.exitcode
    return code


def steps_hook(home: Path, act: Callable[[str], object]) -> Callable[[str, tuple[Any, ...]], None]:
    """An audit hook that calls `act` before a file of `home` is opened for writing, renamed, made or deleted."""
    changes = {"os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.truncate", "shutil.rmtree", "sqlite3.connect"}

    def hook(event: str, args: tuple[Any, ...]) -> None:
        is_change = event in changes or (event == "open" and isinstance(args[2], int) and args[2] & _WRITING)
        if (
            is_change
            and args
            and str(home) in os.fsdecode(args[0] if isinstance(args[0], str | bytes) else str(args[0]))
        ):
            act(event)

    return hook


def ingest_and_count(home: Path, counts: Path) -> None:
    steps: list[str] = []
    sys.addaudithook(steps_hook(home, steps.append))
    ingest_papers(home, "c", NEW, embedder=FakeEmbedder())
    total = len(steps)
    counts.write_text(str(total))


def ingest_and_die(home: Path, at: int) -> None:
    done = 0

    def act(event: str) -> None:
        nonlocal done
        done += 1
        if done == at:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(steps_hook(home, act))
    ingest_papers(home, "c", NEW, embedder=FakeEmbedder())


def assert_old_or_new(home: Path) -> int:
    """That the corpus is one of the two, whole, and can be written to; how many papers it held."""
    corpus = ensure_corpus(home, "c", embedder=FakeEmbedder())
    papers = [corpus.paper(row) for row in range(len(corpus))]
    assert papers in (OLD, OLD + NEW)
    assert verify_generation(corpus.folder, corpus.manifest, deep=True) == ()
    corpus.close()
    assert ingest(home, NEW).total == 40
    assert not list((home / "corpora" / "c").glob("build-*"))
    return len(papers)


@pytest.mark.slow
def test_a_kill_at_every_open_rename_and_deletion_leaves_the_old_state_or_the_new(
    context: Any, tmp_path: Path, nightly: bool
) -> None:
    """Every eighth of them and the last, unless `--nightly`."""
    ingest(tmp_path / "whole", OLD)
    assert run(context, ingest_and_count, tmp_path / "whole", tmp_path / "counts") == 0
    total = int((tmp_path / "counts").read_text())
    assert total > 30
    outcomes = []
    for at in sorted({*range(1, total + 1, 1 if nightly else 8), total}):
        home = tmp_path / str(at)
        ingest(home, OLD)
        assert run(context, ingest_and_die, home, at) == -signal.SIGKILL
        outcomes.append(assert_old_or_new(home))
    assert outcomes == sorted(outcomes)
    assert set(outcomes) == {20, 40}


def ingest_with_little_space(home: Path, size: int) -> None:
    """No file may grow past `size` bytes: every library's write fails there, as on a full disk."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
    try:
        ingest_papers(home, "c", NEW, embedder=FakeEmbedder())
    except CorpusError:
        sys.exit(3)


@pytest.mark.parametrize("size", [0, 100, 1_000, 4_000, 10_000, 40_000, 100_000])
def test_disk_full_at_build(context: Any, tmp_path: Path, size: int) -> None:
    ingest(tmp_path, OLD)
    assert run(context, ingest_with_little_space, tmp_path, size) == 3
    assert [corpus.papers for corpus in list_corpora(tmp_path)] == [20]
    assert assert_old_or_new(tmp_path) == 20


@pytest.mark.parametrize(("name", "call"), [("rename", 1), ("replace", 1), ("replace", 2), ("fsync", 1), ("fsync", 20)])
def test_disk_full_at_swap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, call: int) -> None:
    ingest(tmp_path, OLD)
    original, calls = getattr(os, name), 0

    def full(*args: object, **options: object) -> object:
        nonlocal calls
        calls += 1
        if calls == call:
            raise OSError(errno.ENOSPC, "No space left on device", str(tmp_path))
        return original(*args, **options)

    monkeypatch.setattr(os, name, full)
    with pytest.raises(CorpusError, match="No space left on device") as error:
        ingest(tmp_path, NEW)
    assert error.value.fix == "Free some space."
    monkeypatch.undo()
    assert assert_old_or_new(tmp_path) == 20


def _read_only(folder: Path) -> None:
    for path in [*folder.rglob("*"), folder]:
        path.chmod(0o555 if path.is_dir() else 0o444)


def search_as_somebody_else(home: Path) -> None:
    """Without the right to write, which root always has."""
    if os.getuid() == 0:
        os.setuid(_NOBODY)
    try:
        (home / "x").write_text("")
    except PermissionError:
        pass
    else:
        sys.exit(4)
    corpus = ensure_corpus(home, "c", embedder=FakeEmbedder())
    assert len(corpus) == 20
    vector = FakeEmbedder().embed(["anything"])[0]
    assert corpus.nearest_chunks(vector, n=3).paper_rows.size == 3
    assert corpus.keyword.search("old abstract 7", n=1).paper_rows.size == 1
    try:
        ingest_papers(home, "c", NEW, embedder=FakeEmbedder())
    except CorpusError as error:
        sys.exit(3 if "cannot be written" in error.problem else 5)


def test_a_read_only_home_serves(context: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:  # pytest's own folders are closed to others
        Path(folder).chmod(0o755)
        home = Path(folder) / "home"
        ingest(home, OLD)
        _read_only(home)
        try:
            assert run(context, search_as_somebody_else, home) == 3
        finally:
            for path in [home, *home.rglob("*")]:
                path.chmod(0o755)
        assert list(held(home).values()) == OLD
        assert CorpusFolder(home, "c").generations() == (1,)
