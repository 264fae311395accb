"""A corpus on a real Chroma server: the same answers, from several processes, and without it none is lost."""

import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from rag.cli import app
from rag.corpus import Corpus
from rag.errors import CorpusError, SettingsError
from rag.ingest import ensure_corpus, share_corpus
from rag.remote_store import ChromaServer, collection_name, open_shared, share
from rag.store import ChunkRecord
from tests.contract.chroma_server import Served
from tests.corpora import ingest, some_papers
from tests.fake_embedder import FakeEmbedder

PAPERS = some_papers(range(320))
"""More than go into one write."""


@pytest.fixture(scope="module")
def chroma(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    served = Served(tmp_path_factory.mktemp("chroma"))
    yield served
    served.kill()


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("built") / "home"
    ingest(home, PAPERS)
    return home


def opened(home: Path, server: ChromaServer | None) -> Corpus:
    return ensure_corpus(home, "c", embedder=FakeEmbedder(), server=server)


def questions() -> np.ndarray:
    return FakeEmbedder().embed([f"Question {number}?" for number in range(20)])


def test_it_finds_what_the_embedded_one_finds(chroma: Served, built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    local = opened(built, None)
    expected = [local.nearest_chunks(vector, n=10) for vector in questions()]
    local.close()
    shared = opened(built, chroma.server)
    monkeypatch.setattr("rag.corpus.ChromaStore.open", lambda folder: pytest.fail("the embedded index was opened"))
    monkeypatch.setattr("rag.corpus.nearest_exact", lambda *_, **__: pytest.fail("the server was not asked"))
    for vector, hits in zip(questions(), expected, strict=True):
        found = shared.nearest_chunks(vector, n=10)
        assert found.paper_rows.tolist() == hits.paper_rows.tolist()
        assert np.allclose(found.scores, hits.scores, atol=1e-4)
    shared.close()


def test_a_second_process_writes_nothing_again(chroma: Served, built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened(built, chroma.server).close()
    monkeypatch.setattr("rag.remote_store._fill", lambda *_: pytest.fail("it was filled again"))
    opened(built, chroma.server).close()


def test_two_that_fill_it_at_once_fill_it_once(chroma: Served, home: Path) -> None:
    ingest(home, some_papers(range(400, 720)))
    corpus = opened(home, None)
    with ThreadPoolExecutor(2) as pool:
        for sharing in [pool.submit(share_corpus, corpus, chroma.server) for _ in range(2)]:
            sharing.result()
    store = open_shared(chroma.server, corpus.manifest)
    assert store.count() == corpus.manifest.chunks
    store.verify(np.load(corpus.folder / "vectors.npy"))
    store.close()
    corpus.close()


def test_what_is_missing_there_is_filled_in(chroma: Served, built: Path) -> None:
    corpus = opened(built, chroma.server)
    with chroma.client() as client:
        client.get_collection(collection_name(corpus.manifest), embedding_function=None).delete(ids=["3", "300"])
    with pytest.raises(CorpusError, match=f"{corpus.manifest.chunks - 2} of {corpus.manifest.chunks} chunks"):
        open_shared(chroma.server, corpus.manifest)
    share_corpus(corpus, chroma.server)
    open_shared(chroma.server, corpus.manifest).close()
    corpus.close()


def test_the_limits_of_chroma_cloud_are_kept(chroma: Served, built: Path, home: Path) -> None:
    shared = opened(built, chroma.server)
    assert len(shared) > 300
    assert shared.nearest_chunks(questions()[0], n=len(shared)).paper_rows.size == 300
    shared.close()
    ingest(home, some_papers(range(900, 902)))
    corpus = opened(home, None)
    long = (ChunkRecord(f"p{number}", "\N{DNA DOUBLE HELIX}" * 5000, 0, 5000) for number in range(2))
    share(chroma.server, corpus.manifest, vectors=np.load(corpus.folder / "vectors.npy"), chunks=long)
    with chroma.client() as client:
        held = client.get_collection(collection_name(corpus.manifest), embedding_function=None).get()
    assert [len(text.encode()) for text in held["documents"] or []] == [16_384, 16_384]
    corpus.close()


def test_a_collection_for_another_measure_is_refused(chroma: Served, home: Path) -> None:
    ingest(home, some_papers(range(6)))
    corpus = opened(home, None)
    chroma.create(collection_name(corpus.manifest), {"hnsw": {"space": "l2"}})
    with pytest.raises(CorpusError, match="not made for cosines"):
        share_corpus(corpus, chroma.server)
    corpus.close()


def test_a_changed_corpus_is_another_collection(chroma: Served, home: Path) -> None:
    ingest(home, some_papers(range(3)))
    before = opened(home, chroma.server)
    ingest(home, some_papers(range(4)))
    after = opened(home, chroma.server)
    assert collection_name(before.manifest) != collection_name(after.manifest)
    for corpus, count in ((before, 3), (after, 4)):
        assert corpus.nearest_chunks(questions()[0], n=10).paper_rows.size == count
        corpus.close()


def test_a_server_that_dies_loses_no_answer_and_is_asked_again_later(
    built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = Served(tmp_path / "chroma")
    corpus = opened(built, served.server)
    expected = corpus.nearest_chunks(questions()[0], n=10).paper_rows.tolist()
    served.kill()
    begin = time.monotonic()
    assert corpus.nearest_chunks(questions()[0], n=10).paper_rows.tolist() == expected
    assert time.monotonic() - begin < 5
    served.start()
    monkeypatch.setattr("rag.corpus.time.monotonic", lambda: begin + 60)
    monkeypatch.setattr("rag.corpus.nearest_exact", lambda *_, **__: pytest.fail("the server was not asked again"))
    assert corpus.nearest_chunks(questions()[0], n=10).paper_rows.tolist() == expected
    corpus.close()
    served.kill()


def test_a_stored_embedding_function_is_never_made(chroma: Served, home: Path) -> None:
    ingest(home, some_papers(range(5)))
    corpus = opened(home, None)
    config = {"model_name": "/nowhere", "device": "cpu", "normalize_embeddings": False, "kwargs": {}}
    function = {"type": "known", "name": "sentence_transformer", "config": config}
    chroma.create(collection_name(corpus.manifest), {"hnsw": {"space": "cosine"}, "embedding_function": function})
    with pytest.raises(CorpusError, match="embedding function of its own"):
        share_corpus(corpus, chroma.server)
    corpus.close()


def test_a_server_that_is_not_there_is_named(built: Path) -> None:
    with pytest.raises(CorpusError, match=r"http://127\.0\.0\.1:1 cannot be reached"):
        opened(built, ChromaServer("127.0.0.1", 1, ssl=False))


def test_a_server_that_never_answers_is_left(built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag.remote_store._CONNECT_SECONDS", 0.3)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        with pytest.raises(CorpusError, match="cannot be reached"):
            opened(built, ChromaServer("127.0.0.1", silent.getsockname()[1], ssl=False))


@pytest.mark.parametrize(
    ("address", "server"),
    [
        ("http://chroma:8123", ChromaServer("chroma", 8123, ssl=False)),
        ("https://chroma.example", ChromaServer("chroma.example", 443, ssl=True)),
        ("http://chroma", ChromaServer("chroma", 8000, ssl=False)),
        ("https://api.trychroma.com/t-1/papers/", ChromaServer("api.trychroma.com", 443, True, "t-1", "papers")),
    ],
)
def test_addresses(address: str, server: ChromaServer) -> None:
    assert ChromaServer.parse(address) == server


@pytest.mark.parametrize(
    "address", ["chroma:8000", "ftp://x", "http://", "http://x/only", "http://u:p@x", "http://x:y"]
)
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(SettingsError, match="not the address"):
        ChromaServer.parse(address)


def test_its_token_is_not_shown() -> None:
    server = ChromaServer.parse("https://x", token="hidden-token")  # noqa: S106
    assert "hidden" not in f"{server} {server!r}"


def test_commands_share_and_search(chroma: Served, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Frogs climb walls.\n\nGlaciers melt in Norway.\n\nShips sail far.\n")
    variables = {"CITEWISE_CHROMA": f"http://127.0.0.1:{chroma.port}", "CITEWISE_HOME": str(tmp_path / "home")}

    def run(*arguments: str) -> str:
        done = CliRunner(env=variables).invoke(app, [*arguments, "--corpus", "own"])
        assert done.exit_code == 0, done.output
        return done.output

    assert "own: 3 chunks at http://127.0.0.1" in run("ingest", str(tmp_path / "a.txt")).replace("\n", " ")
    assert "Norway" in run("search", "glaciers")
    assert "3 chunks" in run("corpus", "share")
