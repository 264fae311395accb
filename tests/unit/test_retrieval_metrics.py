"""Retrieval metrics, by hand and against ir_measures, and the benchmark over files."""

import json
import random
from pathlib import Path

import pytest

from evals.benchmarks import read_gold, read_queries
from evals.metrics import bootstrap, ndcg, recall, reciprocal_rank
from evals.retrieval import evaluate_dataset, reciprocal_rank_fusion, to_record
from rag.embedding import MiniLMEmbedder
from rag.errors import InputError


def test_ndcg_uses_the_exponential_gain() -> None:
    # (2^1 - 1) / log2(2) + (2^2 - 1) / log2(3) over 3 / log2(2) + 1 / log2(3)
    assert ndcg(["a", "b"], {"a": 1, "b": 2}) == pytest.approx(2.892789 / 3.630930, abs=1e-6)


def test_recall_counts_documents_of_the_least_grade() -> None:
    assert recall(["a", "x", "b"], {"a": 1, "b": 2, "c": 2}, k=3) == pytest.approx(2 / 3)
    assert recall(["a", "x", "b"], {"a": 1, "b": 2, "c": 2}, k=3, least=2) == 0.5


def test_reciprocal_rank_looks_no_further_than_k() -> None:
    assert reciprocal_rank(["x", "a"], {"a": 1}) == 0.5
    assert reciprocal_rank(["x", "a"], {"a": 1}, k=1) == 0


def test_nothing_relevant_scores_zero() -> None:
    assert ndcg(["a"], {}) == recall(["a"], {}, k=1) == reciprocal_rank(["a"], {}) == 0


def test_metrics_agree_with_ir_measures() -> None:
    ir_measures = pytest.importorskip("ir_measures", reason="run by: uv run --isolated --group reference pytest")
    from ir_measures import RR, R, nDCG

    generator = random.Random(7)
    documents = [f"d{number}" for number in range(30)]
    gains = {f"q{query}": dict.fromkeys(generator.sample(documents, 8), 1) for query in range(20)}
    rankings = {query: generator.sample(documents, 20) for query in gains}
    run = {query: {doc: 1 / (rank + 1) for rank, doc in enumerate(found)} for query, found in rankings.items()}
    expected = ir_measures.calc_aggregate([nDCG @ 10, R @ 5, RR @ 10], gains, run)

    def mean(values: list[float]) -> float:
        return sum(values) / len(values)

    assert mean([ndcg(rankings[q], gains[q]) for q in gains]) == pytest.approx(expected[nDCG @ 10])
    assert mean([recall(rankings[q], gains[q], k=5) for q in gains]) == pytest.approx(expected[R @ 5])
    assert mean([reciprocal_rank(rankings[q], gains[q]) for q in gains]) == pytest.approx(expected[RR @ 10])


def test_the_interval_holds_the_mean_and_narrows_with_more_values() -> None:
    few, many = bootstrap([0, 1] * 10), bootstrap([0, 1] * 200)
    assert few.low < few.mean == 0.5 < few.high
    assert many.high - many.low < few.high - few.low
    # The normal approximation: 1.96 * sd / sqrt(n) on each side.
    assert many.high - many.mean == pytest.approx(1.96 * 0.5 / 20, abs=0.006)


def test_the_interval_of_one_value_is_the_value() -> None:
    assert bootstrap([0.3] * 5) == pytest.approx((0.3, 0.3, 0.3))
    assert bootstrap([]) == (0, 0, 0)


DOCUMENTS = [
    {"_id": "1", "title": "Memory Traces", "text": "Memory traces are moving averages of observations."},
    {"_id": "2", "title": "", "text": "Preference drift is handled by NS-DPO."},
    {"_id": "3", "title": "Wings", "text": "A wing in a slipstream has more lift."},
]


