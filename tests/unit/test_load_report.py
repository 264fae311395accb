"""What a measurement of load calls a failure, and that somebody else's answer is noticed."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from evals.load.endpoint import scripted_endpoint, scripted_reply
from evals.load.report import failures, to_record
from evals.load.run import LoadReport, Plan, percentile
from evals.load.sessions import Sessions, Tally

QUESTIONS = ("How do frogs climb?", "Why do frogs climb?")
FINE = LoadReport(
    plan=Plan(sessions=2, seconds=10.0),
    papers=3,
    processors=2,
    machine_load=0.5,
    tally=Tally(seconds=[0.1, 0.3]),
    memory=(100.0, 103.0),
    most_memory=104.0,
    growth=0.03,
    flood=Tally(),
    ending=Tally(),
    end_seconds=1.0,
    exit_code=0,
    left_open=0,
    beside_ingest=None,
)


@contextmanager
def page(*, answer: str, question: str | None = None, status: int = 200) -> Iterator[int]:
    """The port of a page that gives the same answer to everybody, to `question` where it is given."""

    asked: list[str] = []

    class Page(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

        def do_POST(self) -> None:
            told = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["data"][0]
            asked.append(told)
            self.reply(status, json.dumps({"event_id": str(len(asked) - 1)}).encode())

        def do_GET(self) -> None:
            to = question or asked[int(self.path.rsplit("/", 1)[1])]
            value = json.dumps([{"question": to, "answer": answer, "outcome": "answered"}])
            self.reply(200, f"event: heartbeat\ndata: null\n\nevent: complete\ndata: {value}\n\n".encode())

        def reply(self, code: int, content: bytes) -> None:
            self.send_response(code)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Page)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def asked_of(port: int, *, scripted: bool = True) -> Tally:
    sessions = Sessions(port, QUESTIONS[:1], count=1, pause=0.0, scripted=scripted)
    sessions.ask_once()
    return sessions.tally


def test_ones_own_answer_is_fine() -> None:
    with page(answer=scripted_reply(0)) as port:
        tally = asked_of(port)
    assert (len(tally.seconds), tally.strangers, dict(tally.outcomes)) == (1, 0, {"answered": 1})


def test_an_answer_made_for_another_question_is_noticed() -> None:
    with page(answer=scripted_reply(1)) as port:
        assert asked_of(port).strangers == 1


def test_an_answer_that_names_another_question_is_noticed() -> None:
    with page(answer="Quoted.", question=QUESTIONS[1]) as port:
        assert asked_of(port, scripted=False).strangers == 1


@pytest.mark.parametrize(("status", "kind"), [(503, "refused"), (429, "refused"), (500, "errors")])
def test_a_full_queue_is_no_error_and_a_broken_page_is(status: int, kind: str) -> None:
    with page(answer="", status=status) as port:
        tally = asked_of(port)
    assert [sum(tally.refused.values()), sum(tally.errors.values())] == [kind == "refused", kind == "errors"]


def test_the_scripted_endpoint_knows_the_question_behind_its_sources() -> None:
    questions = ("How do frogs climb?", "How do frogs climb? And why?", "Other")
    with scripted_endpoint(questions, seconds=0.0) as server:
        assert server.number_of("Sources: Other. Question: How do frogs climb?\nAnswer.") == 0
        assert server.number_of("Question: How do frogs climb? And why?") == 1
        assert server.number_of("Nothing") is None


@pytest.mark.parametrize(
    ("report", "told"),
    [
        (FINE, []),
        (replace(FINE, ending=Tally(errors={"ConnectionResetError": 3})), []),
        (replace(FINE, tally=Tally(errors={"HTTP 500": 2})), ["2 x HTTP 500"]),
        (replace(FINE, beside_ingest=Tally(strangers=1)), ["1 answers to another question"]),
        (replace(FINE, exit_code=None), ["the server had to be killed"]),
        (replace(FINE, left_open=4), ["4 streams of the endpoint left open"]),
    ],
)
def test_failures(report: LoadReport, told: list[str]) -> None:
    assert failures(report) == told
    assert json.loads(json.dumps(to_record(report)))["failures"] == told


def test_percentiles() -> None:
    assert percentile([], 0.5) == 0
    assert percentile([3.0, 1.0, 2.0, 4.0], 0.5) == 3
    assert percentile(range(100), 0.95) == 95
