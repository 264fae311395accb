"""The ways in which files of Chroma were seen to break: each is found at the next start, and repaired whole."""

import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from rag.corpus_folder import CorpusFolder
from rag.generation import verify_generation
from rag.ingest import ensure_corpus
from rag.store import DATABASE
from tests.corpora import ingest, some_papers
from tests.fake_embedder import FakeEmbedder

PAPERS = some_papers(range(60))
Damage = Callable[[Path], None]


def removed(path: Path) -> None:
    shutil.rmtree(path) if path.is_dir() else path.unlink()


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def halved(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def zeroed(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def flipped(path: Path) -> None:
    content, rng = bytearray(path.read_bytes()), random.Random(1)
    for _ in range(200):
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    path.write_bytes(content)


ROWS: dict[str, tuple[str, Damage]] = {
    "segment folder removed": ("", removed),
    "pickle removed": ("index_metadata.pickle", removed),
    "pickle empty": ("index_metadata.pickle", emptied),
    "pickle half": ("index_metadata.pickle", halved),
    "header empty": ("header.bin", emptied),
    "header zeroed": ("header.bin", zeroed),
    "header flipped": ("header.bin", flipped),
    "data_level0 empty": ("data_level0.bin", emptied),
    "data_level0 zeroed": ("data_level0.bin", zeroed),
    "data_level0 half": ("data_level0.bin", halved),
    "data_level0, 200 bit flips": ("data_level0.bin", flipped),
    "link_lists half": ("link_lists.bin", halved),
    "link_lists empty": ("link_lists.bin", emptied),
    "link_lists flipped": ("link_lists.bin", flipped),
    "length empty": ("length.bin", emptied),
    "length zeroed": ("length.bin", zeroed),
    "SQLite half": (f"../{DATABASE}", halved),
    "SQLite empty": (f"../{DATABASE}", emptied),
    "SQLite removed": (f"../{DATABASE}", removed),
}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a corpus of PAPERS; to be copied."""
    home = tmp_path_factory.mktemp("built") / "home"
    ingest(home, PAPERS)
    return home


@pytest.mark.parametrize("row", ROWS)
def test_damage(built: Path, home: Path, row: str) -> None:
    shutil.copytree(built, home)
    name, damage = ROWS[row]
    place = CorpusFolder(home, "c").generation(1)
    segment = next(path for path in (place / "chroma").iterdir() if path.is_dir())
    path = (segment / name).resolve()
    damage(path)
    manifest = CorpusFolder(home, "c").current()
    assert manifest is not None
    assert verify_generation(place, manifest) != ()
    embedder = FakeEmbedder()
    corpus = ensure_corpus(home, "c", embedder=embedder)
    assert [corpus.paper(number) for number in range(len(corpus))] == PAPERS
    assert verify_generation(corpus.folder, corpus.manifest, deep=True) == ()
    assert (corpus.manifest.generation, embedder.embedded) == (2, [])
    corpus.close()
