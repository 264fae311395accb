"""Labels typed in a terminal and a judge at an endpoint, by the command line."""

import json
from pathlib import Path
from typing import Any

import pytest

from evals.running.folder import RunFolder, list_runs
from tests.contract.scripted_server import ScriptedServer, good_stream, scripted_server
from tests.contract.test_cli import objects, run
from tests.contract.test_eval_run import QUESTIONS, single, suite


class Judging:
    """A judge that finds every sentence supported but those with "not", and once talks instead."""

    def __init__(self, server: ScriptedServer) -> None:
        self._server, self._calls = server, 0

    def __iter__(self) -> Any:
        self._calls += 1
        asked = self._server.requests[-1]["messages"][-1]["content"].split("Sentences:")[1]
        said = "unsupported" if " not " in asked else "supported"
        return iter(good_stream("Let me see." if self._calls == 1 else f"1: {said}"))


@pytest.fixture
def asked(seed_home: Path, tmp_path: Path) -> RunFolder:
    """A run of three questions."""
    gold = suite(tmp_path, *map(single, QUESTIONS))
    made = run("eval", "run", str(gold), "--writer", "extractive", "--out", str(tmp_path / "runs"), home=seed_home)
    assert made.returncode == 0, made.stderr
    return list_runs(tmp_path / "runs")[0]


def test_sentences_are_labelled_in_a_terminal_once_each(asked: RunFolder, seed_home: Path) -> None:
    options = ("last", "--out", str(asked.path.parent), "--annotator", "ann")
    typed = run("eval", "label", *options, home=seed_home, stdin="x\ns\nn\np\nq\n")
    assert typed.returncode == 0, typed.stderr
    assert "2 of " in typed.stdout.splitlines()[-1]
    assert "supported," in typed.stdout
    labels = [json.loads(line) for line in (asked.path / "labels.jsonl").read_text().splitlines()]
    assert [each["label"] for each in labels] == ["supported", "partly"]
    assert len({each["id"] for each in labels}) == 2
    again = run("eval", "label", *options, "--limit", "1", home=seed_home, stdin="u\n")
    assert "3 of " in again.stdout.splitlines()[-1]
    ids = [json.loads(line)["id"] for line in (asked.path / "labels.jsonl").read_text().splitlines()]
    assert len(set(ids)) == 3


def test_a_judge_is_calibrated_and_judges_a_run_and_no_call_is_paid_twice(
    asked: RunFolder, seed_home: Path, tmp_path: Path
) -> None:
    out = ("--out", str(asked.path.parent))
    floors = tmp_path / "floors.toml"
    floors.write_text("[all]\njudged_support = 0.9\n")
    gate = run("eval", "gate", "last", "--floors", str(floors), *out, home=seed_home)
    assert (gate.returncode, "a floor needs a judge" in gate.stderr) == (2, True)
    labelled = run("eval", "label", "last", *out, home=seed_home, stdin="s\ns\ns\ns\n")
    assert labelled.returncode == 0, labelled.stderr
    labels = str(asked.path / "labels.jsonl")
    nobody = run("eval", "judge", "calibrate", labels, *out, home=seed_home)
    assert (nobody.returncode, "CITEWISE_JUDGE_MODEL" in nobody.stderr) == (2, True)
    with scripted_server() as server:
        server.play("judge", Judging(server))  # type: ignore[arg-type]
        to = {"CITEWISE_JUDGE_MODEL": "judge", "CITEWISE_JUDGE_BASE_URL": server.base_url}
        process = run("eval", "judge", "calibrate", labels, "--json", *out, home=seed_home, **to)
        assert process.returncode == 0, process.stderr
        (told,) = objects(process)
        assert told["judged"] == sum(map(sum, told["table"])) == told["table"][0][0] == 4
        assert told["caught"]["negated"][0] == told["caught"]["negated"][1] > 0
        assert "4 labels, 100 are needed" in told["doubts"]
        hits = server.hits["judge"]
        assert run("eval", "judge", "calibrate", labels, *out, home=seed_home, **to).returncode == 0
        assert server.hits["judge"] == hits
        judged = run("eval", "judge", "run", "last", *out, home=seed_home, **to)
        assert judged.returncode == 0, judged.stderr
        assert "support, by a judge" in judged.stdout
    assert {each["judged_support"].value for each in asked.scores().values()} <= {0.0, 0.5, 1.0}
    gate = run("eval", "gate", "last", "--floors", str(floors), *out, home=seed_home)
    assert gate.returncode == 2
    assert "4 labels, 100 are needed" in gate.stderr
