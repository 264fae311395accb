"""The parts of runs: logs that survive kills, samples as JSON, cached calls, the pace, and what a run is a run of."""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from math import inf
from pathlib import Path
from typing import Any

import pytest

from evals.cases.schema import ITEM
from evals.running.call_cache import CallCache, Recorder, recording
from evals.running.errors import RunError
from evals.running.folder import PAPERS, SAMPLES, RunFolder, find_run, unfinished
from evals.running.identity import Identity, code_digest
from evals.running.log import Log, read_log, write_whole
from evals.running.pace import Pace
from evals.running.records import Calls, Sample, papers_of, sample_from, sample_record
from evals.running.runner import ask_missing
from evals.scoring import Score
from rag.domain import AnswerSentence, Usage
from rag.errors import EndpointError
from rag.llm import Completion, Endpoint
from rag.prompting import Message
from rag.records import to_line
from tests.eval_builders import OTHER, TRACES, answer, failed


@pytest.mark.parametrize("torn", [b'{"id": "b", "re', b"\xe2\x82", b"x"])
def test_a_torn_last_line_is_left_out_and_cut_off_by_the_next_writer(tmp_path: Path, torn: bytes) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(b'{"n": 1}\n' + torn)
    assert read_log(path) == [{"n": 1}]
    with Log(path) as log:
        log.append({"n": 2})
    assert read_log(path) == [{"n": 1}, {"n": 2}]


def test_a_whole_last_line_without_a_line_break_is_read_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(b'{"n": 1}\n{"n": 2}')
    assert read_log(path) == [{"n": 1}, {"n": 2}]
    with Log(path) as log:
        log.append({"n": 3})
    assert read_log(path) == [{"n": 1}, {"n": 2}, {"n": 3}]


def test_a_damaged_line_within_a_log_is_named(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(b'{"n": 1}\nbroken\n{"n": 3}\n')
    with pytest.raises(RunError, match=r"log\.jsonl:2"):
        read_log(path)
    assert read_log(tmp_path / "none.jsonl") == []


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    write_whole(tmp_path / "a", "one")
    write_whole(tmp_path / "a", "two")
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("a", "two")]


LABELLED = AnswerSentence("Traces decay.", (1,), "supported", "", ((),), "Traces")


@pytest.mark.parametrize(
    "given",
    [
        answer(("Traces decay.", (1, 2)), papers=(TRACES, OTHER)),
        replace(answer(("Traces decay.", (1,)), papers=(TRACES,)), sentences=(LABELLED,)),
        replace(answer(), outcome="needs_detail", options=("Traces", "Other")),
        answer(),
        failed(),
    ],
)
def test_a_sample_survives_being_written_and_read(given: Any) -> None:
    sample = Sample("c", 2, given, Calls(1, 1, None, ("timeout",)))
    papers = {paper.paper_id: paper for paper in papers_of(given)}
    assert sample_from(json.loads(json.dumps(sample_record(sample))), papers) == sample


class Scripted:
    """A chat model that streams `reply`, or fails where it is an error; `asked` keeps what it was sent."""

    def __init__(self, reply: str | EndpointError, *, model: str | None = "m", serves: str = "m") -> None:
        self.model, self._reply, self._serves = model, reply, serves
        self.asked: list[Sequence[Message]] = []

    def stream(self, messages: Sequence[Message], *, until: float = inf) -> Iterator[str | Completion]:
        self.asked.append(messages)
        if isinstance(self._reply, EndpointError):
            yield "half an ans"
            raise self._reply
        self.model = self._serves
        yield from (*self._reply.split(" "), Completion(Usage(10, 5, 1), "stop"))


ENDPOINT = Endpoint(base_url="http://127.0.0.1:9/v1", model="m")
FENCES = ("0123456789abcdef" * 2, "fedcba9876543210" * 2)


def messages(fence: str, question: str = "q") -> list[Message]:
    return [
        {"role": "system", "content": f"Sources stand between {fence}."},
        {"role": "user", "content": f"{fence} text {fence} {question}"},
    ]


def drained(model: Any, sent: Sequence[Message], *, repeat: int = 0) -> tuple[str, Any, Recorder]:
    with recording(repeat) as recorder:
        *deltas, end = model.stream(sent)
    return "".join(deltas), end, recorder


