"""Ingest: what is added, replaced, left alone, merged and refused, and what a corpus then holds."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from rag.corpus_folder import CorpusFolder
from rag.errors import InputError
from rag.ingest import IngestReport, ingest_files, list_corpora, remove_papers
from rag.recovery import DEFAULT_CORPUS
from tests.builders import paper
from tests.corpora import held, ingest, some_papers
from tests.fake_embedder import FakeEmbedder


def _counts(report: IngestReport) -> tuple[int, int, int, int, int]:
    return report.added, report.replaced, report.unchanged, report.duplicates, report.total


def test_new_papers_are_added_in_order(home: Path) -> None:
    assert _counts(ingest(home, some_papers(range(3)))) == (3, 0, 0, 0, 3)
    assert _counts(ingest(home, some_papers([7]))) == (1, 0, 0, 0, 4)
    assert list(held(home).values()) == some_papers([0, 1, 2, 7])


def test_the_same_again_changes_nothing_and_embeds_nothing(home: Path) -> None:
    first = ingest(home, some_papers(range(3)))
    embedder = FakeEmbedder()
    again = ingest(home, some_papers([2, 0, 1]), embedder=embedder)
    assert _counts(again) == (0, 0, 3, 0, 3)
    assert again.generation == first.generation
    assert embedder.embedded == []


def test_the_same_again_imports_neither_chroma_nor_llama_index(home: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"id": "1", "abstract": "One."}\n{"id": "2", "abstract": "Two."}')
    ingest_files(home, "c", [path], embedder=FakeEmbedder())
    script = (
        "import sys\nfrom pathlib import Path\nfrom rag.ingest import ingest_files\n"
        "from tests.fake_embedder import FakeEmbedder\n"
        "home, path = map(Path, sys.argv[1:])\n"
        "assert ingest_files(home, 'c', [path], embedder=FakeEmbedder()).unchanged == 2\n"
        "heavy = {'chromadb', 'llama_index.core', 'onnxruntime', 'bm25s'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", script, str(home), str(path)], check=True)


def test_a_changed_abstract_replaces_the_old_one_in_its_place(home: Path) -> None:
    ingest(home, some_papers(range(3)))
    changed = paper("p1", title="Title 1", abstract="Another abstract. It is new.")
    embedder = FakeEmbedder()
    assert _counts(ingest(home, [changed], embedder=embedder)) == (0, 1, 0, 0, 3)
    assert list(held(home).values()) == [some_papers([0])[0], changed, some_papers([2])[0]]
    assert sorted(embedder.embedded) == ["Another abstract.", "It is new.", "Title 1. Another abstract. It is new."]


def test_changed_metadata_replaces_the_whole_record_without_embedding(home: Path) -> None:
    ingest(home, [paper("p", metadata={"old": 1})])
    embedder = FakeEmbedder()
    report = ingest(home, [paper("p", metadata={"new": [1, {"deep": None}]})], embedder=embedder)
    assert _counts(report) == (0, 1, 0, 0, 1)
    assert held(home)["p"].metadata == {"new": [1, {"deep": None}]}
    assert embedder.embedded == []


def test_of_one_id_twice_the_last_counts(home: Path) -> None:
    one, two = paper("p", abstract="Version one."), paper("p", abstract="Version two.")
    assert _counts(ingest(home, [one, two])) == (1, 0, 0, 1, 1)
    assert held(home)["p"].abstract == "Version two."
    assert _counts(ingest(home, [one, two])) == (0, 0, 1, 1, 1)


def test_papers_of_the_same_title_and_abstract_are_merged(home: Path) -> None:
    papers = [paper("a"), paper("b"), paper("c", title="memory  TRACES"), paper("d", title="Another title")]
    assert _counts(ingest(home, papers)) == (2, 0, 0, 2, 2)
    assert list(held(home)) == ["a", "d"]
    assert _counts(ingest(home, papers)) == (0, 0, 2, 2, 2)


def test_a_paper_that_was_merged_into_one_that_then_changed_comes_back(home: Path) -> None:
    same, changed = paper("b"), paper("a", abstract="Something else.")
    assert _counts(ingest(home, [paper("a"), same])) == (1, 0, 0, 1, 1)
    assert _counts(ingest(home, [changed, same])) == (1, 1, 0, 0, 2)
    assert held(home) == {"a": changed, "b": same}


def test_a_paper_with_a_title_takes_the_place_of_the_same_without_one(home: Path) -> None:
    untitled, titled = paper("hash", title=""), paper("id")
    assert _counts(ingest(home, [untitled])) == (1, 0, 0, 0, 1)
    assert _counts(ingest(home, [titled])) == (0, 1, 0, 0, 1)
    assert _counts(ingest(home, [untitled])) == (0, 0, 0, 1, 1)
    assert held(home) == {"id": titled}


def test_the_seed_document_adds_nothing_to_the_corpus_of_its_records(home: Path, shared_data: Path) -> None:
    path = shared_data / "icml2025_seed.txt"
    report = ingest_files(home, DEFAULT_CORPUS, [path], embedder=FakeEmbedder())
    assert _counts(report) == (0, 0, 0, 19, 19)
    assert all(paper.title for paper in held(home, DEFAULT_CORPUS).values())


def test_rejects_are_reported_and_written_and_the_rest_goes_in(home: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"id": "1", "abstract": "One."}\n{broken\n{"id": "3", "abstract": null}\n')
    report = ingest_files(home, "c", [path], embedder=FakeEmbedder())
    assert _counts(report) == (1, 0, 0, 0, 1)
    assert [(reject.line, reject.field) for reject in report.rejects] == [(2, None), (3, "abstract")]
    written = [json.loads(line) for line in report.rejects_file.read_text().splitlines()]
    assert [(reject["file"], reject["line"], reject["record"]) for reject in written] == [
        (str(path), 2, "{broken"),
        (str(path), 3, "3"),
    ]


def test_repairs_are_reported(home: Path) -> None:
    report = ingest(home, [paper("p", abstract="A bell\a rings.")])
    assert [(repair.record, repair.what) for repair in report.repairs] == [("p", "control characters removed")]
    assert held(home)["p"].abstract == "A bell rings."


def test_when_no_record_can_be_taken_the_corpus_stays_as_it_was(home: Path, tmp_path: Path) -> None:
    ingest(home, some_papers(range(2)))
    path = tmp_path / "a.jsonl"
    path.write_text('{"id": "1"}\n{"id": "2"}')
    with pytest.raises(InputError, match=r"None of the 2 records .*a.jsonl:1.* abstract: no abstract"):
        ingest_files(home, "c", [path], embedder=FakeEmbedder())
    assert list(held(home)) == ["p0", "p1"]
    assert list_corpora(home)[0].generation == 1


def test_an_empty_file_is_an_error(home: Path, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").touch()
    with pytest.raises(InputError, match="nothing to index"):
        ingest_files(home, "c", [tmp_path / "a.jsonl"], embedder=FakeEmbedder())
    assert list_corpora(home) == ()


def test_an_unusable_file_stops_the_whole_ingest(home: Path, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"abstract": "Good."}')
    with pytest.raises(InputError, match=r"missing\.jsonl"):
        ingest_files(home, "c", [tmp_path / "a.jsonl", tmp_path / "missing.jsonl"], embedder=FakeEmbedder())
    assert list_corpora(home) == ()


def test_papers_that_cannot_be_stored_are_rejected(home: Path) -> None:
    bad = [paper("a", abstract=" "), paper("b", year=True), paper("c", metadata={"x": object()})]
    report = ingest(home, [*bad, paper("good")])
    assert [(reject.line, reject.record, reject.field) for reject in report.rejects] == [
        (1, "a", "abstract"),
        (2, "b", "year"),
        (3, "c", "x"),
    ]
    assert list(held(home)) == ["good"]


def test_a_long_abstract_keeps_its_chunks_when_it_comes_again(home: Path) -> None:
    long = paper("long", abstract=" ".join(f"Sentence {n} says that {n} is {n + 1} minus one." for n in range(60)))
    first = ingest(home, [long, *some_papers(range(2))])
    chunks = CorpusFolder(home, "c").current()
    ingest(home, [long])
    changed = ingest(home, [long, *some_papers(range(3))])
    after = CorpusFolder(home, "c").current()
    assert chunks is not None
    assert after is not None
    assert chunks.chunks > 4
    assert after.chunks == chunks.chunks + 1
    assert changed.generation == first.generation + 1
    assert held(home)["long"] == long


def test_metadata_cannot_pass_for_a_field_of_the_paper(home: Path) -> None:
    ingest(home, [paper("p", title="", metadata={"title": "Not a title", "note": "kept"})])
    assert held(home)["p"] == paper("p", title="", metadata={"note": "kept"})


def test_removed_papers_are_gone(home: Path) -> None:
    ingest(home, some_papers(range(3)))
    assert remove_papers(home, "c", ["p1"], embedder=FakeEmbedder()).papers == 2
    assert list(held(home)) == ["p0", "p2"]
    with pytest.raises(InputError, match="no paper 'p1'"):
        remove_papers(home, "c", ["p1"], embedder=FakeEmbedder())
    with pytest.raises(InputError, match="No paper would be left"):
        remove_papers(home, "c", ["p0", "p2"], embedder=FakeEmbedder())
