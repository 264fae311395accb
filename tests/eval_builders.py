"""Cases, answers and results for the tests of the harness, with defaults for all that a test does not care about."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from evals.cases.case import Case
from evals.results.loading import Results
from evals.scoring import Score
from rag.domain import Answer, AnswerSentence, Citation, Evidence, Marker, Outcome, Paper, Span, Timings, Usage
from tests.builders import paper, scored

TRACES = paper("right", title="Traces", abstract="Traces decay. They need 22.3% less data. The method is called CoLA.")
OTHER = paper("wrong", title="Windows", abstract="Windows forget everything that is older than ten steps.")


def nugget(*aliases: str, vital: bool = True, **fields: Any) -> dict[str, Any]:
    """A fact that is said by any of `aliases`."""
    return {"fact": aliases[0], "aliases": aliases, "all": (), "vital": vital, **fields}


def case(*nuggets: Mapping[str, Any], **fields: Any) -> Case:
    """A question about the paper "right"."""
    values: dict[str, Any] = {
        "case_id": "c",
        "kind": "single/method",
        "question": "q",
        "nuggets": nuggets,
        "papers": frozenset({"right"}),
        "cluster": "right",
    }
    return Case(**(values | fields))


UNANSWERABLE: dict[str, Any] = {"expected": "refuse", "papers": frozenset(), "kind": "unanswerable/near"}


def answer(*said: str | tuple[str, Sequence[int]], papers: Sequence[Paper] = (TRACES,), **fields: Any) -> Answer:
    """An answer of these sentences, each with the numbers that it cites ([1] where none are given) of `papers`."""
    sentences = [(item, (1,)) if isinstance(item, str) else item for item in said]
    cited = [number for _, numbers in sentences for number in numbers]
    values: dict[str, Any] = {
        "question": "q",
        "searched": "q",
        "outcome": "answered" if said else "not_in_corpus",
        "text": " ".join(text for text, _ in sentences),
        "sentences": tuple(AnswerSentence(text, tuple(numbers), "supported", "") for text, numbers in sentences),
        "markers": tuple(Marker(Span(0, 3), number) for number in cited),
        "citations": tuple(
            Citation(number, papers[number - 1], (Evidence(papers[number - 1].abstract[:13], Span(0, 13)),))
            for number in dict.fromkeys(cited)
            if number <= len(papers)
        ),
        "retrieved": tuple(scored(each) for each in (*papers, OTHER)),
        "writer": "chat",
        "model": "m",
        "prompt": "answer/v1@0",
        "usage": Usage(100, 20, 1),
        "timings": Timings(10.0, 20.0, 30.0),
    }
    return Answer(**(values | fields))


def failed(problem: str = "Cannot reach the model.") -> Answer:
    """An answer whose call failed after a sentence."""
    outcome: Outcome = "failed"
    return replace(answer("Traces decay."), outcome=outcome, problem=problem, fix="Start it.")


def results(scores: Mapping[str, Mapping[str, float | Score]], *, name: str = "run", **cases: Case) -> Results:
    """Results of cases, each a cluster of its own unless it is given."""
    known = {case_id: cases.get(case_id, case(case_id=case_id, cluster=case_id)) for case_id in scores}
    table = {
        (case_id, 0): {
            metric: value if isinstance(value, Score) else Score(value, f"{metric} is {value}")
            for metric, value in by_metric.items()
        }
        for case_id, by_metric in scores.items()
    }
    about = {"planned": len(scores), "identity": {"repeats": 1, "suite": "s"}}
    return Results(name, about, known, table, {})


def missing_status(score: Score | None) -> str:
    """The status of a score that has no value."""
    assert score is not None
    assert score.value is None
    return score.status