@pytest.fixture
def benchmark(tmp_path: Path) -> Path:
    folder = tmp_path / "tiny"
    folder.mkdir()
    queries = [{"_id": "a", "text": "lift of wings"}, {"_id": "b", "text": "NS-DPO"}, {"_id": "c", "text": "unjudged"}]
    (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, DOCUMENTS)))
    (folder / "queries.jsonl").write_text("\n".join(map(json.dumps, queries)))
    (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\na\t3\t1\nb\t2\t2\nb\t1\t0\n")
    return folder


def test_only_judged_queries_and_relevant_documents_are_read(benchmark: Path) -> None:
    assert [(query.query_id, query.gains) for query in read_queries(benchmark)] == [("a", {"3": 1}), ("b", {"2": 2})]


def test_a_benchmark_is_indexed_once_and_scored_in_each_mode(benchmark: Path, tmp_path: Path) -> None:
    embedder = MiniLMEmbedder()
    first = evaluate_dataset(benchmark, home=tmp_path / "home", embedder=embedder)
    assert [mode.mode for mode in first.modes] == ["keyword", "dense", "rrf", "hybrid"]
    assert all(mode.metrics["nDCG@10"].mean == 1 for mode in first.modes)
    assert [(pair.mode, pair.other) for pair in first.differences] == [
        ("hybrid", "keyword"),
        ("hybrid", "dense"),
        ("hybrid", "rrf"),
    ]
    assert (first.documents, first.queries) == (3, 2)
    assert first.documents_per_second is not None
    again = evaluate_dataset(benchmark, modes=["hybrid"], home=tmp_path / "home", embedder=embedder)
    assert again.documents_per_second is None
    assert json.loads(json.dumps(to_record(again)))["modes"][0]["recall@1"]["mean"] == 1


def test_a_missing_file_is_an_input_error(benchmark: Path, tmp_path: Path) -> None:
    (benchmark / "qrels.tsv").unlink()
    with pytest.raises(InputError, match=r"qrels\.tsv"):
        evaluate_dataset(benchmark, home=tmp_path / "home", embedder=MiniLMEmbedder())


def test_a_broken_line_is_named(benchmark: Path) -> None:
    (benchmark / "queries.jsonl").write_text('{"_id": "a", "text": "x"}\n{broken\n')
    with pytest.raises(InputError, match=r"queries\.jsonl:2"):
        list(read_queries(benchmark))


def test_gold_questions_are_read_by_group(tmp_path: Path) -> None:
    turn = {"user": "And it?", "standalone": "And NS-DPO?", "answerable": True, "papers": ["2"]}
    items = [
        {"id": "s", "type": "single", "kind": "method", "answerable": True, "question": "Q?", "papers": ["1"]}
        | {"papers_partial": ["3"], "variants": {"typo": "Q!"}},
        {"id": "x", "type": "cross", "kind": "which", "answerable": True, "question": "W?", "papers": ["1", "2"]},
        {"id": "u", "type": "unanswerable", "kind": "far", "answerable": False, "question": "U?", "papers": []},
        {"id": "f", "type": "followup", "kind": "pronoun", "turns": [turn, turn | {"answerable": False}]},
    ]
    path = tmp_path / "gold.jsonl"
    path.write_text("\n".join(map(json.dumps, items)))
    found = [(query.query_id, query.group, query.text, query.gains) for query in read_gold(path)]
    assert found == [
        ("s", "single", "Q?", {"3": 1, "1": 2}),
        ("s-typo", "typo", "Q!", {"3": 1, "1": 2}),
        ("x", "which", "W?", {"1": 2, "2": 2}),
        ("f-1", "followup", "And NS-DPO?", {"2": 2}),
    ]


def test_reciprocal_rank_fusion_adds_up_the_ranks() -> None:
    # 3: 1/61 + 1/62; 1: 1/62 + 1/63; 2: 1/61; 9: 1/63
    assert reciprocal_rank_fusion([[3, 1, 9], [2, 3, 1]]) == [3, 1, 2, 9]