def test_a_reply_is_given_again_whatever_the_fence_and_holds_the_new_one(tmp_path: Path) -> None:
    model = Scripted(f"I saw {FENCES[0]} there")
    with CallCache(tmp_path / "calls.sqlite") as cache:
        cached = cache.connect(lambda endpoint: model)(ENDPOINT)
        first = drained(cached, messages(FENCES[0]))
        again = drained(cached, messages(FENCES[1]))
    assert len(model.asked) == 1
    assert first[0] == f"Isaw{FENCES[0]}there"
    assert again[0] == f"Isaw{FENCES[1]}there"
    assert again[1] == first[1] == Completion(Usage(10, 5, 1), "stop")
    assert first[2].calls() == Calls(sent=1, cached=0, dollars=None)
    assert again[2].calls() == Calls(sent=0, cached=1, dollars=0.0)
    assert FENCES[0] not in (tmp_path / "calls.sqlite").read_bytes().decode("latin-1")


def test_another_question_repeat_endpoint_model_or_parameter_is_another_call(tmp_path: Path) -> None:
    model = Scripted("yes")
    with CallCache(tmp_path / "calls.sqlite") as cache:
        make = cache.connect(lambda endpoint: model)
        drained(make(ENDPOINT), messages(FENCES[0]))
        drained(make(ENDPOINT), messages(FENCES[0], "other"))
        drained(make(ENDPOINT), messages(FENCES[0]), repeat=1)
        drained(make(Endpoint(base_url="http://127.0.0.1:8/v1", model="m")), messages(FENCES[0]))
        drained(make(replace(ENDPOINT, max_output_tokens=5)), messages(FENCES[0]))
        model.model = model._serves = "n"
        drained(make(ENDPOINT), messages(FENCES[0]))
    assert len(model.asked) == 6


def test_an_incomplete_reply_is_not_stored_and_its_fault_is_counted(tmp_path: Path) -> None:
    error = EndpointError("Broken off.", fix="Again.", kind="interrupted")
    model = Scripted(error)
    with CallCache(tmp_path / "calls.sqlite") as cache:
        cached = cache.connect(lambda endpoint: model)(ENDPOINT)
        for _ in range(2):
            with recording(0) as recorder, pytest.raises(EndpointError):
                list(cached.stream(messages(FENCES[0])))
            assert recorder.calls() == Calls(sent=1, cached=0, dollars=None, faults=("interrupted",))
    assert len(model.asked) == 2


def test_nothing_is_looked_up_before_the_model_is_known_and_all_is_stored_under_its_name(tmp_path: Path) -> None:
    with CallCache(tmp_path / "calls.sqlite") as cache:
        unnamed = Endpoint(base_url="http://127.0.0.1:9/v1")
        first = Scripted("yes", model=None)
        drained(cache.connect(lambda endpoint: first)(unnamed), messages(FENCES[0]))
        second = Scripted("no", model="m")
        text, *_ = drained(cache.connect(lambda endpoint: second)(unnamed), messages(FENCES[0]))
    assert (text, second.asked) == ("yes", [])


def test_a_damaged_cache_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "calls.sqlite").write_bytes(b"not a database, but long enough to be taken for one" * 100)
    with pytest.raises(RunError, match="delete it"):
        CallCache(tmp_path / "calls.sqlite")
    assert issubclass(sqlite3.DatabaseError, sqlite3.Error)


def test_the_pace_halves_when_an_endpoint_is_busy_and_rises_slowly() -> None:
    pace = Pace(16)
    assert pace.limit == 4
    pace.note(is_slowed=True)
    assert pace.limit == 2
    for _ in range(3):
        pace.note(is_slowed=True)  # the three that were under way say the same
    assert pace.limit == 2
    pace.note(is_slowed=True)
    assert pace.limit == 1
    for _ in range(200):
        pace.note(is_slowed=False)
    assert pace.limit == 16
    assert Pace(2).limit == 2


IDENTITY = Identity("s", "g", 1, None, "c", "p", "e", "extractive", None, None, (), None, {"k": 8}, "x")
ITEMS = [ITEM.validate_python({"id": "a", "type": "single", "question": "Q?", "papers": ["right"]})]


def test_a_run_is_its_identity() -> None:
    assert replace(IDENTITY).fingerprint == IDENTITY.fingerprint
    other = replace(IDENTITY, settings={"k": 1}, model="m")
    assert other.fingerprint != IDENTITY.fingerprint
    assert other.differences(IDENTITY) == ["model", "k"]
    assert len(code_digest()) == 64


