"""How good answers are on gold cases: asks each, scores it, and sums up by kind of question."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from evals import scorers
from evals.cases import Case
from rag.domain import Answer

if TYPE_CHECKING:
    from rag.assistant import Assistant

Score = Callable[[Case, Answer], float | None]

SCORES: Mapping[str, Score] = {
    "first cited": scorers.first_citation_right,
    "recall@1": scorers.first_retrieved_right,
    "cited recall": scorers.cited_recall,
    "cited precision": scorers.cited_precision,
    "vital nuggets": scorers.vital_nugget_recall,
    "verbatim": lambda case, answer: scorers.quotes_verbatim(answer),
    "refused": lambda case, answer: scorers.refused(answer),
    "sentences": lambda case, answer: float(len(answer.sentences)) if answer.sentences else None,
    "ms": lambda case, answer: answer.timings.total_ms,
}


class Sample(NamedTuple):
    """A case, its answer, and its scores."""

    case: Case
    answer: Answer
    scores: Mapping[str, float | None]


class Summary(NamedTuple):
    """The means of one group of samples; None where none of them could be scored. `failed` counts failed answers."""

    group: str
    questions: int
    failed: int
    means: Mapping[str, float | None]


def run_cases(
    cases: Sequence[Case], *, assistant: "Assistant", on_progress: Callable[[int, int, str], object] | None = None
) -> list[Sample]:
    """Asks every case in order."""
    samples = []
    for done, case in enumerate(cases, start=1):
        answer = assistant.ask(case.question, history=case.history)
        samples.append(Sample(case, answer, {name: score(case, answer) for name, score in SCORES.items()}))
        if on_progress is not None:
            on_progress(done, len(cases), "asking")
    return samples


def summarise(samples: Sequence[Sample]) -> list[Summary]:
    """A summary a group, in the order of the cases; unanswerable ones by how far off they are."""
    groups: dict[str, list[Sample]] = {}
    for sample in samples:
        groups.setdefault(_group(sample.case), []).append(sample)
    return [_summary(group, members) for group, members in groups.items()]


def _group(case: Case) -> str:
    if case.group == "unanswerable":
        return f"unanswerable {'far' if 'far' in case.kind else 'near'}"
    return case.kind if case.group in {"cross", "followup"} else case.group


def _summary(group: str, members: Sequence[Sample]) -> Summary:
    means = {}
    for name in SCORES:
        values = [value for sample in members if (value := sample.scores[name]) is not None]
        means[name] = sum(values) / len(values) if values else None
    return Summary(group, len(members), sum(sample.answer.outcome == "failed" for sample in members), means)
