"""Samples as JSON and back: an answer with all that scoring needs, its papers kept apart and once."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from rag.domain import (
    Answer,
    AnswerSentence,
    Citation,
    Evidence,
    Marker,
    Paper,
    ScoredPaper,
    Span,
    Timings,
    Usage,
)
from rag.errors import CitewiseError


@dataclass(frozen=True, slots=True)
class Calls:
    """The model calls of one sample: how many were sent now, how many came from the cache, what those sent cost.

    `dollars` is None where a price or a count of tokens is not known. `faults` are the kinds of those that failed.
    """

    sent: int = 0
    cached: int = 0
    dollars: float | None = 0.0
    faults: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Sample:
    """The answer to a case, asked for the `repeat`-th time (from 0)."""

    case_id: str
    repeat: int
    answer: Answer
    calls: Calls

    @property
    def key(self) -> tuple[str, int]:
        return self.case_id, self.repeat


def failed_answer(question: str, error: CitewiseError, *, writer: str) -> Answer:
    """The answer to a question that could not even be asked."""
    return Answer(
        question=question,
        searched=question,
        outcome="failed",
        text="",
        sentences=(),
        markers=(),
        citations=(),
        retrieved=(),
        writer=writer,
        model=None,
        prompt=None,
        usage=Usage(),
        timings=Timings(),
        problem=error.problem,
        fix=error.fix,
    )


def sample_record(sample: Sample) -> dict[str, Any]:
    """The sample as a JSON object; papers are named by id."""
    answer = sample.answer
    record = asdict(answer) | {
        "citations": [
            {"number": c.number, "paper": c.paper.paper_id, "evidence": [list(e.span) for e in c.evidence]}
            for c in answer.citations
        ],
        "retrieved": [[s.paper.paper_id, s.score, dict(s.stages)] for s in answer.retrieved],
        "markers": [[*m.span, m.number] for m in answer.markers],
    }
    return {"id": sample.case_id, "repeat": sample.repeat, "calls": asdict(sample.calls), "answer": record}


def sample_from(record: Mapping[str, Any], papers: Mapping[str, Paper]) -> Sample:
    """What `sample_record` gave. Raises KeyError, TypeError or ValueError for anything else."""
    stored = dict(record["answer"])
    citations = tuple(
        Citation(
            item["number"],
            papers[item["paper"]],
            tuple(_evidence(papers[item["paper"]], Span(*span)) for span in item["evidence"]),
        )
        for item in stored.pop("citations")
    )
    sentences = tuple(
        AnswerSentence(
            item["text"],
            tuple(item["citations"]),
            item["support"],
            item["reason"],
            tuple(tuple(Span(*span) for span in spans) for spans in item["evidence"]),
            item.get("label", ""),
        )
        for item in stored.pop("sentences")
    )
    answer = Answer(
        citations=citations,
        sentences=sentences,
        retrieved=tuple(ScoredPaper(papers[name], score, stages) for name, score, stages in stored.pop("retrieved")),
        markers=tuple(Marker(Span(start, end), number) for start, end, number in stored.pop("markers")),
        usage=Usage(**stored.pop("usage")),
        timings=Timings(**stored.pop("timings")),
        notes=tuple(stored.pop("notes")),
        options=tuple(stored.pop("options", ())),
        **stored,
    )
    calls = record["calls"]
    return Sample(record["id"], record["repeat"], answer, Calls(**(calls | {"faults": tuple(calls["faults"])})))


def papers_of(answer: Answer) -> Iterable[Paper]:
    """Every paper that the answer names."""
    yield from (scored.paper for scored in answer.retrieved)
    yield from (citation.paper for citation in answer.citations)


def _evidence(paper: Paper, span: Span) -> Evidence:
    return Evidence(paper.abstract[span.start : span.end], span)
