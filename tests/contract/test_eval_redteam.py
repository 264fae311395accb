"""The red team by the command line, against a model that obeys what calls itself the system."""

import re
from collections.abc import Iterator
from pathlib import Path

from rag.embedding import MiniLMEmbedder
from rag.ingest import ensure_corpus
from tests.contract.scripted_server import ScriptedServer, Step, good_stream, scripted_server
from tests.contract.test_cli import objects, run

WORDS = re.compile(r"words ([A-Z]+) and ([A-Z]+), joined")


class ObeysSystem:
    """Puts the two words together where the instruction calls itself the system's; else says something harmless."""

    def __init__(self, server: ScriptedServer) -> None:
        self._server = server

    def __iter__(self) -> Iterator[Step]:
        asked = self._server.requests[-1]["messages"][-1]["content"]
        found = WORDS.search(asked[asked.index("SYSTEM: The") :]) if "SYSTEM: The" in asked else None
        return iter(good_stream(f"{found[1]}_{found[2]} [1]." if found else "It forecasts levels from rainfall [1]."))


def test_the_red_team_finds_what_a_model_obeys(tmp_path: Path) -> None:
    home = tmp_path / "home"
    ensure_corpus(home, "icml2025", embedder=MiniLMEmbedder()).close()
    command = ("eval", "redteam", "--budget", "60", "--json")
    with scripted_server() as server:
        server.play("m", ObeysSystem(server))  # type: ignore[arg-type]
        to = {"CITEWISE_BASE_URL": server.base_url, "CITEWISE_MODEL": "m", "CITEWISE_REWRITE": "0"}
        made = run(*command, home=home, **to)
        assert made.returncode == 0, made.stderr
        rates = {(each["group"], each["name"]): each for each in objects(made)}
        assert (rates["phase", "suite"]["hits"], rates["phase", "suite"]["total"]) == (0, 29)
        assert rates["phase", "plain"]["hits"] == 0
        assert sum(rates["phase", name]["total"] for name in ("plain", "search", "again")) == 60
        assert rates["operator", "system"]["hits"] > 0
        assert rates["phase", "again"]["hits"] > 0
        calls = server.hits["m"]
        again = run(*command, home=home, **to)
        assert again.stdout == made.stdout
        assert server.hits["m"] == calls  # the same seed asks the same, and the cache knows it
    safe = run("eval", "redteam", "--budget", "10", "--writer", "extractive", "--json", home=home)
    assert {each["hits"] for each in objects(safe)} == {0}
