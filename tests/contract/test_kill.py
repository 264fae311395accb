"""kill -9 while a corpus is built: whatever the moment, the next start works and finds a paper."""

import multiprocessing
import os
import random
import signal
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.context import ForkServerProcess
from multiprocessing.queues import Queue
from pathlib import Path
from typing import Any

import pytest

from rag.corpus_folder import CorpusFolder
from rag.domain import Paper
from rag.embedding import Embedder, MiniLMEmbedder
from rag.ingest import ensure_corpus, ingest_papers, list_corpora
from rag.recovery import DEFAULT_CORPUS
from tests.builders import paper
from tests.fake_embedder import FakeEmbedder

OLD = [paper(f"old{number}", abstract=f"Old abstract {number}.") for number in range(20)]
NEW = [paper(f"new{number}", abstract=f"New abstract {number}.") for number in range(20)]
_AT_ONCE = 2
_PRELOADED = ["chromadb", "chromadb.config", "llama_index.core.node_parser", "rag.ingest", "rag.embedding", "bm25s"]


@pytest.fixture(scope="module")
def context() -> Any:
    """Starts processes that have the slow imports behind them already, so that kills fall into the work itself."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(_PRELOADED)
    return context


def _start(context: Any, target: Callable[..., object], *args: object) -> ForkServerProcess:
    process: ForkServerProcess = context.Process(target=target, args=args)
    process.start()
    return process


def _first_indexing(home: Path, embedder: Embedder, began: "Queue[float] | None" = None) -> None:
    if began is not None:
        began.put(time.monotonic())
    ensure_corpus(home, DEFAULT_CORPUS, embedder=embedder)


def _assert_next_start_works(context: Any, home: Path, embedder: Embedder) -> None:
    process = _start(context, _open_and_find, home, embedder)
    process.join(120)
    assert process.exitcode == 0


def _open_and_find(home: Path, embedder: Embedder) -> None:
    corpus = ensure_corpus(home, DEFAULT_CORPUS, embedder=embedder)
    assert len(corpus) == 19
    query = embedder.embed([corpus.paper(4).title])[0]
    assert corpus.nearest_chunks(query, n=5).paper_rows.size == 5
    assert corpus.keyword.search(corpus.paper(4).title, n=1).paper_rows.tolist() == [4]
    # A kill behind the swap leaves its scratch folder, which readers do not touch: the next writer sweeps it.
    folder = CorpusFolder(home, DEFAULT_CORPUS)
    with folder.lock():
        assert not list(folder.path.glob("build-*"))


def _kill_after(context: Any, home: Path, embedder: Embedder, *, seconds: float) -> None:
    began = context.Queue()
    process = _start(context, _first_indexing, home, embedder, began)
    began.get(timeout=120)
    time.sleep(seconds)
    process.kill()
    process.join()


def _measure(context: Any, home: Path, embedder: Embedder) -> float:
    began = context.Queue()
    process = _start(context, _first_indexing, home, embedder, began)
    start = began.get(timeout=120)
    process.join()
    assert process.exitcode == 0
    return time.monotonic() - float(start)


@pytest.mark.slow
def test_the_first_indexing_survives_kills_at_random_moments(context: Any, tmp_path: Path, nightly: bool) -> None:
    embedder = FakeEmbedder(dimension=384)
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        homes = [tmp_path / f"whole{number}" for number in range(_AT_ONCE)]
        within = max(pool.map(lambda home: _measure(context, home, embedder), homes))
        rng = random.Random(20)
        moments = [rng.uniform(0, within) for _ in range(200 if nightly else 20)]

        def is_survived(number: int) -> None:
            _kill_after(context, tmp_path / str(number), embedder, seconds=moments[number])
            _assert_next_start_works(context, tmp_path / str(number), embedder)

        list(pool.map(is_survived, range(len(moments))))


@pytest.mark.slow
def test_a_first_indexing_with_the_real_model_survives_a_kill_while_it_embeds(context: Any, tmp_path: Path) -> None:
    embedder = MiniLMEmbedder()
    _kill_after(context, tmp_path, embedder, seconds=random.Random(3).uniform(0, 4))
    _assert_next_start_works(context, tmp_path, embedder)


def _ingest_and_die(home: Path, papers: list[Paper], name: str, call: int, after: bool) -> None:
    """Kills its own process right before, or right after, the given call of `os.<name>`."""
    original = getattr(os, name)
    calls = 0

    def fatal(*args: object, **options: object) -> object:
        nonlocal calls
        calls += 1
        if calls == call and not after:
            os.kill(os.getpid(), signal.SIGKILL)
        result = original(*args, **options)
        if calls == call:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    setattr(os, name, fatal)
    ingest_papers(home, "c", papers, embedder=FakeEmbedder())


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize(("name", "call"), [("replace", 1), ("rename", 1), ("replace", 2), ("fsync", 1), ("fsync", 30)])
def test_a_kill_at_each_step_of_the_swap_leaves_the_old_state_or_the_new(
    context: Any, tmp_path: Path, name: str, call: int, after: bool
) -> None:
    ingest_papers(tmp_path, "c", OLD, embedder=FakeEmbedder())
    process = _start(context, _ingest_and_die, tmp_path, NEW, name, call, after)
    process.join(120)
    assert process.exitcode == -signal.SIGKILL
    is_new = (name, call) == ("replace", 2) and after  # the first is that of the rejects
    assert [corpus.papers for corpus in list_corpora(tmp_path)] == [40 if is_new else 20]
    corpus = ensure_corpus(tmp_path, "c", embedder=FakeEmbedder())
    assert [corpus.paper(row) for row in range(len(corpus))] == (OLD + NEW if is_new else OLD)
    assert ingest_papers(tmp_path, "c", NEW, embedder=FakeEmbedder()).total == 40
    assert not list((tmp_path / "corpora" / "c").glob("build-*"))


def test_a_first_build_killed_before_its_swap_is_resumed_without_embedding_again(context: Any, tmp_path: Path) -> None:
    process = _start(context, _ingest_and_die, tmp_path, NEW, "rename", 1, False)
    process.join(120)
    assert process.exitcode == -signal.SIGKILL
    embedder = FakeEmbedder()
    assert ingest_papers(tmp_path, "c", NEW, embedder=embedder).total == 20
    assert embedder.embedded == []
