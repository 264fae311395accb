"""Logs, metrics and spans of one answer and its calls: with request ids, and without questions unless asked for."""

import json
import logging
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from rag.domain import Event, Finished, TextPart, Timings, Usage
from rag.embedding_cache import EmbeddingCache
from rag.observing import observed, request_id, tell
from rag.observing.logs import JsonLines, TextLines, listen, log_to_stderr
from rag.observing.metrics import Metrics
from rag.observing.traces import Traces
from tests.builders import answer
from tests.fake_embedder import FakeEmbedder

CLIENT = logging.getLogger("rag.llm.client")
ANSWER = answer(
    question="Secret question?",
    writer="chat",
    outcome="answered",
    model="m",
    usage=Usage(prompt_tokens=70, completion_tokens=8, calls=1),
    timings=Timings(retrieve_ms=40.0, first_token_ms=200.0, total_ms=900.0),
)


class Kept(logging.Handler):
    """Keeps the records."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)


@pytest.fixture(autouse=True)
def loggers() -> Iterator[None]:
    """Leaves the loggers of the package as they were."""
    yield
    for name in ("rag", "ui"):
        logging.getLogger(name).handlers.clear()
        logging.getLogger(name).setLevel(logging.NOTSET)


def call(status: str = "stop") -> None:
    tell(
        CLIENT,
        "endpoint",
        "chat",
        role="chat",
        host="h",
        model="m",
        status=status,
        seconds=0.5,
        requests=1,
        prompt_tokens=70,
        completion_tokens=8,
    )


def asked(*, status: str = "stop", outcome: str = "answered") -> Iterator[Event]:
    yield TextPart("a")
    call(status)
    yield Finished(replace(ANSWER, outcome=outcome))  # type: ignore[arg-type]


def kept_from(events: Iterator[Event]) -> list[logging.LogRecord]:
    handler = Kept()
    listen(handler)
    list(observed(events))
    return handler.records


def test_records_of_one_question_share_an_id_that_no_other_has() -> None:
    kept_from(asked())
    records = kept_from(asked())
    handler = Kept()
    listen(handler)
    list(observed(asked()))
    ids = [{vars(record)["fields"]["request_id"] for record in told} for told in (records[:2], handler.records)]
    assert [len(found) for found in ids] == [1, 1]
    assert ids[0] != ids[1]
    assert request_id.get() is None


def test_questions_that_are_answered_in_turns_do_not_mix() -> None:
    handler = Kept()
    listen(handler)
    streams = [observed(asked()) for _ in range(3)]
    for _ in range(2):
        for stream in streams:
            next(stream)
    by_id: dict[str, list[str]] = {}
    for record in handler.records:
        by_id.setdefault(vars(record)["fields"]["request_id"], []).append(vars(record)["event"])
    assert list(by_id.values()) == [["endpoint", "answer"]] * 3


def test_an_answer_whose_reader_leaves_is_told_and_its_call_closed() -> None:
    closed: list[bool] = []

    def events() -> Iterator[Event]:
        try:
            yield TextPart("a")
            yield TextPart("b")
        finally:
            closed.append(True)

    handler = Kept()
    listen(handler)
    stream = observed(events())
    next(stream)
    stream.close()  # type: ignore[attr-defined]
    assert closed == [True]
    assert [vars(record)["fields"]["outcome"] for record in handler.records] == ["stopped"]


@pytest.mark.parametrize("shows", [False, True])
def test_json_lines_hold_a_question_only_when_that_is_asked_for(shows: bool) -> None:
    line = JsonLines(shows_questions=shows).format(kept_from(asked())[-1])
    told = json.loads(line)
    assert (told["event"], told["outcome"], told["total_ms"], told["level"]) == ("answer", "answered", 900.0, "info")
    assert ("Secret question?" in line) == shows


def test_text_lines_name_the_request() -> None:
    record = kept_from(asked())[-1]
    line = TextLines().format(record)
    assert f"[{vars(record)['fields']['request_id']}] answer: answered by chat after 900 ms" in line
    assert "Secret" not in line


def test_keys_do_not_reach_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    log_to_stderr("json", shows_questions=True)
    logging.getLogger("rag.x").warning("failed with %s", "Bearer abcdefghijkl")
    assert "abcdefghijkl" not in capsys.readouterr().err


def test_metrics_count_outcomes_stages_tokens_faults_and_cache_hits(tmp_path: Path) -> None:
    metrics = Metrics()
    listen(metrics)
    list(observed(asked()))
    list(observed(asked(status="timeout", outcome="failed")))
    with EmbeddingCache(tmp_path / "c.sqlite3", embedder=FakeEmbedder()) as cache:
        cache.embed(["a", "b"])
        cache.embed(["a", "c"])
    text = metrics.exposition().decode()
    for line in (
        'citewise_questions_total{outcome="answered",writer="chat"} 1.0',
        'citewise_questions_total{outcome="failed",writer="chat"} 1.0',
        'citewise_stage_seconds_bucket{le="0.05",stage="retrieve"} 2.0',
        'citewise_stage_seconds_sum{stage="total"} 1.8',
        'citewise_tokens_total{kind="prompt"} 140.0',
        'citewise_endpoint_requests_total{role="chat",status="timeout"} 1.0',
        'citewise_embedding_cache_total{result="hit"} 1.0',
        'citewise_embedding_cache_total{result="miss"} 3.0',
    ):
        assert line in text
    assert "Secret" not in text


@pytest.mark.parametrize("shows", [False, True])
def test_spans_follow_the_conventions(shows: bool) -> None:
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    listen(Traces(provider.get_tracer("t"), shows_questions=shows))
    list(observed(asked()))
    spans = {span.name: span for span in exporter.get_finished_spans()}
    assert set(spans) == {"answer", "retrieval", "chat m"}
    root, chat = spans["answer"], spans["chat m"]
    assert chat.parent is not None
    assert chat.parent.span_id == root.context.span_id  # type: ignore[union-attr]
    assert dict(chat.attributes or {}) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "m",
        "gen_ai.response.finish_reasons": ("stop",),
        "gen_ai.usage.input_tokens": 70,
        "gen_ai.usage.output_tokens": 8,
        "server.address": "h",
    }
    assert ("Secret" in str(root.attributes)) == shows


def test_a_fault_is_an_error_span() -> None:
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    listen(Traces(provider.get_tracer("t"), shows_questions=False))
    list(observed(asked(status="timeout", outcome="failed")))
    spans = {span.name: span for span in exporter.get_finished_spans()}
    assert (spans["chat m"].attributes or {})["error.type"] == "timeout"
    assert not spans["answer"].status.is_ok


def test_nothing_is_made_where_nobody_listens() -> None:
    assert not logging.getLogger("rag.observing").isEnabledFor(logging.INFO)
    assert [type(event) for event in observed(asked())] == [TextPart, Finished]