def test_a_run_keeps_what_it_was_given(tmp_path: Path) -> None:
    run = RunFolder.create(tmp_path, IDENTITY, ITEMS)
    assert run.identity() == IDENTITY
    assert run.items() == ITEMS
    assert run.about()["planned"] == 1
    assert {"commit", "created", "citewise", "prices", "seeds", "fingerprint"} <= set(run.about())
    assert "key" not in json.dumps(asdict(IDENTITY)).lower()


def test_an_unfinished_run_is_found_by_its_identity_and_a_finished_one_is_not(tmp_path: Path) -> None:
    run = RunFolder.create(tmp_path, IDENTITY, ITEMS)
    assert unfinished(tmp_path, replace(IDENTITY, gold="h")) is None
    found = unfinished(tmp_path, IDENTITY)
    assert found is not None
    assert found.name == run.name
    sample = Sample("a", 0, answer("Traces decay."), Calls())
    with Log(run.path / PAPERS) as papers, Log(run.path / SAMPLES) as samples:
        for paper in papers_of(sample.answer):
            papers.append_line(to_line(paper))
        samples.append(sample_record(sample))
    assert unfinished(tmp_path, IDENTITY) is not None  # answered, and not yet scored
    run.write_scores({("a", 0): {"recall@5": Score(1.0, "right at 1")}})
    assert unfinished(tmp_path, IDENTITY) is None
    assert run.samples()["a", 0] == sample
    assert run.scores()["a", 0]["recall@5"] == Score(1.0, "right at 1")


def test_runs_are_found_by_name_its_beginning_and_folder(tmp_path: Path) -> None:
    run = RunFolder.create(tmp_path, IDENTITY, ITEMS)
    for name in (run.name, run.name[:20], str(run.path), "last"):
        assert find_run(tmp_path, name).path == run.path.resolve()
    for name in ("nonsense", str(tmp_path)):
        with pytest.raises(RunError, match="no run"):
            find_run(tmp_path, name)
    with pytest.raises(RunError, match="no scores"):
        run.scores()


def test_two_processes_cannot_add_to_one_run(tmp_path: Path) -> None:
    run = RunFolder.create(tmp_path, IDENTITY, ITEMS)
    with run.lock(), pytest.raises(RunError, match="Another process"), run.lock():
        pass


class Paid:
    """An assistant whose every answer is one call of gpt-4.1-mini for 40 cents."""

    writer_name = "chat"

    def __init__(self, cache: CallCache) -> None:
        endpoint = Endpoint(model="gpt-4.1-mini", api_key="x")
        self._model = cache.connect(lambda endpoint: Expensive("yes", model="gpt-4.1-mini"))(endpoint)

    def ask(self, question: str, *, history: Sequence[Any] = ()) -> Any:
        list(self._model.stream(messages(FENCES[0], question)))
        return answer("Traces decay.", question=question)


class Expensive(Scripted):
    """A million tokens are sent for each reply."""

    def stream(self, messages: Sequence[Message], *, until: float = inf) -> Iterator[str | Completion]:
        yield from ("yes", Completion(Usage(1_000_000, 0, 1), "stop"))


def test_a_budget_stops_a_run_and_what_is_cached_costs_nothing_again(tmp_path: Path) -> None:
    items = [
        ITEM.validate_python({"id": f"q{n}", "type": "single", "question": f"Q{n}?", "papers": ["right"]})
        for n in range(6)
    ]
    run = RunFolder.create(tmp_path, replace(IDENTITY, model="gpt-4.1-mini"), items)
    with CallCache(tmp_path / "calls.sqlite") as cache:
        paid: Any = Paid(cache)
        first = ask_missing(run, assistant=paid, jobs=1, budget=1.0)
        assert (first.answered, first.planned, first.stopped) == (3, 6, "the budget of $1 is spent")
        assert first.dollars == pytest.approx(1.2)
        assert ask_missing(run, assistant=paid, jobs=1, budget=1.0).answered == 3
        whole = ask_missing(run, assistant=paid, jobs=1)
        assert (whole.answered, whole.stopped) == (6, None)
        again = RunFolder.create(tmp_path, replace(IDENTITY, repeats=1), items)
        assert ask_missing(again, assistant=paid, jobs=1, budget=0.5).dollars == 0
