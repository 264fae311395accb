"""The measurement of speed: turns, marks of a new process, recall of an index, queries, and all of it on a corpus."""

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from evals.perf.baselines import exact_numpy, raw_chroma, recall_of
from evals.perf.cold_start import read_start
from evals.perf.ingest_rate import measure_ingest_rate
from evals.perf.queries import derive_queries, read_query_file
from evals.perf.stages import STAGES, StagedSearch
from evals.perf.timing import summarise, take_turns
from rag.cli import app
from rag.corpus import Corpus
from rag.embedding import Vectors
from rag.errors import InputError
from rag.generation import VECTORS
from rag.ingest import ensure_corpus
from tests.corpora import ingest, some_papers
from tests.fake_embedder import FakeEmbedder


@pytest.fixture
def corpus(home: Path) -> Corpus:
    ingest(home, some_papers(range(40)))
    return ensure_corpus(home, "c", embedder=FakeEmbedder())


def test_contestants_take_turns_in_being_first() -> None:
    calls: list[str] = []
    done: list[int] = []
    contestants = {name: lambda item, name=name: calls.append(f"{name}{item}") for name in "abc"}
    times = take_turns([1, 2], contestants, on_item=done.append)
    assert calls == ["a1", "b1", "c1", "b2", "c2", "a2"]
    assert {name: len(values) for name, values in times.items()} == {"a": 2, "b": 2, "c": 2}
    assert done == [1, 2]


def test_times_are_told_as_median_and_95th_percentile() -> None:
    assert summarise([float(value) for value in range(101)]) == (50.0, 95.0)


def test_imports_are_taken_out_of_the_step_that_they_fall_into() -> None:
    stderr = """import time: self [us] | cumulative | imported package
import time:    200000 |     200000 | site
citewise-mark started 10.0
import time:   1000000 |    1500000 |   chromadb
import time:    500000 |     500000 | rag.assistant
citewise-mark opened 13.0
citewise-mark asked 13.5
import time:    100000 |     100000 |   late
citewise-mark filtered 13.9
"""
    start = read_start(stderr, peak="1000")
    assert start.imports == pytest.approx(1.8)
    assert start.opening == pytest.approx(1.5)
    assert start.first_question == pytest.approx(0.5)
    assert start.first_filtered == pytest.approx(0.3)
    assert start.peak_mb == pytest.approx(1.024)


def test_recall_is_what_the_index_finds_of_the_exact_neighbours(corpus: Corpus, tmp_path: Path) -> None:
    vectors = np.load(corpus.folder / VECTORS)
    exact = exact_numpy(corpus, n=20)
    with raw_chroma(corpus, n=20, scratch=tmp_path) as chroma:
        assert recall_of(chroma, exact, corpus=corpus, queries=list(vectors[:5])) == (1.0, 20, 1.0)

    def worse(vector: Vectors) -> "np.ndarray[tuple[int], np.dtype[np.int32]]":
        return np.concatenate([exact(vector)[:5], exact(-vector)[:15]])

    assert recall_of(worse, exact, corpus=corpus, queries=list(vectors[:5])) == (0.5, 20, 0.25)


def test_stages_are_timed_where_the_retriever_calls_them(corpus: Corpus) -> None:
    staged = StagedSearch(corpus=corpus, embedder=FakeEmbedder(), k=3)
    staged("Abstract 7 begins.")
    staged.forget()
    staged("Abstract 8 begins.")
    times = {stage: values[0] for stage, values in staged.milliseconds.items()}
    assert set(times) == set(STAGES)
    assert all(len(values) == 1 and values[0] > 0 for values in staged.milliseconds.values())
    parts = times["embed"] + times["dense"] + times["keyword"] + times["fusion"]
    assert parts == pytest.approx(times["search"])
    assert times["search"] + times["evidence"] == pytest.approx(times["whole"])


def test_the_model_embeds_the_same_texts_alone(corpus: Corpus, tmp_path: Path) -> None:
    embedder = FakeEmbedder()
    rate = measure_ingest_rate(corpus, embedder=embedder, papers=5, scratch=tmp_path, on_progress=lambda *_: None)
    # Of each paper a chunk, a sentence and a title, and once the sentence that all have: by citewise and by the model.
    assert (rate.papers, rate.texts) == (5, 16)
    assert sorted(embedder.embedded[1:17]) == sorted(embedder.embedded[17:])
    assert rate.ratio == pytest.approx(rate.citewise / rate.model)


def test_queries_are_derived_from_papers_and_always_the_same(corpus: Corpus) -> None:
    queries = derive_queries(corpus, limit=6)
    assert queries == derive_queries(corpus, limit=6)
    assert len(set(queries)) == 6
    assert [query.split()[0] for query in queries] == ["Title", "Abstract"] * 3


def test_queries_are_read_from_text_and_json(tmp_path: Path) -> None:
    path = tmp_path / "queries.jsonl"
    path.write_text('plain words\n\n{"question": "Q?"}\n{"_id": "1", "text": "T"}\n{"turns": []}\n')
    assert read_query_file(path, limit=9) == ["plain words", "Q?", "T"]
    assert read_query_file(path, limit=1) == ["plain words"]


@pytest.mark.parametrize(("text", "told"), [("\n", "no query"), ('{"a": 1}', "no query"), ("{", ":1 is broken")])
def test_a_file_without_queries_is_refused(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "queries"
    path.write_text(text)
    with pytest.raises(InputError, match=told):
        read_query_file(path, limit=9)


@pytest.mark.slow
def test_the_command_measures_a_corpus(seed_home: Path) -> None:
    arguments = ["eval", "perf", "--home", str(seed_home), "--limit", "3", "--papers", "2", "--json"]
    done = CliRunner().invoke(app, arguments, catch_exceptions=False)
    report = json.loads(done.stdout)
    assert (report["papers"], report["queries"]) == (19, 3)
    assert set(report["stages"]) == set(STAGES)
    assert {item["stage"] for item in report["compared"]} == {"dense", "search"}
    assert report["recall"]["at_10"] == 1.0
    assert report["ingest"]["texts"] > 10
    assert 0 < report["cold_start"]["opening"] < 60
    assert 0 < report["cold_start"]["imports"] < 60
    assert report["disk_bytes"] > 100_000
    assert not list(seed_home.glob("perf-*"))
