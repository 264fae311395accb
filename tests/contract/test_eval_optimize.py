"""Optimising a prompt that forgets citations, by the command line and a model that knows what is missing."""

import json
from collections.abc import Iterator
from pathlib import Path

from tests.contract.scripted_server import ScriptedServer, Step, good_stream, scripted_server
from tests.contract.test_cli import run
from tests.contract.test_eval_gate import CitesIfTold
from tests.contract.test_eval_run import FACT, suite

FORGETS = "Answer from the sources between $fence."


class WritesAndProposes(CitesIfTold):
    """Cites where its prompt asks for it, and proposes to ask for it, once it has proposed something unusable."""

    def __init__(self, server: ScriptedServer) -> None:
        super().__init__(server)
        self._proposals = iter(("Ask for citations!", f"<prompt>\n{FORGETS}\nCite each source as [1].\n</prompt>"))

    def __iter__(self) -> Iterator[Step]:
        system = self._server.requests[-1]["messages"][0]["content"]
        return iter(good_stream(next(self._proposals))) if "You improve" in system else super().__iter__()


def test_a_prompt_that_forgets_citations_is_mended(seed_home: Path, tmp_path: Path) -> None:
    items = [
        {"id": f"q{n}", "type": "single", "question": f"What are memory traces, {n}?", "nuggets": [FACT]}
        for n in range(12)
    ]
    gold, own = suite(tmp_path, *items), tmp_path / "prompts"
    (own / "answer" / "v1").mkdir(parents=True)
    (own / "answer" / "v1" / "system.md").write_text(FORGETS)
    (own / "answer" / "v1" / "user.md").write_text("$fence\n$sources\n$fence\n$question")
    command = ("eval", "optimize", "answer", "--suite", str(gold), "--rounds", "1", "--out", str(tmp_path / "runs"))
    nobody = run(*command, "--keep", str(own), home=seed_home, CITEWISE_OLLAMA="")
    assert nobody.returncode == 2
    assert "by a model, and none is configured" in nobody.stderr
    with scripted_server() as server:
        unsent = run(*("eval", "optimize", "brief", *command[3:]), home=seed_home, CITEWISE_BASE_URL=server.base_url)
        assert unsent.returncode == 2
        assert "Name one of answer, rows, standalone" in unsent.stderr
        server.play("m", *[WritesAndProposes(server)])  # type: ignore[list-item]
        to = {"CITEWISE_BASE_URL": server.base_url, "CITEWISE_MODEL": "m", "CITEWISE_PROMPTS": str(own)}
        made = run(*command, home=seed_home, **to)
        assert made.returncode == 0, made.stderr
        proposal = [each for each in server.requests if "You improve" in each["messages"][0]["content"]][-1]
        assert "citation_f1: recall 0.00" in json.dumps(proposal)
    assert "round 1: answer/v1@" in made.stdout
    assert "Kept as answer/v2" in made.stdout
    assert "Cases that changed" in (own / "answer" / "v2" / "comparison.html").read_text()
    row = next(line for line in made.stdout.splitlines() if "citation F1" in line)
    assert [cell.strip()[:5] for cell in row.split("│")[2:5]] == ["3", "0.000", "1.000"]
    assert "Cite each source as [1]." in (own / "answer" / "v2" / "system.md").read_text()
    assert (own / "answer" / "v1" / "system.md").read_text() == FORGETS
