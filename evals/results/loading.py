"""The results of a run as one value: cases with their scores, from its folder or from a baseline file."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from evals.cases.case import Case, expand
from evals.cases.schema import ITEM
from evals.running.errors import RunError
from evals.running.folder import RunFolder, Scores, find_run
from evals.running.log import write_whole
from evals.scoring import Known, Score, score_answer
from evals.statistics.clusters import Observation
from rag.domain import Paper

Keep = Callable[[Case], bool]


@dataclass(frozen=True, slots=True)
class Results:
    """Scores by case and repeat, those of time among them where they were measured.

    Samples that the cache answered have no time: that would be no measurement. `about` is what run.json says, and
    "judged_by", the judge of the run or None. `papers` are those that answers name.
    """

    name: str
    about: Mapping[str, Any]
    cases: Mapping[str, Case]
    scores: Scores
    papers: Mapping[str, Paper]

    @property
    def answered(self) -> int:
        return len(self.scores)

    @property
    def planned(self) -> int:
        return int(self.about["planned"])

    @property
    def repeats(self) -> int:
        return int(self.about["identity"]["repeats"])

    def observations(self, metric: str, *, keep: Keep) -> list[Observation]:
        """A case's score of a metric, averaged over its repeats, for all cases that have one and that `keep` takes."""
        found = []
        for case, repeats, scores in self._by_case(metric):
            weight = sum(score.weight for score in scores)
            if keep(case) and weight > 0:
                value = sum((score.value or 0.0) * score.weight for score in scores) / weight
                found.append(Observation(case.case_id, case.cluster, value, weight / repeats))
        return found

    def unscored(self, metric: str, *, keep: Keep) -> list[Score]:
        """The scores of a metric that have no value."""
        return [
            by_metric[metric]
            for (case_id, _), by_metric in self.scores.items()
            if metric in by_metric and by_metric[metric].value is None and keep(self.cases[case_id])
        ]

    def values(self, metric: str, *, keep: Keep) -> list[float]:
        """Every value of a metric, repeats apart."""
        return [
            score.value
            for (case_id, _), by_metric in self.scores.items()
            if keep(self.cases[case_id]) and (score := by_metric.get(metric)) is not None and score.value is not None
        ]

    def score(self, case_id: str, metric: str) -> Score | None:
        """A case's score of a metric in its first repeat."""
        return self.scores.get((case_id, 0), {}).get(metric)

    def _by_case(self, metric: str) -> Iterator[tuple[Case, int, list[Score]]]:
        """Each case with how often it was asked and the scores that have a value."""
        asked: dict[str, list[Mapping[str, Score]]] = {}
        for (case_id, _), by_metric in self.scores.items():
            asked.setdefault(case_id, []).append(by_metric)
        for case_id, repeats in asked.items():
            scores = [by_metric[metric] for by_metric in repeats if metric in by_metric]
            yield self.cases[case_id], len(repeats), [score for score in scores if score.value is not None]


def headline(case: Case) -> bool:
    """Whether a case counts in the figures over all."""
    return case.is_headline


def load_results(run: RunFolder) -> Results:
    """The results of a run that was scored. Raises RunError."""
    samples = run.samples()
    cases = {case.case_id: case for case in run.cases()}
    scores: dict[tuple[str, int], Mapping[str, Score]] = {}
    kept = run.scores()
    for key, sample in samples.items():
        times = {} if sample.calls.cached else score_answer(cases[sample.case_id], sample.answer, Known(), timings=True)
        scores[key] = {**kept.get(key, {}), **times}
    return Results(run.name, run.about() | {"judged_by": run.verdicts()[0]}, cases, scores, run.papers())


def write_baseline(run: RunFolder, path: Path) -> None:
    """Writes a run's cases and scores, without times, into one file that a gate compares with."""
    scores: list[list[object]] = [
        [case_id, repeat, metric, *score]
        for (case_id, repeat), by_metric in run.scores().items()
        for metric, score in by_metric.items()
    ]
    items = [item.model_dump(mode="json") for item in run.items()]
    content = {"baseline": run.name, "about": run.about(), "items": items, "scores": scores}
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, json.dumps(content, ensure_ascii=False) + "\n")


def read_baseline(path: Path) -> Results:
    """What `write_baseline` wrote. Raises RunError for anything else."""
    try:
        content = json.loads(path.read_bytes())
        items = [ITEM.validate_python(item) for item in content["items"]]
        scores: dict[tuple[str, int], dict[str, Score]] = {}
        for case_id, repeat, metric, *score in content["scores"]:
            scores.setdefault((case_id, repeat), {})[metric] = Score(*score)
        cases = {case.case_id: case for case in expand(items)}
        return Results(content["baseline"], content["about"], cases, scores, {})
    except (OSError, ValueError, KeyError, TypeError, ValidationError) as error:
        problem = f"{path} is not a baseline: {error!r}."
        raise RunError(problem, fix="Write one with: citewise eval baseline set RUN") from error


def find_results(runs: Path, name: str) -> Results:
    """The results of a run by name or folder, or of a baseline file. Raises RunError where there is none."""
    path = Path(name)
    return read_baseline(path) if path.is_file() else load_results(find_run(runs, name))


def baseline_path(runs: Path, suite: str) -> Path:
    """Where the baseline of a suite is kept."""
    return runs / "baselines" / f"{suite}.json"


def groups_of(cases: Sequence[Case]) -> list[str]:
    """The groups of the cases, in their order."""
    return list(dict.fromkeys(case.group for case in cases))
