"""The command line as a process: outputs, exit codes, and what goes to which stream."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

CITEWISE = [sys.executable, "-c", "from rag.cli import main; main()"]


def run(*arguments: str, home: Path, stdin: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*CITEWISE, *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        env={**os.environ, "CITEWISE_HOME": str(home), **environment},
        timeout=120,
        check=False,
    )


def objects(process: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in process.stdout.splitlines()]


def test_ask_prints_the_answer_and_its_citations(seed_home: Path) -> None:
    process = run("ask", "What are memory traces?", home=seed_home)
    assert process.returncode == 0, process.stderr
    assert "exponential moving averages. [1]" in process.stdout
    assert "[1] Partially Observable Reinforcement Learning with Memory Traces" in process.stdout
    assert "https://openreview.net/forum?id=" in process.stdout


def test_a_question_beside_the_corpus_exits_with_3_and_lists_the_nearest(seed_home: Path) -> None:
    process = run("ask", "What is the boiling point of ethanol?", home=seed_home)
    assert process.returncode == 3
    assert "Not in the corpus" in process.stdout
    assert "not evidence" in process.stdout


def test_a_failed_endpoint_exits_with_1_and_says_what_to_do(seed_home: Path) -> None:
    process = run(
        "ask", "What are memory traces?", home=seed_home, CITEWISE_BASE_URL="http://127.0.0.1:9/v1", CITEWISE_MODEL="m"
    )
    assert process.returncode == 1
    assert "Cannot reach" in process.stdout
    assert "Traceback" not in process.stderr + process.stdout


def test_an_answer_is_exported_in_the_form_that_the_suffix_names(seed_home: Path, tmp_path: Path) -> None:
    page, entry = tmp_path / "answer.html", tmp_path / "answer.bib"
    for path in (page, entry):
        process = run("ask", "What are memory traces?", "--export", str(path), home=seed_home)
        assert process.returncode == 0, process.stderr
        assert str(path) in process.stderr
    assert '<li id="c1-1" value="1"><strong>Partially Observable' in page.read_text("utf-8")
    assert entry.read_text("utf-8").startswith("@inproceedings{")


def test_an_export_of_no_known_form_is_wrong_usage_before_anything_is_asked(seed_home: Path, tmp_path: Path) -> None:
    process = run("ask", "What are memory traces?", "--export", str(tmp_path / "answer.docx"), home=seed_home)
    assert process.returncode == 2
    assert ".md, .html" in process.stderr
    assert not process.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ["ask"],
        ["ask", "-"],
        ["ask", "x", "--writer", "poet"],
        ["ask", "x", "-k", "0"],
        ["ask", "x", "--year", "soon"],
        ["search", "x", "--author", " "],
        ["ingest"],
        ["nonsense"],
    ],
)
def test_wrong_usage_exits_with_2(seed_home: Path, arguments: list[str]) -> None:
    assert run(*arguments, home=seed_home).returncode == 2


def test_a_bad_setting_exits_with_2_and_names_it(seed_home: Path) -> None:
    process = run("ask", "x", home=seed_home, CITEWISE_K="many")
    assert process.returncode == 2
    assert "CITEWISE_K" in process.stderr


def test_ask_json_has_every_promised_field(seed_home: Path) -> None:
    process = run("ask", "--json", "What is SITAlign?", home=seed_home)
    (answer,) = objects(process)
    assert answer["outcome"] == "answered"
    assert {"question", "searched", "answer", "writer", "model", "prompt"} <= set(answer)
    assert set(answer["sentences"][0]) == {"text", "citations", "support", "reason", "label"}
    citation = answer["citations"][0]
    assert set(citation) == {"n", "paper_id", "title", "authors", "url", "evidence"}
    assert set(citation["evidence"][0]) == {"sentence", "start", "end"}
    assert set(answer["retrieved"][0]) == {"paper_id", "title", "score"}
    assert set(answer["usage"]) == {"prompt_tokens", "completion_tokens", "calls"}
    assert set(answer["timings"]) == {"retrieve_ms", "first_token_ms", "total_ms"}


def test_batch_answers_each_line_in_order_and_survives_bad_ones(seed_home: Path) -> None:
    lines = [
        "What are memory traces?",
        json.dumps(
            {"id": 7, "question": "What score does it get?", "history": [{"question": "What is CoLA?", "answer": "A"}]}
        ),
        '{"id": "x"}',
        "{broken",
        "",
        json.dumps({"id": "y", "question": "What is SITAlign?", "corpus": "missing"}),
        json.dumps({"id": "z", "question": "Who won Wimbledon in 2024?"}),
    ]
    process = run("ask", "--json", "-", home=seed_home, stdin="\n".join(lines))
    answers = objects(process)
    assert [answer["outcome"] for answer in answers] == ["answered", "answered", *["failed"] * 3, "not_in_corpus"]
    assert [answer.get("id") for answer in answers] == [None, "7", None, None, "y", "z"]
    assert "CoLA" in answers[1]["searched"]
    assert "question" in answers[2]["error"]["problem"]
    assert "missing" in answers[4]["error"]["problem"]
    assert process.returncode == 1


def test_search_json_has_the_scores_of_each_stage(seed_home: Path) -> None:
    found = objects(run("search", "--json", "-k", "3", "latent actions for reinforcement learning", home=seed_home))
    assert len(found) == 3
    assert "CoLA" in found[0]["abstract"]
    assert {"dense", "keyword"} <= set(found[0]["stages"])
    assert found[0]["score"] >= found[1]["score"] >= found[2]["score"]


def test_papers_by_an_author_are_only_theirs_and_it_is_said(seed_home: Path) -> None:
    (answer,) = objects(run("ask", "--json", "papers by Yisen Wang", home=seed_home))
    assert answer["outcome"] == "answered"
    assert [item["paper_id"] for item in answer["retrieved"]] == ["cN9GkuBo4w"]
    assert answer["notes"] == ["Searched only papers by Yisen Wang (say --no-filters to search all)."]
    assert answer["searched"] == "papers by Yisen Wang"
    (unread,) = objects(run("ask", "--json", "--no-filters", "papers by Yisen Wang", home=seed_home))
    assert len(unread["retrieved"]) == 19
    assert unread["notes"] == ["Looked at 19 of 19 papers in the corpus."], "no filter was read from the words"


def test_a_filter_that_leaves_no_paper_is_not_in_the_corpus(seed_home: Path) -> None:
    process = run("ask", "What are memory traces?", "--year", "2024", home=seed_home)
    assert process.returncode == 3, process.stderr
    assert "The corpus has no papers from 2024." in process.stdout
    assert run("ask", "What are memory traces?", "--year", "2024..", home=seed_home).returncode == 0


@pytest.mark.parametrize(
    ("options", "papers"),
    [
        (["--author", "wang"], {"cN9GkuBo4w", "cKnzZrIJBR", "cJCROTFMEM", "cLxLgpMd2v", "cEKrGCFXPA"}),
        (["--author", "Cui", "--author", "Jihoon Tack"], {"cN9GkuBo4w", "cBtsxtJqEK"}),
        (["--title", "memory", "--title", "traces"], {"c4zVRwxjDD"}),
        (["--id", "c4zVRwxjDD", "--id", "cBtsxtJqEK"], {"c4zVRwxjDD", "cBtsxtJqEK"}),
        (["--venue", "NeurIPS"], set()),
        (["--category", "cs.LG"], set()),
    ],
)
def test_search_finds_only_papers_that_pass(seed_home: Path, options: list[str], papers: set[str]) -> None:
    process = run("search", "--json", "learning", "-k", "19", *options, home=seed_home)
    assert process.returncode == 0, process.stderr
    assert {item["paper_id"] for item in objects(process)} == papers
    assert ("Searched only papers" if papers else "The corpus has no papers") in process.stderr


def test_lines_carry_their_own_filters(seed_home: Path) -> None:
    asked = [
        {"question": "What are memory traces?", "filters": {"author": "Eberhard", "year": 2025, "venue": ["ICML"]}},
        {"question": "What are memory traces?", "filters": {"author": ["Yisen Wang"]}},
        {"question": "papers by Yisen Wang", "filters": {}},
        {"question": "What are memory traces?"},
        {"question": "x", "filters": {"year": "soon"}},
        {"question": "x", "filters": {"auther": "y"}},
    ]
    process = run("ask", "--json", "-", "--id", "cBtsxtJqEK", home=seed_home, stdin="\n".join(map(json.dumps, asked)))
    answers = objects(process)
    found = [[item["paper_id"] for item in answer.get("retrieved", [])] for answer in answers]
    assert found[0] == ["c4zVRwxjDD"]
    assert found[1] == ["cN9GkuBo4w"]
    assert len(found[2]) == 19
    assert found[3] == ["cBtsxtJqEK"]
    assert "soon" in answers[4]["error"]["problem"]
    assert "auther" in answers[5]["error"]["problem"]


def test_own_abstracts_are_ingested_shown_asked_and_exported(tmp_path: Path) -> None:
    home, file = tmp_path / "home", tmp_path / "own.jsonl"
    records = [
        {
            "id": "a1",
            "title": "Frogs",
            "abstract": "We study how tree frogs climb. They use sticky toes.",
            "mood": "good",
        },
        {"id": "a2", "abstract": "Glaciers in Norway lost 12% of their ice. We measure it from space."},
        {"id": "a3", "title": "No text"},
    ]
    file.write_text("\n".join(map(json.dumps, records)) + "\nnot json\n")
    first = run("ingest", str(file), "--corpus", "own", home=home)
    assert first.returncode == 0, first.stderr
    assert "own: 2 papers (2 added" in first.stdout
    assert "own.jsonl:3 abstract (a3)" in first.stderr
    assert "own.jsonl:4" in first.stderr
    assert "0 added, 0 replaced, 2 unchanged" in run("ingest", str(file), "--corpus", "own", home=home).stdout
    answer = run("ask", "How do tree frogs climb?", "--corpus", "own", home=home)
    assert "sticky toes" in answer.stdout
    shown = run("corpus", "show", "a1", "--corpus", "own", "--json", home=home)
    assert json.loads(shown.stdout)["mood"] == "good"
    exported = run("corpus", "export", "--corpus", "own", home=home)
    assert [json.loads(line)["id"] for line in exported.stdout.splitlines()] == ["a1", "a2"]
    assert "@misc" in run("corpus", "export", "--corpus", "own", "--format", "bibtex", home=home).stdout
    assert "own: 2 papers" in run("corpus", "list", home=home).stdout


def test_columns_are_mapped_missing_fields_set_and_rejects_written_where_the_options_say(tmp_path: Path) -> None:
    home, file, rejects = tmp_path / "home", tmp_path / "own.csv", tmp_path / "bad.jsonl"
    file.write_text("Paper,Summary\nFrogs,We study how tree frogs climb.\nEmpty,\n")
    options = ["--map", "title=Paper,abstract=Summary", "--set", "venue=ICML 2025", "--rejects", str(rejects)]
    done = run("ingest", str(file), "--corpus", "own", *options, home=home)
    assert "own: 1 papers (1 added" in done.stdout, done.stderr
    assert json.loads(rejects.read_text())["line"] == 3
    (record,) = map(json.loads, run("corpus", "export", "--corpus", "own", home=home).stdout.splitlines())
    assert (record["title"], record["venue"]) == ("Frogs", "ICML 2025")
    wrong = run("ingest", str(file), "--corpus", "own", "--map", "colour=Paper", home=home)
    assert wrong.returncode == 2
    file.write_text("")
    nothing = run("ingest", str(file), "--corpus", "own", home=home)
    assert nothing.returncode == 2
    assert "nothing to index" in nothing.stderr


def test_an_unknown_paper_and_an_unknown_corpus_are_named(seed_home: Path) -> None:
    assert "no paper nope" in run("corpus", "show", "nope", home=seed_home).stderr
    process = run("ask", "x", "--corpus", "nope", home=seed_home)
    assert process.returncode == 1
    assert "nope" in process.stderr
    assert "icml2025" in process.stderr


def test_doctor_finds_everything_in_order(seed_home: Path) -> None:
    process = run("doctor", home=seed_home)
    assert process.returncode == 0, process.stdout
    assert "FAIL" not in process.stdout
    assert "19 papers" in process.stdout


def test_doctor_tells_of_an_endpoint_that_cannot_be_reached(seed_home: Path) -> None:
    process = run("doctor", home=seed_home, CITEWISE_BASE_URL="http://127.0.0.1:9/v1", CITEWISE_MODEL="m")
    assert process.returncode == 1
    assert "FAIL" in process.stdout


def loaded(packages: set[str], *arguments: str, home: Path) -> str:
    """Which of `packages` a command loads."""
    code = (
        f"import sys\nsys.argv = {['citewise', *arguments]!r}\nfrom rag.cli import main\n"
        f"try:\n    main()\nexcept SystemExit:\n    print(sorted({packages!r} & set(sys.modules)), file=sys.stderr)"
    )
    environment = {**os.environ, "CITEWISE_HOME": str(home)}
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    return process.stderr.splitlines()[-1]


def test_help_loads_no_heavy_package(tmp_path: Path) -> None:
    heavy = {"chromadb", "llama_index", "gradio", "openai", "onnxruntime", "numpy", "bm25s", "pydantic_settings"}
    assert loaded(heavy, "--help", home=tmp_path) == "[]"


def test_ask_loads_no_package_that_only_others_need(seed_home: Path) -> None:
    assert loaded({"llama_index", "gradio", "openai"}, "ask", "What is CoLA?", home=seed_home) == "[]"
