"""The vector store on a real Chroma: finds what it holds, notices what it lost, and never runs what an index names."""

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from rag.embedding import Vectors
from rag.errors import CorpusError
from rag.store import DATABASE, ChromaStore, ChunkRecord, check_database, plan_batches
from tests.fake_embedder import FakeEmbedder

TEXTS = [f"Chunk {number} of the corpus." for number in range(310)]


def _vectors() -> Vectors:
    return FakeEmbedder().embed(TEXTS)


def _records() -> Iterator[ChunkRecord]:
    return (ChunkRecord(f"p{number}", text, 0, len(text)) for number, text in enumerate(TEXTS))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A store of 310 chunks, closed."""
    folder = tmp_path / "chroma"
    folder.mkdir()
    ChromaStore.build(folder, vectors=_vectors(), chunks=_records()).close()
    return folder


def test_the_nearest_rows_are_those_of_an_exact_search(folder: Path) -> None:
    vectors, query = _vectors(), FakeEmbedder().embed(["a question"])[0]
    store = ChromaStore.open(folder)
    hits = store.nearest(query, n=20)
    store.close()
    cosines = vectors @ query
    assert hits.rows.tolist() == np.argsort(-cosines)[:20].tolist()
    assert np.allclose(hits.scores, np.sort(cosines)[::-1][:20], atol=1e-5)


def test_asking_for_more_than_there_is_gives_all(folder: Path) -> None:
    store = ChromaStore.open(folder)
    assert sorted(store.nearest(_vectors()[0], n=1000).rows.tolist()) == list(range(len(TEXTS)))
    store.close()


def test_a_whole_store_verifies_and_one_with_other_vectors_does_not(folder: Path) -> None:
    vectors = _vectors()
    store = ChromaStore.open(folder)
    store.verify(vectors)
    with pytest.raises(CorpusError, match="310 of 309"):
        store.verify(vectors[:-1])
    vectors[[7, 8]] = vectors[[8, 7]]
    with pytest.raises(CorpusError, match="another vector for chunk 7"):
        store.verify(vectors)
    with pytest.raises(CorpusError, match="does not find chunk 7"):
        store.verify_self_hits(vectors, range(20))
    store.close()


@pytest.mark.parametrize("rows", [2, 3, 299, 300, 301, 999, 1000, 1001, 1999, 2503, 59_999, 178_302, 1_000_003])
def test_batches_hold_every_row_once_and_only_the_last_of_a_group_reaches_the_threshold(rows: int) -> None:
    threshold, batches = plan_batches(rows)
    assert [row for batch in batches for row in batch] == list(range(rows))
    assert all(0 < len(batch) <= 300 for batch in batches)
    unsynced = 0
    for batch in batches:
        unsynced += len(batch)
        if unsynced >= threshold:
            unsynced = 0
    assert unsynced == 0


@pytest.mark.parametrize("rows", [2, 310, 2503])
def test_reading_changes_no_file_but_the_database(tmp_path: Path, rows: int) -> None:
    folder, texts = tmp_path, [f"Text {row}" for row in range(rows)]
    records = (ChunkRecord(text, text, 0, len(text)) for text in texts)
    ChromaStore.build(folder, vectors=FakeEmbedder().embed(texts), chunks=records).close()

    def contents() -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.name != DATABASE}

    before = contents()
    script = (
        "import sys, numpy as np\nfrom pathlib import Path\nfrom rag.store import ChromaStore\n"
        "ChromaStore.open(Path(sys.argv[1])).nearest(np.ones(32, dtype=np.float32), n=5)\n"
    )
    subprocess.run([sys.executable, "-c", script, str(folder)], check=True)
    assert len(before) == 5  # with index_metadata.pickle, which is there once all rows are
    assert contents() == before


def test_a_vector_of_another_dimension_is_a_corpus_error(folder: Path) -> None:
    store = ChromaStore.open(folder)
    with pytest.raises(CorpusError, match="vector index"):
        store.nearest(np.ones(7, dtype=np.float32), n=3)
    store.close()


def test_a_missing_store_is_an_error_and_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="missing"):
        ChromaStore.open(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_an_index_that_names_an_embedding_function_is_refused_and_the_function_never_built(
    folder: Path, tmp_path: Path
) -> None:
    _name_embedding_function(folder, {"type": "known", "name": "sentence_transformer", "config": {"model_name": "x"}})
    with pytest.raises(CorpusError, match="sentence_transformer"):
        ChromaStore.open(folder)
    assert "sentence_transformers" not in sys.modules


@pytest.mark.parametrize("function", [{"type": "legacy"}, {"type": "known", "name": "default", "config": {}}])
def test_an_index_of_a_default_embedding_function_is_opened(folder: Path, function: dict[str, object]) -> None:
    _name_embedding_function(folder, function)
    store = ChromaStore.open(folder)
    assert store.count() == len(TEXTS)
    store.close()


def _in_a_new_process(script: str, cwd: Path, *args: object, **environment: str) -> "subprocess.CompletedProcess[str]":
    root = str(Path(__file__).resolve().parents[2])
    return subprocess.run(
        [sys.executable, "-c", script, *map(str, args)],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": root, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


OPEN = """import sys
from pathlib import Path
from rag.store import ChromaStore
store = ChromaStore.open(Path(sys.argv[1]))
"""


def test_settings_of_chroma_in_the_environment_and_in_dotenv_are_not_followed(folder: Path, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("CHROMA_OTEL_COLLECTION_ENDPOINT=http://127.0.0.1:9\nANONYMIZED_TELEMETRY=True\n")
    script = OPEN + (
        "settings = store._close.__self__.get_settings()\n"
        "assert settings.chroma_otel_collection_endpoint == ''\n"
        "assert settings.anonymized_telemetry is False\n"
        "assert store.count() == 310\n"
    )
    server = {"CHROMA_API_IMPL": "chromadb.api.fastapi.FastAPI", "CHROMA_SERVER_HOST": "127.0.0.1"}
    done = _in_a_new_process(script, tmp_path, folder, **server)
    assert done.returncode == 0, done.stderr


def test_settings_that_chroma_cannot_read_are_an_error_that_names_them(folder: Path, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("CHROMA_SERVER_HTTP_PORT=abc\n")
    done = _in_a_new_process(OPEN, tmp_path, folder)
    assert "CorpusError: Chroma cannot start with the CHROMA_ settings" in done.stderr


def test_the_database_is_checked_without_chroma(folder: Path) -> None:
    assert check_database(folder, rows=310, deep=True) is None
    assert "holds 310 of 309" in (check_database(folder, rows=309, deep=False) or "")
    path = folder / DATABASE
    whole = path.read_bytes()
    for damage in (b"", whole[: len(whole) // 2], whole[:8192] + bytes(len(whole) - 8192), b"\xff" * len(whole)):
        path.write_bytes(damage)
        assert check_database(folder, rows=310, deep=False) is not None
    path.unlink()
    assert check_database(folder, rows=310, deep=False) is not None
    assert not path.exists()


def test_the_three_calls_that_build_stored_embedding_functions_are_not_in_the_code() -> None:
    source = (Path(__file__).resolve().parents[2] / "rag" / "store.py").read_text()
    code = source.split('"""', 2)[2]
    assert ".configuration\n" not in code.replace(".configuration_json", "")
    assert "query_texts" not in code
    assert "upsert" not in code


def _name_embedding_function(folder: Path, function: dict[str, object]) -> None:
    """Writes `function` where Chroma keeps a collection's embedding function."""
    with closing(sqlite3.connect(folder / DATABASE)) as connection, connection:
        ((schema,),) = connection.execute("SELECT schema_str FROM collections").fetchall()
        fields = json.loads(schema)
        fields["keys"]["#embedding"]["float_list"]["vector_index"]["config"]["embedding_function"] = function
        connection.execute("UPDATE collections SET schema_str = ?", [json.dumps(fields)])
