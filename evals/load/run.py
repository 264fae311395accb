"""One measurement of load: sessions for a while, then more than fit, then the end of the server amid answers."""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from evals.load.endpoint import MODEL, address_of, scripted_endpoint
from evals.load.server import LoadError, PageServer, copied_home
from evals.load.sessions import Sessions, Tally

_SAMPLE_SECONDS = 1.0
_WARM, _WINDOW = 0.2, 0.1
_END_SECONDS = 20.0
_LEAVING_SECONDS = 2.0
"""Within so long the server has to leave the endpoint's streams once it has ended."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do. `endpoint_seconds` is how long the scripted endpoint takes for an answer, None: nobody is asked.

    `flood` questions are asked at once afterwards, and while `dying` are being answered the server is asked to end.
    With `ingest`, the corpus is built anew beside it after `seconds`, every text embedded, and sessions go on until
    that is done.
    """

    sessions: int
    seconds: float
    pause: float = 0.0
    endpoint_seconds: float | None = None
    flood: int = 100
    dying: int = 8
    ingest: bool = False


@dataclass(frozen=True, slots=True)
class LoadReport:
    """What was seen.

    Memory is in MiB: the medians of the tenth of the time that follows its first fifth, and of its last tenth;
    `growth` is between them. `left_open` are streams of the endpoint that nobody closed. `beside_ingest` are answers
    while an ingest ran.
    """

    plan: Plan
    papers: int
    processors: int
    machine_load: float
    tally: Tally
    memory: tuple[float, float]
    most_memory: float
    growth: float
    flood: Tally
    ending: Tally
    end_seconds: float
    exit_code: int | None
    left_open: int
    beside_ingest: Tally | None


def run_load(plan: Plan, *, home: Path, corpus: str, papers: int, questions: Sequence[str]) -> LoadReport:
    """Measures on a copy of the corpus, which is deleted at the end. Raises LoadError where the page does not start."""
    scripted = plan.endpoint_seconds is not None
    endpoint = scripted_endpoint(questions, seconds=plan.endpoint_seconds or 0.0) if scripted else nullcontext()
    with copied_home(home, corpus) as place, endpoint as model:
        variables = {"CITEWISE_WRITER": "extractive"}
        if model is not None:
            variables = {"CITEWISE_WRITER": "chat", "CITEWISE_BASE_URL": address_of(model), "CITEWISE_MODEL": MODEL}
        with PageServer.chat(home=place, corpus=corpus, variables=variables) as server:
            tally, samples = _steady(plan, server, questions)
            beside = _beside_ingest(plan, server, questions, home=place, corpus=corpus) if plan.ingest else None
            machine_load = os.getloadavg()[0]
            flood = _at_once(server.port, questions, count=plan.flood)
            ending, seconds, code = _end_amid(server, questions, count=plan.dying)
        if model is not None:
            time.sleep(_LEAVING_SECONDS)
    warm, last = _median(samples, _WARM), _median(samples, 1 - _WINDOW)
    return LoadReport(
        plan=plan,
        papers=papers,
        processors=os.cpu_count() or 1,
        machine_load=machine_load,
        tally=tally,
        memory=(warm, last),
        most_memory=max(samples),
        growth=last / warm - 1,
        flood=flood,
        ending=ending,
        end_seconds=seconds,
        exit_code=code,
        left_open=model.open if model is not None else 0,
        beside_ingest=beside,
    )


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which `share` of `values` lie, by the nearest rank; 0 without values."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0


def _steady(plan: Plan, server: PageServer, questions: Sequence[str]) -> tuple[Tally, list[float]]:
    """The sessions for as long as planned, and the server's memory second by second."""
    sessions = _sessions(plan, server, questions)
    sessions.start()
    samples, until = [], time.monotonic() + plan.seconds
    while time.monotonic() < until:
        time.sleep(min(_SAMPLE_SECONDS, plan.seconds / 20))
        samples.append(server.resident_mib())
    sessions.end()
    return sessions.tally, samples


def _beside_ingest(plan: Plan, server: PageServer, questions: Sequence[str], *, home: Path, corpus: str) -> Tally:
    sessions = _sessions(plan, server, questions)
    program = "import sys; from rag.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", program, "ingest", "--rebuild", "--home", str(home), "--corpus", corpus]
    sessions.start()
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603  our own program
    sessions.end()
    if done.returncode != 0:
        raise LoadError("The ingest beside the page failed.", fix=done.stderr.strip()[-300:])
    return sessions.tally


def _sessions(plan: Plan, server: PageServer, questions: Sequence[str]) -> Sessions:
    scripted = plan.endpoint_seconds is not None
    return Sessions(server.port, questions, count=plan.sessions, pause=plan.pause, scripted=scripted)


def _at_once(port: int, questions: Sequence[str], *, count: int) -> Tally:
    sessions = Sessions(port, questions, count=count, pause=0.0, scripted=False)
    sessions.ask_once()
    return sessions.tally


def _end_amid(server: PageServer, questions: Sequence[str], *, count: int) -> tuple[Tally, float, int | None]:
    """What becomes of `count` questions that are being answered when the server is asked to end."""
    sessions = Sessions(server.port, questions, count=count, pause=0.0, scripted=False)
    with ThreadPoolExecutor(1) as pool:
        asking = pool.submit(sessions.ask_once)
        time.sleep(0.5)
        seconds, code = server.end(within=_END_SECONDS)
        asking.result()
    return sessions.tally, seconds, code


def _median(samples: Sequence[float], begin: float) -> float:
    """Of the samples from that share of the time on, `_WINDOW` of it long."""
    first = int(begin * len(samples))
    return statistics.median(samples[first : max(first + 1, int((begin + _WINDOW) * len(samples)))])
