"""The local writer with the real llama.cpp and the demonstration model; skipped where the extra is not installed."""

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rag.assistant import Assistant
from rag.errors import EndpointError
from rag.llm import Completion
from rag.local.files import DEMO_NAME, ModelFile, demo_model
from rag.local.server import LlamaServer, LocalModel, local_endpoint
from rag.settings import load_settings

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("xllamacpp") is None or demo_model() is None,
    reason="the extra local is not installed: uv sync --extra local",
)
QUESTION = "By how much does SITAlign beat the multi-objective decoding baseline on PKU-SafeRLHF?"
YES_OR_NO = ({"role": "user", "content": "Is the sky blue? Answer Yes or No."},)
ASK = ({"role": "user", "content": "Say the word ready."},)


@pytest.fixture
def server() -> Iterator[LlamaServer]:
    demo = demo_model()
    assert demo is not None
    running = LlamaServer(demo, context_tokens=512)
    yield running
    running.close()


def model_of(server: LlamaServer) -> LocalModel:
    endpoint = local_endpoint(server.model, max_output_tokens=8, deadline=60.0, first_token_timeout=60.0)
    return LocalModel(endpoint, server=server)


def status_of(url: str, key: str | None) -> int:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=10) as response:  # noqa: S310
            status: int = response.status
            return status
    except urllib.error.HTTPError as error:
        return error.code


def test_the_server_is_on_loopback_wants_its_key_and_streams(server: LlamaServer) -> None:
    items = list(model_of(server).stream(ASK))
    assert isinstance(items[-1], Completion)
    assert items[-1].usage.completion_tokens
    assert "".join(item for item in items if isinstance(item, str)).strip()
    assert server.url.startswith("http://127.0.0.1:")
    props = server.url.removesuffix("/v1") + "/props"
    assert [status_of(f"{server.url}/completions", None), status_of(props, None)] == [401, 401]
    assert status_of(f"{server.url}/models", server.key) == 200


def test_a_choice_comes_as_a_probability(server: LlamaServer) -> None:
    endpoint = local_endpoint(server.model, max_output_tokens=1, deadline=60.0, first_token_timeout=60.0)
    model = LocalModel(replace(endpoint, choices=("Yes", "No")), server=server)
    reply = "".join(item for item in model.stream(YES_OR_NO) if isinstance(item, str))
    assert 0.0 < float(reply) < 1.0


def test_an_engine_that_was_killed_is_started_again(server: LlamaServer) -> None:
    list(model_of(server).stream(ASK))
    first = server.url
    os.kill(engine_of(server), signal.SIGKILL)
    assert server.has_ended()
    assert isinstance(list(model_of(server).stream(ASK))[-1], Completion)
    assert server.url != first


def test_an_engine_that_dies_amid_an_answer_is_named(server: LlamaServer) -> None:
    endpoint = local_endpoint(server.model, max_output_tokens=400, deadline=60.0, first_token_timeout=60.0)
    stream = LocalModel(endpoint, server=server).stream(({"role": "user", "content": "Count to a hundred."},))
    next(item for item in stream if item)
    os.kill(engine_of(server), signal.SIGKILL)
    with pytest.raises(EndpointError, match=r"llama\.cpp ended") as caught:
        list(stream)
    assert "memory" in caught.value.fix


def engine_of(server: LlamaServer) -> int:
    assert server._run is not None
    return server._run.process.pid


def test_a_file_that_is_no_model_is_an_error_that_says_why(tmp_path: Path) -> None:
    path = tmp_path / "broken.gguf"
    path.write_bytes(b"GGUF" + bytes(100))
    broken = LlamaServer(ModelFile("broken", path), context_tokens=512)
    with pytest.raises(EndpointError, match=r"cannot load broken\.gguf") as caught:
        list(broken.loading())
    broken.close()
    assert "memory" in caught.value.fix


def test_a_model_that_does_not_load_in_time_is_given_up(server: LlamaServer) -> None:
    with pytest.raises(EndpointError, match="did not load in time"):
        list(server.loading(until=time.monotonic() - 1))


HELD = """
import sys, time
from rag.local.files import demo_model
from rag.local.server import LlamaServer
server = LlamaServer(demo_model(), context_tokens=512)
list(server.loading())
print(server._run.process.pid, flush=True)
time.sleep(600)
"""


def test_the_engine_ends_with_the_process_that_started_it_however_that_ends() -> None:
    with subprocess.Popen([sys.executable, "-c", HELD], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        engine = int(process.stdout.readline())
        process.kill()
    end = time.monotonic() + 10
    while is_running(engine) and time.monotonic() < end:
        time.sleep(0.05)
    assert not is_running(engine)


def is_running(pid: int) -> bool:
    """Whether the process is there and no zombie, which nobody may wait for here."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_question_is_answered_checked_and_called_weak(seed_home: Path) -> None:
    assistant = Assistant.from_settings(
        load_settings(home=seed_home, writer="local", k=1, max_output_tokens=48, context_tokens=2048)
    )
    answer = assistant.ask(QUESTION)
    assert (answer.writer, answer.model) == ("local", DEMO_NAME)
    assert answer.problem is None
    assert any("weak" in note for note in answer.notes)
    assert answer.sentences
    for sentence in answer.sentences:  # the model cites nothing: what the check cannot place is flagged
        assert sentence.citations or sentence.support == "unsupported" or "about the sources" in sentence.reason
    assert "weak" in assistant.about_writer


def test_the_command_prints_json_alone_and_leaves_nothing_behind(seed_home: Path) -> None:
    arguments = ["ask", "--json", "--writer", "local", "-k", "1", "--home", str(seed_home), QUESTION]
    done = subprocess.run(
        [sys.executable, "-c", "from rag.cli import main; main()", *arguments],
        env={**os.environ, "CITEWISE_MAX_OUTPUT_TOKENS": "16", "CITEWISE_CONTEXT_TOKENS": "2048"},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    answer: dict[str, Any] = json.loads(done.stdout)
    assert (answer["writer"], answer["model"]) == ("local", DEMO_NAME)
    assert done.stderr == ""
