"""Runs end to end: by the command line, killed at random, and against a faulty endpoint."""

import json
import multiprocessing
import random
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evals.cases.suites import load_suite
from evals.running.folder import SCORES, RunFolder, list_runs
from evals.running.log import read_log
from evals.running.runner import ask_missing
from evals.running.session import known_of, opened_run, score_run
from rag.settings import load_settings
from tests.contract.scripted_server import (
    FOREVER,
    Step,
    good_stream,
    http,
    scripted_server,
    stream,
)
from tests.contract.test_cli import objects, run

TRACES, COLA, SIT = "c4zVRwxjDD", "cEKrGCFXPA", "cEhLObwvvu"
FACT = {"fact": "averages", "aliases": ["exponential moving averages"]}
QUESTIONS = {
    TRACES: "What are memory traces?",
    COLA: "What is CoLA?",
    SIT: "What is SITAlign?",
}


def single(paper: str, **fields: Any) -> dict[str, Any]:
    return {"id": f"s-{paper}", "type": "single", "question": QUESTIONS[paper], "papers": [paper], **fields}


def compare(one: str, other: str) -> dict[str, Any]:
    question = f"How do {' and '.join(QUESTIONS[each].split()[-1].rstrip('?') for each in (one, other))} differ?"
    return {"id": f"x-{one}-{other}", "type": "cross", "kind": "compare", "question": question, "papers": [one, other]}


FAR = {"id": "u", "type": "unanswerable", "kind": "far", "question": "Who won Wimbledon in 2024?"}
TALK = {
    "id": "f",
    "type": "followup",
    "turns": [
        {"user": "What is CoLA?", "answer": "Latent actions.", "papers": [COLA]},
        {"user": "What score does it get?", "standalone": "What score does CoLA get?", "papers": [COLA]},
    ],
}


def suite(folder: Path, *items: dict[str, Any]) -> Path:
    path = folder / "suite.jsonl"
    path.write_text("\n".join(map(json.dumps, items)))
    return path


def test_a_run_is_asked_scored_listed_and_reported(seed_home: Path, tmp_path: Path) -> None:
    gold = suite(tmp_path, single(TRACES, nuggets=[FACT], variants={"typo": "What are memroy traces?"}), FAR, TALK)
    out = str(tmp_path / "runs")
    process = run("eval", "run", str(gold), "--writer", "extractive", "--json", "--out", out, home=seed_home)
    assert process.returncode == 0, process.stderr
    figures = {(each["metric"], each["group"]): each for each in objects(process) if "group" in each}
    assert figures["nugget_recall", "single"]["value"] == 1
    assert figures["refusal_recall_far", "all"]["value"] == 1
    assert figures["accuracy", "all"]["n"] == 4
    assert figures["recall@5", "variant typo"]["n"] == 1
    assert {each["variant"] for each in objects(process) if "variant" in each} == {"typo", "follow-up"}
    (listed,) = objects(run("eval", "list", "--json", "--out", out, home=seed_home))
    assert (listed["answered"], listed["state"], listed["identity"]["corpus"]) == (6, "complete", "icml2025")
    page = tmp_path / "report.html"
    assert run("eval", "report", "last", "--html", str(page), "--out", out, home=seed_home).returncode == 0
    assert "What are memory traces?" in page.read_text()
    assert "| recall@5 |" in run("eval", "report", "last", "--out", out, home=seed_home).stdout


def test_scoring_again_gives_the_same_bytes_and_needs_the_same_papers(seed_home: Path, tmp_path: Path) -> None:
    out = tmp_path / "runs"
    made = run_whole(seed_home, suite(tmp_path, single(TRACES), FAR), out)
    before = (made.path / SCORES).read_bytes()
    (made.path / SCORES).unlink()
    assert run("eval", "score", "last", "--out", str(out), home=seed_home).returncode == 0
    assert (made.path / SCORES).read_bytes() == before
    about = made.about()
    about["identity"]["papers"] = "0" * 64
    (made.path / "run.json").write_text(json.dumps(about))
    process = run("eval", "score", "last", "--out", str(out), home=seed_home)
    assert process.returncode == 1
    assert "other papers" in process.stderr


