"""Drafting and reviewing cases by the command line, with templates and with a model."""

import json
from pathlib import Path
from typing import Any

from evals.running.folder import list_runs
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
    refused = run("eval", "run", str(file), "--writer", "extractive", "--out", str(tmp_path), home=seed_home)
    assert (refused.returncode, f"any of the {len(before)} drafts" in refused.stderr) == (1, True)
    reviewed = run("eval", "new-cases", str(file), "--review", home=seed_home, stdin="x\na\nr\nn\nq\n")
    assert f"1 accepted, 1 rejected, {len(before) - 2} left" in reviewed.stdout
    after = drafts(file)
    assert [item["id"] for item in after] == [before[0]["id"], *(item["id"] for item in before[2:])]
    assert [item.get("reviewed", True) for item in after] == [True] + [False] * (len(before) - 2)
    assert run("eval", "lint", str(file), home=seed_home).returncode == 0
    asked = run("eval", "run", str(file), "--writer", "extractive", "--out", str(tmp_path), home=seed_home)
    assert f"Not asked: {len(before) - 2} drafts that nobody has accepted" in asked.stderr
    (folder,) = list_runs(tmp_path)
    assert [item.id for item in folder.items()] == [before[0]["id"]]


def test_a_suite_of_the_home_has_a_name_and_its_drafts_are_corrected_in_the_terminal(seed_home: Path) -> None:
    made = run("eval", "new-cases", "mine", "--writer", "extractive", "--papers", "1", home=seed_home)
    file = seed_home / "suites" / "mine.jsonl"
    try:
        assert made.returncode == 0, made.stderr
        assert run("eval", "new-cases", "seed", home=seed_home).returncode == 1
        first = drafts(file)[0]
        typed = ["e", "What is it, then?", "-", "exponential moving averages|averages; ?smooth", "", "r", "b", "q"]
        reviewed = run("eval", "new-cases", "mine", "--review", home=seed_home, stdin="\n".join(typed))
        assert "1 accepted, 0 rejected" in reviewed.stdout, reviewed.stderr
        after = drafts(file)[0]
        assert after["question"] == "What is it, then?"
        assert after["nuggets"][1] == {"fact": "smooth", "aliases": ["smooth"], "vital": False}
        assert (after.get("papers"), after.get("reviewed", True)) == (first.get("papers"), True)
        asked = run("eval", "run", "mine", "--writer", "extractive", home=seed_home)
        assert "1 of 1 answered" in asked.stderr
    finally:
        file.unlink(missing_ok=True)


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
