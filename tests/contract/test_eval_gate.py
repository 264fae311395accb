"""Gates end to end: a planted regression fails with the right metric named."""

from collections.abc import Iterator
from pathlib import Path

from tests.contract.scripted_server import ScriptedServer, Step, good_stream, scripted_server
from tests.contract.test_cli import objects, run
from tests.contract.test_eval_run import COLA, QUESTIONS, SIT, TRACES, compare, run_whole, single, suite


def test_a_retriever_of_one_paper_makes_the_gate_name_recall(seed_home: Path, tmp_path: Path) -> None:
    pairs = [(TRACES, COLA), (COLA, SIT), (SIT, TRACES), (COLA, TRACES)]
    gold = suite(tmp_path, *(compare(*pair) for pair in pairs), *map(single, QUESTIONS))
    out = tmp_path / "runs"
    good = run_whole(seed_home, gold, out)
    assert run("eval", "baseline", "set", good.name, "--out", str(out), home=seed_home).returncode == 0
    floors = tmp_path / "floors.toml"
    floors.write_text("")
    options = ("--floors", str(floors), "--out", str(out))
    assert run("eval", "gate", good.name, *options, home=seed_home).returncode == 0
    bad = run_whole(seed_home, gold, out, k=1)
    junit = tmp_path / "junit.xml"
    gate = run("eval", "gate", bad.name, "--junit", str(junit), *options, home=seed_home)
    assert gate.returncode == 3
    assert "regression: recall@5" in gate.stderr
    assert '<failure message="1.000 to' in junit.read_text()
    told = objects(run("eval", "compare", good.name, bad.name, "--json", "--out", str(out), home=seed_home))
    assert next(each for each in told if each.get("metric") == "recall@5")["value"] < -0.2


class CitesIfTold:
    """A model that cites only where its prompt asks for it, and elsewhere adds what keeps citewise from citing it."""

    REPLY = "Memory traces are exponential moving averages of observations"

    def __init__(self, server: ScriptedServer) -> None:
        self._server = server

    def __iter__(self) -> Iterator[Step]:
        system = self._server.requests[-1]["messages"][0]["content"]
        return iter(good_stream(f"{self.REPLY}{' [1]' if 'cite' in system.lower() else ', say Smith and Jones'}."))


def test_a_prompt_that_forgets_citations_makes_the_gate_name_them(seed_home: Path, tmp_path: Path) -> None:
    gold = suite(tmp_path, *(single(TRACES, id=f"q{n}", question=f"What are memory traces, {n}?") for n in range(3)))
    prompt = tmp_path / "prompts" / "answer" / "v1"
    prompt.mkdir(parents=True)
    (prompt / "system.md").write_text("Answer from the sources between $fence.")
    (prompt / "user.md").write_text("$fence\n$sources\n$fence\n$question")
    out = tmp_path / "runs"
    with scripted_server() as server:
        server.play("m", CitesIfTold(server))  # type: ignore[arg-type]
        fields = {"writer": "chat", "base_url": server.base_url, "model": "m"}
        good = run_whole(seed_home, gold, out, **fields)
        bad = run_whole(seed_home, gold, out, **fields, prompts=tmp_path / "prompts")
    assert {each["citation_f1"].value for each in good.scores().values()} == {1.0}
    floors = tmp_path / "floors.toml"
    floors.write_text("[all]\ncitation_coverage = 0.9\n")
    gate = run(
        "eval", "gate", bad.name, "--baseline", good.name, "--floors", str(floors), "--out", str(out), home=seed_home
    )
    assert gate.returncode == 3
    assert "regression: citation_f1: 1.000 to 0.000" in gate.stderr
    assert "floor: citation_coverage [all]" in gate.stderr