def test_wrong_usage_of_a_gate_is_1_and_an_incomplete_run_2(seed_home: Path, tmp_path: Path) -> None:
    out = str(tmp_path / "runs")
    for arguments in (["gate"], ["gate", "last", "--nonsense"], ["gate", "nothing"]):
        assert run("eval", *arguments, "--out", out, home=seed_home).returncode == 1
    assert run("eval", "run", "--out", out, home=seed_home).returncode == 2
    made = run_whole(seed_home, suite(tmp_path, single(TRACES), FAR), tmp_path / "runs")
    (made.path / "samples.jsonl").write_bytes((made.path / "samples.jsonl").read_bytes().split(b"\n")[0] + b"\n")
    assert run("eval", "gate", "last", "--out", out, home=seed_home).returncode == 2


def test_lint_names_file_line_and_field_and_the_schema_is_printed(seed_home: Path, tmp_path: Path) -> None:
    gold = suite(tmp_path, single(TRACES), single(COLA, nuggets=[{"fact": "x"}]))
    process = run("eval", "lint", str(gold), home=seed_home)
    assert process.returncode == 1
    assert "suite.jsonl:2 nuggets.0: " in process.stdout
    assert json.loads(run("eval", "schema", home=seed_home).stdout)["title"]


def test_a_budget_needs_a_price(seed_home: Path, tmp_path: Path) -> None:
    gold = suite(tmp_path, single(TRACES))
    local = {"CITEWISE_BASE_URL": "http://127.0.0.1:9/v1", "CITEWISE_MODEL": "local"}
    process = run("eval", "run", str(gold), "--budget", "1", "--out", str(tmp_path), home=seed_home, **local)
    assert process.returncode == 2
    assert "no price" in process.stderr


def run_whole(home: Path, gold: Path, out: Path, *, jobs: int = 1, **fields: Any) -> RunFolder:
    """Asks and scores in this process."""
    settings = load_settings(**{"home": home, "writer": "extractive", **fields})
    with opened_run(load_suite(str(gold)), settings=settings, runs=out) as opened:
        ask_missing(opened.run, assistant=opened.assistant, jobs=jobs)
        known = known_of(opened.assistant.corpus, settings=settings, identity=opened.run.identity())
        score_run(opened.run, known)
        return opened.run


def _answered(runs: Path) -> int:
    return sum(len(each.done()) for each in list_runs(runs))


@pytest.mark.slow
def test_a_run_killed_at_random_10_times_resumes_to_the_same_scores(seed_home: Path, tmp_path: Path) -> None:
    items = [
        single(paper, id=f"{paper}-{n}", question=f"{QUESTIONS[paper][:-1]}{' in short' * (n % 3)}, part {n}?")
        for n in range(12)
        for paper in QUESTIONS
    ]
    gold = suite(tmp_path, *items, FAR, TALK, compare(TRACES, COLA))
    whole = run_whole(seed_home, gold, tmp_path / "whole")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["evals.running.session", "chromadb", "bm25s", "rag.embedding"])
    out, rng, answered = tmp_path / "runs", random.Random(7), []
    for target in sorted(rng.sample(range(39), 10)):
        process = context.Process(target=run_whole, args=(seed_home, gold, out), kwargs={"jobs": 2})
        process.start()
        while process.is_alive() and _answered(out) < target:
            time.sleep(0.005)
        time.sleep(rng.uniform(0, 0.03))
        process.kill()
        process.join()
        answered.append(_answered(out))
    resumed = run_whole(seed_home, gold, out)
    assert len(list_runs(out)) == 1
    assert answered == sorted(answered)
    assert len(set(answered)) >= 5  # most kills fell amid the questions
    keys = [(record["id"], record["repeat"]) for record in read_log(resumed.path / "samples.jsonl")]
    assert sorted(keys) == sorted(whole.samples())
    assert (resumed.path / SCORES).read_bytes() == (whole.path / SCORES).read_bytes()


