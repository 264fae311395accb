"""Drafting and reviewing cases by the command line, with templates and with a model."""

import json
from pathlib import Path
from typing import Any

from rag.assistant import Assistant
from tests.contract.scripted_server import scripted_server
from tests.contract.test_cli import run

DRAFT = {
    "question": "What summarises the past in the linear case?",
    "answer": "exponential moving averages",
    "quote": "The effectiveness of this approach",
}


def drafts(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_templates_draft_and_a_person_accepts(seed_home: Path, tmp_path: Path) -> None:
    file = tmp_path / "mine.jsonl"
    made = run("eval", "new-cases", str(file), "--writer", "extractive", "--papers", "3", home=seed_home)
    assert made.returncode == 0, made.stderr
    before = drafts(file)
    assert "3 papers" in made.stdout
    again = run("eval", "new-cases", str(file), home=seed_home)
    assert (again.returncode, "there already" in again.stderr) == (1, True)
    asked = run("eval", "run", str(file), "--writer", "extractive", "--out", str(tmp_path), home=seed_home)
    assert f"{len(before)} of its items are drafts" in asked.stderr
    reviewed = run("eval", "new-cases", str(file), "--review", home=seed_home, stdin="x\na\nd\nn\nq\n")
    assert "1 accepted, 1 dropped" in reviewed.stdout
    after = drafts(file)
    assert [item["id"] for item in after] == [before[0]["id"], *(item["id"] for item in before[2:])]
    assert [item.get("reviewed", True) for item in after] == [True] + [False] * (len(before) - 2)
    assert run("eval", "lint", str(file), home=seed_home).returncode == 0


def test_a_models_drafts_are_kept_where_the_abstract_holds_them(
    seed_home: Path, assistant: Assistant, tmp_path: Path
) -> None:
    first = assistant.corpus.paper(0)
    quote = first.abstract.split(". ")[0] + "."
    good = {"question": "What is it?", "answer": " ".join(quote.split()[:3]), "quote": quote}
    file = tmp_path / "mine.jsonl"
    with scripted_server() as server:
        server.script("m", json.dumps(good) + "\n" + json.dumps(DRAFT))
        to = {"CITEWISE_BASE_URL": server.base_url, "CITEWISE_MODEL": "m"}
        made = run("eval", "new-cases", str(file), "--papers", "1", home=seed_home, **to)
        assert made.returncode == 0, made.stderr
        assert first.abstract[:80] in server.requests[-1]["messages"][-1]["content"]
    (item,) = drafts(file)
    assert (item["question"], item["papers"], item["reviewed"]) == ("What is it?", [first.paper_id], False)
    assert "1 more were dropped" in made.stdout
