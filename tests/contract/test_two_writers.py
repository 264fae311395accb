"""Two ingests at once: the second is told who writes, and the first loses nothing."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rag.cli.screen import EXIT_BUSY
from rag.corpus_folder import CorpusFolder
from rag.embedding import MiniLMEmbedder
from rag.errors import CorpusBusyError
from rag.ingest import ensure_corpus
from tests.corpora import held, ingest, some_papers

PROGRAM = "import sys; from rag.cli import main; sys.exit(main())"


def start(home: Path, source: Path) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", PROGRAM, "ingest", str(source), "--corpus", "c", "--home", str(home)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def test_the_second_is_refused_with_the_pid_of_the_first(tmp_path: Path, home: Path) -> None:
    (tmp_path / "a.txt").write_text("Frogs climb walls.\n")
    folder = CorpusFolder(home, "c")
    with folder.lock():
        with pytest.raises(CorpusBusyError, match=f"Process {os.getpid()} is writing to the corpus c"):
            ingest(home, some_papers(range(3)))
        second = start(home, tmp_path / "a.txt")
        assert f"Process {os.getpid()} is writing" in " ".join(second.communicate(timeout=120)[0].split())
        assert second.returncode == EXIT_BUSY
    ingest(home, some_papers(range(3)))
    assert len(held(home)) == 3


@pytest.mark.slow
def test_of_two_commands_at_once_one_is_refused_or_waits_its_turn(tmp_path: Path, home: Path) -> None:
    for name, words in (("a", "frogs climb walls"), ("b", "glaciers melt early")):
        text = "\n\n".join(f"In study {number} of {name}, {words} as often as {number} times." for number in range(40))
        (tmp_path / f"{name}.txt").write_text(text)
    first = start(home, tmp_path / "a.txt")
    lock = home / "corpora" / "c" / "lock"
    while not lock.exists() or not lock.read_text():
        assert first.poll() is None
        time.sleep(0.01)
    second = start(home, tmp_path / "b.txt")
    told = second.communicate(timeout=120)[0]
    first.communicate(timeout=120)
    if second.returncode:
        assert second.returncode == EXIT_BUSY
        assert f"Process {first.pid} is writing" in " ".join(told.split())
        again = start(home, tmp_path / "b.txt")
        again.communicate(timeout=120)
        assert again.returncode == 0
    assert first.returncode == 0
    corpus = ensure_corpus(home, "c", embedder=MiniLMEmbedder())
    assert len(corpus) == 80
    corpus.close()
