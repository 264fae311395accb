"""A run with its answers, ready to be shown."""

from collections.abc import Mapping
from dataclasses import dataclass

from evals.results.loading import Results, load_results
from evals.results.summary import Summary, summarise
from evals.running.folder import RunFolder
from evals.running.records import Sample


@dataclass(frozen=True, slots=True)
class Report:
    """Results, their summary, and the answers by case and repeat."""

    results: Results
    summary: Summary
    samples: Mapping[tuple[str, int], Sample]


def load_report(run: RunFolder) -> Report:
    """The report of a run that was scored. Raises RunError."""
    results = load_results(run)
    return Report(results, summarise(results), run.samples())
