"""What Chroma was seen to do with odd input, in odd places and with many at once: nothing of it reaches a reader.

Rows with a test elsewhere: another dimension, stored embedding functions and batches in `test_store`; vectors that are
no numbers or all zero in `test_embedding_cache`; an id twice, changed records and removals in `test_ingest`; names and
two writers in `test_ingest_corpora`; kills and full disks in `test_kill` and `test_faults`; a server in
`test_chroma_server`.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from rag.corpus import Corpus
from rag.filters import Filters
from rag.ingest import ensure_corpus, ingest_files, ingest_papers
from rag.store import ChromaStore
from tests.builders import paper
from tests.corpora import held, ingest, some_papers
from tests.fake_embedder import FakeEmbedder

PAPERS = some_papers(range(40))
VECTORS = FakeEmbedder().embed([f"Question {number}?" for number in range(16)])


@pytest.fixture
def corpus(home: Path) -> Iterator[Corpus]:
    ingest(home, PAPERS)
    opened = ensure_corpus(home, "c", embedder=FakeEmbedder())
    yield opened
    opened.close()


def ingest_records(home: Path, folder: Path, records: list[object]) -> tuple[list[str], list[str]]:
    """The ids of the papers that went in, as they are stored, and the reasons of those that did not."""
    path = folder / "records.jsonl"
    path.write_text("\n".join(json.dumps(record) for record in records))
    report = ingest_files(home, "c", [path], embedder=FakeEmbedder())
    return list(held(home)), [reject.reason for reject in report.rejects]


@pytest.mark.parametrize(("n", "found"), [(-1, 0), (0, 0), (1, 1), (40, 40), (5_000, 40)])
def test_n_results_below_one_and_above_count(corpus: Corpus, n: int, found: int) -> None:
    assert corpus.nearest_chunks(VECTORS[0], n=n).paper_rows.size == found


def test_metadata_none_nested_mixed_large_and_reserved_keys(home: Path, tmp_path: Path) -> None:
    odd = {
        "none": None,
        "empty": {},
        "nested": {"a": [1, "x", None, {"b": 0.5}]},
        "mixed": [1, "x", 2.5],
        "large": 2**63,
        "chroma:document": "reserved",
        "$gt": 3,
        "long": "w" * 500_000,
    }
    ids, reasons = ingest_records(home, tmp_path, [{"id": "odd", "abstract": "Odd.", **odd}, {"abstract": "Plain."}])
    assert (len(ids), reasons) == (2, [])
    assert held(home)["odd"].metadata == odd


def test_ids_empty_not_text_nul_emoji_and_of_1_mb(home: Path, tmp_path: Path) -> None:
    given = ["", 7, ["x"], "a\0b", "\N{DNA DOUBLE HELIX}", "x" * 1_000_000]
    records: list[object] = [{"id": id_, "abstract": f"Abstract {n}."} for n, id_ in enumerate(given)]
    ids, reasons = ingest_records(home, tmp_path, records)
    assert ids[1:] == ["7", "ab", "\N{DNA DOUBLE HELIX}"]
    assert len(ids[0]) == 20
    assert [reason.split(",")[0] for reason in reasons] == ["must be text", "longer than 256 characters"]


HOSTILE = ["'; DROP TABLE embeddings; --", '" OR 1=1', "100% of _", "(a+)+$", "{'$contains': ''}"]


def test_sql_percent_quotes_and_regular_expressions(home: Path) -> None:
    papers = [paper(text, title=text, abstract=f"{text} is studied.", authors=(text,)) for text in HOSTILE]
    ingest_papers(home, "c", [*papers, *PAPERS], embedder=FakeEmbedder(), duplicates="keep")
    assert list(held(home)) == [*HOSTILE, *(other.paper_id for other in PAPERS)]
    opened = ensure_corpus(home, "c", embedder=FakeEmbedder())
    for row, text in enumerate(HOSTILE):
        assert opened.facets.allowed(Filters(ids=(text,))).nonzero()[0].tolist() == [row]
        opened.keyword.search(text, n=5)
    assert opened.nearest_chunks(VECTORS[0], n=99).paper_rows.size == len(opened) == 45
    opened.close()


@pytest.mark.parametrize("name", ["with spaces", "Größe 漢字", "\N{DNA DOUBLE HELIX}", 'it\'s "quoted"', "a?b#c%20d"])
def test_odd_paths(tmp_path: Path, name: str) -> None:
    home = tmp_path / name / "home"
    ingest(home, PAPERS)
    opened = ensure_corpus(home, "c", embedder=FakeEmbedder())
    assert opened.nearest_chunks(VECTORS[0], n=5).paper_rows.size == 5
    opened.close()


def test_one_folder_opened_twice_in_one_process(corpus: Corpus) -> None:
    one, two = (ChromaStore.open(corpus.folder / "chroma") for _ in range(2))
    assert one.nearest(VECTORS[0], n=5).rows.tolist() == two.nearest(VECTORS[0], n=5).rows.tolist()
    one.close()
    assert two.nearest(VECTORS[0], n=5).rows.size == 5
    two.close()


def test_sixteen_threads_on_one_client(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = [corpus.nearest_chunks(vector, n=10).paper_rows.tolist() for vector in VECTORS]
    monkeypatch.setattr("rag.corpus.nearest_exact", lambda *_, **__: pytest.fail("Chroma was not asked"))
    with ThreadPoolExecutor(16) as pool:
        found = list(pool.map(lambda vector: corpus.nearest_chunks(vector, n=10).paper_rows.tolist(), [*VECTORS] * 8))
    assert found == expected * 8


READER = """
import sys, numpy as np
from pathlib import Path
from rag.ingest import ensure_corpus
from tests.fake_embedder import FakeEmbedder
corpus = ensure_corpus(Path(sys.argv[1]), "c", embedder=FakeEmbedder())
vectors = FakeEmbedder().embed([f"Question {number}?" for number in range(16)])
print("open", flush=True)
while sys.stdin.readline():
    print([corpus.nearest_chunks(vector, n=10).paper_rows.tolist() for vector in vectors], flush=True)
"""


def test_a_reader_in_a_second_process_beside_a_writer(corpus: Corpus, home: Path) -> None:
    expected = str([corpus.nearest_chunks(vector, n=10).paper_rows.tolist() for vector in VECTORS])
    command = [sys.executable, "-c", READER, str(home)]
    root = Path(__file__).resolve().parents[2]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=root) as reader:
        assert reader.stdin is not None
        assert reader.stdout is not None
        assert reader.stdout.readline() == "open\n"
        for number in (100, 200):
            ingest(home, some_papers([number]))
            print(file=reader.stdin, flush=True)
            assert reader.stdout.readline().strip() == expected
    assert reader.returncode == 0
    assert np.shape(corpus.nearest_chunks(VECTORS[0], n=99).paper_rows) == (40,)
    assert len(held(home)) == 42
