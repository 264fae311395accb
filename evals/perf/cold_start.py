"""A corpus opened in a new process: what imports take, and what is waited for beyond them.

As a program, `python -X importtime -m evals.perf.cold_start HOME CORPUS QUESTION WORD` opens the corpus, asks the
question, then asks it of the papers that have the word in their titles. It marks each step on stderr, among the lines
that Python writes there of every import, and prints its peak memory.
"""

import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median
from time import perf_counter

from rag.errors import CorpusError

_MARK = "citewise-mark"
_LINE = re.compile(rf"import time:\s+(?P<self>\d+) \||{_MARK} (?P<step>\w+) (?P<at>[\d.]+)")
_STEPS = ("started", "opened", "asked", "filtered")
_RUNS = 3
_TIMEOUT = 600


@dataclass(frozen=True, slots=True)
class ColdStart:
    """Seconds, medians over some processes, the files in the page cache; `imports` are in no other.

    `opening` is `Assistant.open`, `first_question` and `first_filtered` the first answers without and with a filter,
    by the extractive writer. `peak_mb` is the most memory that was resident, in MB (10^6 bytes), files that are mapped
    included; None where the system does not say.
    """

    imports: float
    opening: float
    first_question: float
    first_filtered: float
    peak_mb: float | None


def measure_cold_start(home: Path, corpus: str, *, question: str, word: str, runs: int = _RUNS) -> ColdStart:
    """Opens `corpus` in `runs` new processes, one after the other. `word` is one of a title, for the filter.

    Raises CorpusError with what a process said where it fails.
    """
    starts = [_run(home, corpus, question=question, word=word) for _ in range(runs)]
    peaks = [start.peak_mb for start in starts if start.peak_mb is not None]
    return ColdStart(
        imports=median(start.imports for start in starts),
        opening=median(start.opening for start in starts),
        first_question=median(start.first_question for start in starts),
        first_filtered=median(start.first_filtered for start in starts),
        peak_mb=max(peaks, default=None),
    )


def _run(home: Path, corpus: str, *, question: str, word: str) -> ColdStart:
    command = [sys.executable, "-X", "importtime", "-m", __name__, str(home), corpus, question, word]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT, check=True)  # noqa: S603
    except subprocess.TimeoutExpired as error:
        raise CorpusError(
            f"The corpus {corpus} was not open after {_TIMEOUT} seconds.", fix="Run: citewise doctor"
        ) from error
    except subprocess.CalledProcessError as error:
        said = [line for line in error.stderr.splitlines() if not _LINE.match(line)]
        raise CorpusError(
            f"A new process could not ask the corpus {corpus}: {' '.join(said[-1:])}", fix="Run: citewise doctor"
        ) from error
    return read_start(done.stderr, peak=done.stdout.strip())


def read_start(stderr: str, *, peak: str) -> ColdStart:
    """What a process wrote: `stderr` with the times of imports and its marks, `peak` the memory in kB or ""."""
    at: dict[str, float] = {}
    imports = dict.fromkeys(_STEPS, 0.0)
    """Seconds of imports up to each step, since the one before."""
    pending = 0.0
    for line in _LINE.finditer(stderr):
        if line["step"]:
            at[line["step"]], imports[line["step"]], pending = float(line["at"]), pending, 0.0
        else:
            pending += int(line["self"]) / 1e6
    opening, first_question, first_filtered = (
        at[after] - at[before] - imports[after] for before, after in pairwise(_STEPS)
    )
    return ColdStart(
        imports=sum(imports.values()),
        opening=opening,
        first_question=first_question,
        first_filtered=first_filtered,
        peak_mb=int(peak) * 1024 / 1e6 if peak else None,
    )


def _peak_memory() -> str:
    """The process's own peak resident memory in kB; getrusage would count that of the process which started it."""
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return next((line.split()[1] for line in lines if line.startswith("VmHWM:")), "")


def _mark(step: str) -> None:
    print(_MARK, step, perf_counter(), file=sys.stderr, flush=True)


def _main(arguments: Sequence[str]) -> None:
    home, corpus, question, word = arguments
    _mark("started")
    from rag.assistant import Assistant
    from rag.filters import Filters

    assistant = Assistant.open(home=Path(home), corpus=corpus, writer="extractive")
    _mark("opened")
    assistant.ask(question, filters=Filters())
    _mark("asked")
    assistant.ask(question, filters=Filters(title_words=(word,)))
    _mark("filtered")
    print(_peak_memory())


if __name__ == "__main__":
    _main(sys.argv[1:])
