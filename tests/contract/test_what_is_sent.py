"""What leaves for a model by the command: with stand-ins where it is private, and exactly what is shown before."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contract.scripted_server import ScriptedServer, scripted_server

KEY = "sk-live-0123456789abcdef"


@pytest.fixture(scope="module")
def server() -> Iterator[ScriptedServer]:
    with scripted_server() as server:
        yield server


CITEWISE = [sys.executable, "-c", "from rag.cli import main; main()"]


def citewise(*arguments: str, server: ScriptedServer, home: Path) -> subprocess.CompletedProcess[str]:
    environment = {
        "CITEWISE_HOME": str(home),
        "CITEWISE_BASE_URL": server.base_url,
        "CITEWISE_MODEL": "echo",
        "CITEWISE_API_KEY": KEY,
    }
    command = [*CITEWISE, *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, env=os.environ | environment, timeout=120, check=False
    )


PRIVATE_QUESTION = "How do Sarah Müller's memory traces in ProjectFalcon compare at 0.4217? Ask sarah@acme.example."


def test_a_private_question_leaves_with_stand_ins_and_is_restored(server: ScriptedServer, seed_home: Path) -> None:
    server.script(
        "echo", "Person-1 asks about Term-1 and Number-1, and Email-1 is not told anything [1].", delta_size=2
    )
    process = citewise("ask", "--json", "--private", PRIVATE_QUESTION, server=server, home=seed_home)
    assert process.returncode == 0, process.stderr
    sent = json.dumps(server.requests[-1], ensure_ascii=False)
    assert not re.search("Sarah|Müller|Falcon|0\\.4217|acme", sent)
    assert "How do Person-1's memory traces in Term-1 compare at Number-1? Ask Email-1." in sent
    answer = json.loads(process.stdout)
    assert answer["answer"].startswith(
        "Sarah Müller asks about ProjectFalcon and 0.4217, and sarah@acme.example is not told anything"
    )
    assert answer["question"] == PRIVATE_QUESTION
    assert answer["citations"][0]["title"].endswith("Memory Traces")


def test_the_request_that_is_shown_is_the_one_that_would_be_sent(server: ScriptedServer, seed_home: Path) -> None:
    server.script("echo", "Memory traces are moving averages of observations [1].")
    before = server.hits["echo"]
    shown = citewise("ask", "--show-request", "What are memory traces?", server=server, home=seed_home)
    assert (shown.returncode, server.hits["echo"]) == (0, before)
    assert KEY not in shown.stdout + shown.stderr
    citewise("ask", "What are memory traces?", server=server, home=seed_home)
    sent = json.dumps(server.requests[-1])
    fences = [re.findall(r"<<([0-9a-f]{32})>>", text)[0] for text in (shown.stdout, sent)]
    assert json.loads(shown.stdout.replace(fences[0], fences[1])) == json.loads(sent)


@pytest.mark.parametrize("private", ["--private", "--no-private"])
def test_the_language_of_the_answer_is_asked_for(server: ScriptedServer, seed_home: Path, private: str) -> None:
    arguments = ("ask", "--json", "--language", "de", private, "What are memory traces?")
    server.script("echo", "Memory traces are moving averages of observations [1].")
    process = citewise(*arguments, server=server, home=seed_home)
    assert server.requests[-1]["messages"][-1]["content"].endswith("What are memory traces?\n\nAnswer in German.")
    assert "although German was asked for" in " ".join(json.loads(process.stdout)["notes"])


def test_where_nothing_would_be_sent_this_is_said(server: ScriptedServer, seed_home: Path) -> None:
    shown = citewise("ask", "--show-request", "What is the boiling point of ethanol?", server=server, home=seed_home)
    assert (shown.returncode, shown.stdout) == (0, "")
    assert "Nothing would be sent" in shown.stderr
