"""Asks the cases of a run that were not answered yet, several at once, and writes each answer down when it comes."""

from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from evals.cases.case import Case
from evals.running.call_cache import Recorder, recording
from evals.running.folder import PAPERS, SAMPLES, RunFolder
from evals.running.log import Log
from evals.running.pace import Pace
from evals.running.records import Sample, failed_answer, papers_of, sample_record
from rag.errors import CitewiseError
from rag.records import to_line

if TYPE_CHECKING:
    from rag.assistant import Assistant

OnProgress = Callable[[int, int], object]


class Outcome(NamedTuple):
    """How far a run came. `stopped` says why it did not ask all, None where it did."""

    answered: int
    planned: int
    failed: int
    dollars: float
    stopped: str | None


def ask_missing(
    run: RunFolder,
    *,
    assistant: "Assistant",
    jobs: int,
    budget: float | None = None,
    on_progress: OnProgress | None = None,
    is_stopped: Callable[[], bool] = lambda: False,
) -> Outcome:
    """Asks what the run lacks, with at most `jobs` questions at once, until all is asked or `budget` dollars are spent.

    Where `is_stopped` says so, no further question is asked; those under way are waited for.

    A call that fails gives a sample whose answer is "failed". The run is locked meanwhile. Raises RunError where the
    disk refuses a write or another process is at the run; what was asked by then is kept.
    """
    with run.lock(), _Writer(run) as writer:
        planned = _planned(run)
        tally = _Tally(budget)
        for sample in run.samples().values():
            tally.add(sample)
        known = run.done()
        todo = [task for task in planned if (task.case.case_id, task.repeat) not in known]
        if on_progress is not None:
            on_progress(tally.answered, len(planned))
        for sample in _asked(todo, assistant, jobs=jobs, goes_on=lambda: tally.has_budget() and not is_stopped()):
            writer.write(sample)
            tally.add(sample)
            if on_progress is not None:
                on_progress(tally.answered, len(planned))
    stopped = None
    if tally.answered < len(planned):
        stopped = "it was stopped" if tally.has_budget() else f"the budget of ${budget:g} is spent"
    return Outcome(tally.answered, len(planned), tally.failed, tally.dollars, stopped)


@dataclass(slots=True)
class _Tally:
    """What has been answered so far, and what it cost."""

    budget: float | None
    answered: int = 0
    failed: int = 0
    dollars: float = 0.0

    def add(self, sample: Sample) -> None:
        self.answered += 1
        self.failed += sample.answer.outcome == "failed"
        self.dollars += sample.calls.dollars or 0.0

    def has_budget(self) -> bool:
        return self.budget is None or self.dollars < self.budget


class _Task(NamedTuple):
    case: Case
    repeat: int


def _planned(run: RunFolder) -> list[_Task]:
    """Every case once, then every case again: a run that is cut short has asked as many different ones as it could."""
    return [_Task(case, repeat) for repeat in range(run.identity().repeats) for case in run.cases()]


def _asked(todo: list[_Task], assistant: "Assistant", *, jobs: int, goes_on: Callable[[], bool]) -> Iterator[Sample]:
    """The samples as they come."""
    pace = Pace(jobs)
    waiting = iter(todo)
    with ThreadPoolExecutor(jobs, thread_name_prefix="eval") as pool:
        under_way: set[Future[tuple[Sample, Recorder]]] = set()
        while True:
            while len(under_way) < pace.limit and goes_on() and (task := next(waiting, None)) is not None:
                under_way.add(pool.submit(_ask, task, assistant))
            if not under_way:
                return
            done, under_way = wait(under_way, return_when=FIRST_COMPLETED)
            for future in done:
                sample, recorder = future.result()
                pace.note(is_slowed=recorder.is_slowed)
                yield sample


def _ask(task: _Task, assistant: "Assistant") -> tuple[Sample, Recorder]:
    case = task.case
    with recording(task.repeat) as recorder:
        try:
            answer = assistant.ask(case.question, history=case.history)
        except CitewiseError as error:  # a question that is empty or too long
            answer = failed_answer(case.question, error, writer=assistant.writer_name)
    return Sample(case.case_id, task.repeat, answer, recorder.calls()), recorder


class _Writer:
    """Appends samples, each behind the papers that it names."""

    def __init__(self, run: RunFolder) -> None:
        self._papers, self._samples = Log(run.path / PAPERS), Log(run.path / SAMPLES)
        self._known = set(run.papers())

    def __enter__(self) -> "_Writer":
        return self

    def __exit__(self, *_: object) -> None:
        self._papers.__exit__()
        self._samples.__exit__()

    def write(self, sample: Sample) -> None:
        new = {paper.paper_id: paper for paper in papers_of(sample.answer) if paper.paper_id not in self._known}
        for paper in new.values():
            self._papers.append_line(to_line(paper))
        self._known |= set(new)
        self._samples.append(sample_record(sample))