def faulty(n: int) -> Iterator[tuple[Step, ...]]:
    """Responses of which a third is 429, stalls, or breaks its JSON."""
    bad = [
        http(429, {"error": {"message": "slow down"}}, Retry_After="0"),
        stream("Memory ", FOREVER),
        http(200, b'{"choices": [{"mess'),
    ]
    for place in range(n):
        yield bad[place // 3 % 3] if place % 3 == 2 else good_stream("Memory traces are moving averages [1].")


def test_a_faulty_endpoint_loses_nothing_and_its_counts_add_up(seed_home: Path, tmp_path: Path) -> None:
    items = [single(TRACES, id=f"q{n}", question=f"What are memory traces, in part {n}?") for n in range(12)]
    gold = suite(tmp_path, *items, FAR)
    with scripted_server() as server:
        server.play("m", *faulty(200))
        fields = {
            "writer": "chat",
            "base_url": server.base_url,
            "model": "m",
            "first_token_timeout": 0.7,
            "deadline": 3.0,
        }
        made = run_whole(seed_home, gold, tmp_path / "runs", jobs=4, **fields)
        samples = list(made.samples().values())
        outcomes = Counter(sample.answer.outcome for sample in samples)
        assert len(samples) == 13 == sum(outcomes.values())
        assert outcomes["failed"] >= 2
        assert outcomes["answered"] >= 6
        assert outcomes["not_in_corpus"] == 1
        asked = [sample for sample in samples if sample.answer.outcome != "not_in_corpus"]
        assert all(sample.calls.sent == 1 and sample.calls.cached == 0 for sample in asked)
        assert sum(len(sample.calls.faults) for sample in samples) == outcomes["failed"]
        assert len(server.requests) >= 12
        scores = made.scores()
        failures = [key for key, each in scores.items() if each["failures"].value == 1]
        assert len(failures) == outcomes["failed"]
        assert all(scores[key]["accuracy"].value == 0 for key in failures)
        # The same again: complete replies come from the cache, only what failed is asked once more.
        hits = server.hits["m"]
        server.script("m", "Memory traces are moving averages [1].")
        again = run_whole(seed_home, gold, tmp_path / "runs", jobs=4, **fields)
        assert again.name != made.name
        assert server.hits["m"] - hits == outcomes["failed"]
        assert sum(s.calls.cached for s in again.samples().values()) == outcomes["answered"]
        assert hits >= len(asked)
    gate = run("eval", "gate", made.name, "--out", str(tmp_path / "runs"), home=seed_home)
    assert gate.returncode == 2
    assert "answers failed" in gate.stderr


def test_a_run_goes_on_only_as_it_began(seed_home: Path, tmp_path: Path) -> None:
    out = tmp_path / "runs"
    made = run_whole(seed_home, suite(tmp_path, single(TRACES), FAR), out)
    samples = made.path / "samples.jsonl"
    samples.write_bytes(samples.read_bytes()[:-200])  # torn amid the last line
    process = run("eval", "run", "--resume", made.name, "--json", "--out", str(out), home=seed_home)
    assert process.returncode == 0, process.stderr
    assert len(made.done()) == 2
    about = made.about()
    about["identity"]["code"] = "0" * 64
    (made.path / "run.json").write_text(json.dumps(about))
    process = run("eval", "run", "--resume", made.name, "--out", str(out), home=seed_home)
    assert process.returncode == 1
    assert "code changed" in process.stderr


@pytest.mark.data
def test_planted_abstracts_are_asked_about_in_a_corpus_of_their_own(
    seed_home: Path, tmp_path: Path, shared_data: Path
) -> None:
    from rag.embedding import MiniLMEmbedder
    from rag.ingest import ensure_corpus

    lines = (shared_data / "injections" / "injections_dev.jsonl").read_text().splitlines()
    gold = suite(tmp_path, *map(json.loads, lines[:3]), single(TRACES))
    home = tmp_path / "home"
    ensure_corpus(home, "icml2025", embedder=MiniLMEmbedder()).close()
    made = run_whole(home, gold, tmp_path / "runs")
    assert made.identity().corpus.startswith("icml2025-planted-")
    attacks = [each["attack_success"].value for each in made.scores().values() if "attack_success" in each]
    assert attacks == [0, 0, 0]  # the extractive writer quotes, and says whom
