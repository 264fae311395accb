"""The search for a better prompt: hill climbing on a part of a suite, the choice on a second, the report on a third."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from evals.cases.schema import AnyItem
from evals.cases.suites import Suite
from evals.optimizing.proposing import Attempt, Proposal, faults_of
from evals.optimizing.splits import split
from evals.report.comparing import render_comparison
from evals.results.comparison import Comparison, compare
from evals.results.loading import Results, headline
from evals.running.errors import RunError
from evals.running.folder import RunFolder
from evals.running.log import write_whole
from evals.scoring import PRIMARIES
from evals.statistics.clusters import sum_up
from rag.prompting import Prompt, prompt_versions

COMPARISON = "comparison.html"
CANDIDATES = 3
"""So many of the best on the tuning part are compared on the second."""
Ask = Callable[[Suite, Prompt], RunFolder]
"""Asks and scores a suite with a prompt in use."""
Propose = Callable[[Attempt, list[Attempt]], Proposal]


class Round(NamedTuple):
    """What became of one proposal: a label, or why there is none. No score: this part was tuned on."""

    number: int
    label: str | None
    problem: str
    is_best: bool


@dataclass(frozen=True, slots=True)
class Optimised:
    """The prompt that was chosen, that in use if nothing was better, and how it does on cases that nothing saw."""

    before: Prompt
    chosen: Prompt
    comparison: Comparison | None
    rounds: tuple[Round, ...]


def optimise(
    suite: Suite,
    *,
    start: Prompt,
    rounds: int,
    seed: int,
    ask: Ask,
    propose: Propose,
    read: Callable[[RunFolder], Results],
) -> Optimised:
    """Tunes the system text of `start`. Raises RunError for a suite that is too small, or without a score."""
    parts = split(suite.items, seed=seed)

    def asked(items: list[AnyItem], part: str, prompt: Prompt) -> tuple[RunFolder, Results]:
        run = ask(Suite(f"{suite.name}-{part}", items, suite.papers), prompt)
        return run, read(run)

    def attempt(prompt: Prompt) -> Attempt:
        run, results = asked(parts.tune, "tune", prompt)
        return Attempt(prompt, objective(results), faults_of(run, results))

    best = attempt(start)
    history, told = [best], []
    for number in range(1, rounds + 1):
        proposal = propose(best, history)
        known = proposal.prompt is not None and any(each.prompt.system == proposal.prompt.system for each in history)
        if proposal.prompt is None or known:
            told.append(Round(number, None, proposal.problem or "it was tried before", False))
            continue
        tried = attempt(proposal.prompt)
        history.append(tried)
        told.append(Round(number, tried.prompt.label, "", tried.score > best.score))
        best = max(best, tried, key=lambda each: each.score)
    candidates = sorted(history[1:], key=lambda each: -each.score)[:CANDIDATES]
    chosen = start
    if candidates:
        scored = [
            (objective(asked(parts.choose, "choose", each)[1]), each)
            for each in (start, *(c.prompt for c in candidates))
        ]
        chosen = max(scored, key=lambda entry: entry[0])[1]
    if chosen is start:
        return Optimised(start, start, None, tuple(told))
    before, after = (asked(parts.report, "report", each)[1] for each in (start, chosen))
    return Optimised(start, chosen, compare(before, after), tuple(told))


def objective(results: Results) -> float:
    """The mean of the primary metrics that apply, over the plain cases. Raises RunError where none does."""
    observed = [results.observations(name, keep=headline) for name in PRIMARIES]
    means = [sum_up(each).mean for each in observed if each]
    if not means:
        raise RunError("None of the cases has a primary metric.", fix="Take a suite with facts or papers.")
    return sum(means) / len(means)


def keep_prompt(prompt: Prompt, folder: Path, *, comparison: Comparison) -> str:
    """Writes the prompt as the next version below `folder`, its comparison beside it, and returns "name/version"."""
    latest = max(
        (int(version[1:]) for version in prompt_versions(prompt.name, folder=folder) if version[1:].isdigit()),
        default=0,
    )
    version = f"v{latest + 1}"
    place = write_prompt(prompt, folder, version=version)
    write_whole(place / COMPARISON, render_comparison(comparison))
    return f"{prompt.name}/{version}"


def write_prompt(prompt: Prompt, folder: Path, *, version: str) -> Path:
    """Writes a prompt's two texts below `folder` and returns where."""
    place = folder / prompt.name / version
    place.mkdir(parents=True, exist_ok=True)
    write_whole(place / "system.md", prompt.system + "\n")
    write_whole(place / "user.md", prompt.user + "\n")
    return place
