"""Runs that are started on the page: one at a time, in a thread of its own, which goes on where the page is closed."""

import threading
from collections.abc import Iterator
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

from evals.cases.suites import load_suite, own_suites
from evals.running.errors import RunError
from evals.running.runner import ask_missing
from evals.running.session import known_of, opened_run, score_run
from rag.errors import CitewiseError
from rag.settings import Settings

JOBS = 4
"""Questions at once where a model at an endpoint writes."""


class Step(NamedTuple):
    """How far a run is. `run` is its name when it has ended; `problem` is what ended it, with what to do.

    `drafts` is how many cases of the suite were not asked, as nobody has accepted them.
    """

    answered: int = 0
    planned: int = 0
    drafts: int = 0
    run: str | None = None
    problem: CitewiseError | None = None


class Runner:
    """Starts runs by `settings` and keeps them in `runs`."""

    def __init__(self, settings: Settings, runs: Path) -> None:
        self._settings, self._runs = settings, runs
        self._busy = threading.Lock()
        self._stopped = threading.Event()

    def run(self, suite: str, *, limit: int | None = None) -> Iterator[Step]:
        """Asks the cases of a suite that ships or is in the home, and scores them; steps until it has ended."""
        if not self._busy.acquire(blocking=False):
            yield Step(problem=RunError("A run is under way.", fix="Wait for it, or stop it."))
            return
        self._stopped.clear()
        steps: SimpleQueue[Step | None] = SimpleQueue()
        threading.Thread(target=self._work, args=(suite, limit, steps), name="evals", daemon=True).start()
        while (step := steps.get()) is not None:
            yield step

    def stop(self) -> None:
        """Lets the run end after the questions under way; what was answered is scored and kept."""
        self._stopped.set()

    def _work(self, suite: str, limit: int | None, steps: "SimpleQueue[Step | None]") -> None:
        try:
            asked = load_suite(suite, own=own_suites(self._settings.home))
            with opened_run(asked, settings=self._settings, runs=self._runs, limit=limit) as opened:
                outcome = ask_missing(
                    opened.run,
                    assistant=opened.assistant,
                    jobs=JOBS if opened.assistant.writer_name == "chat" else 1,
                    on_progress=lambda answered, planned: steps.put(Step(answered, planned)),
                    is_stopped=self._stopped.is_set,
                )
                identity = opened.run.identity()
                score_run(opened.run, known_of(opened.assistant.corpus, settings=self._settings, identity=identity))
            steps.put(Step(outcome.answered, outcome.planned, asked.drafts, opened.run.name))
        except CitewiseError as error:
            steps.put(Step(problem=error))
        finally:
            self._busy.release()
            steps.put(None)
