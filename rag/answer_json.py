"""Answers and search results as JSON objects: what `--json`, the API, exports and kept conversations hold."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, get_args

from rag.domain import (
    Answer,
    AnswerSentence,
    Citation,
    Evidence,
    Marker,
    Outcome,
    Paper,
    ScoredPaper,
    Span,
    Support,
    Timings,
    Usage,
)
from rag.errors import InputError
from rag.records import from_record, record_of


def answer_to_dict(answer: Answer, *, question_id: str | None = None) -> dict[str, Any]:
    """The answer as a JSON object. `evidence` holds character offsets into the abstract, `end` exclusive."""
    value: dict[str, Any] = {} if question_id is None else {"id": question_id}
    value |= {
        "question": answer.question,
        "searched": answer.searched,
        "outcome": answer.outcome,
        "answer": answer.text,
        "sentences": [
            {
                "text": sentence.text,
                "citations": list(sentence.citations),
                "support": sentence.support,
                "reason": sentence.reason,
                "label": sentence.label,
            }
            for sentence in answer.sentences
        ],
        "citations": [
            {
                "n": citation.number,
                "paper_id": citation.paper.paper_id,
                "title": citation.paper.title,
                "authors": list(citation.paper.authors),
                "url": citation.paper.url,
                "evidence": [
                    {"sentence": item.sentence, "start": item.span.start, "end": item.span.end}
                    for item in citation.evidence
                ],
            }
            for citation in answer.citations
        ],
        "retrieved": [
            {"paper_id": item.paper.paper_id, "title": item.paper.title, "score": round(item.score, 4)}
            for item in answer.retrieved
        ],
        "writer": answer.writer,
        "model": answer.model,
        "prompt": answer.prompt,
        "usage": {
            "prompt_tokens": answer.usage.prompt_tokens,
            "completion_tokens": answer.usage.completion_tokens,
            "calls": answer.usage.calls,
        },
        "timings": {
            "retrieve_ms": _rounded(answer.timings.retrieve_ms),
            "first_token_ms": _rounded(answer.timings.first_token_ms),
            "total_ms": _rounded(answer.timings.total_ms),
        },
        "removed_markers": answer.removed_markers,
        "notes": list(answer.notes),
    }
    if answer.outcome == "needs_detail":
        value["options"] = list(answer.options)
    if answer.problem is not None:
        value["error"] = {"problem": answer.problem, "fix": answer.fix}
    return value


def whole_answer_to_dict(answer: Answer) -> dict[str, Any]:
    """The same with all that the answer holds, its papers and their abstracts too: `answer_from_dict` reads it back.

    Beyond `answer_to_dict`: `papers` by id, the `markers` as [start, end, number], of each sentence the `evidence` of
    each of its citations as [start, end], the `stages` of what was retrieved; no number is rounded.
    """
    value = answer_to_dict(answer)
    papers = [citation.paper for citation in answer.citations] + [hit.paper for hit in answer.retrieved]
    value["papers"] = {paper.paper_id: record_of(paper) for paper in papers}
    value["options"] = list(answer.options)
    value["markers"] = [[*marker.span, marker.number] for marker in answer.markers]
    for kept, sentence in zip(value["sentences"], answer.sentences, strict=True):
        kept["evidence"] = [[list(span) for span in spans] for spans in sentence.evidence]
    for found, hit in zip(value["retrieved"], answer.retrieved, strict=True):
        found |= {"score": hit.score, "stages": dict(hit.stages)}
    timings = answer.timings
    value["timings"] = {
        "retrieve_ms": timings.retrieve_ms,
        "first_token_ms": timings.first_token_ms,
        "total_ms": timings.total_ms,
    }
    return value


def answer_from_dict(value: Mapping[str, Any]) -> Answer:
    """The answer that `whole_answer_to_dict` wrote. Raises InputError where it is damaged or holds less."""
    try:
        return _read_answer(value, {key: from_record(record) for key, record in value["papers"].items()})
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise InputError("A kept answer cannot be read: it is damaged.", fix="Ask its question again.") from error


def _read_answer(value: Mapping[str, Any], papers: Mapping[str, Paper]) -> Answer:
    error = value.get("error") or {}
    if value["outcome"] not in get_args(Outcome):
        raise ValueError(value["outcome"])
    return Answer(
        question=str(value["question"]),
        searched=str(value["searched"]),
        outcome=value["outcome"],
        text=str(value["answer"]),
        sentences=tuple(_read_sentence(item) for item in value["sentences"]),
        markers=tuple(Marker(Span(start, end), number) for start, end, number in value["markers"]),
        citations=tuple(_read_citation(item, papers) for item in value["citations"]),
        retrieved=tuple(
            ScoredPaper(papers[item["paper_id"]], item["score"], item["stages"]) for item in value["retrieved"]
        ),
        writer=value["writer"],
        model=value["model"],
        prompt=value["prompt"],
        usage=Usage(**value["usage"]),
        timings=Timings(**value["timings"]),
        removed_markers=value["removed_markers"],
        notes=tuple(value["notes"]),
        problem=error.get("problem"),
        fix=error.get("fix"),
        options=tuple(value["options"]),
    )


def _read_sentence(item: Mapping[str, Any]) -> AnswerSentence:
    if item["support"] not in get_args(Support):
        raise ValueError(item["support"])
    evidence = tuple(tuple(Span(*span) for span in spans) for spans in item["evidence"])
    return AnswerSentence(
        item["text"], tuple(item["citations"]), item["support"], item["reason"], evidence, item["label"]
    )


def _read_citation(item: Mapping[str, Any], papers: Mapping[str, Paper]) -> Citation:
    evidence: Sequence[Mapping[str, Any]] = item["evidence"]
    return Citation(
        item["n"],
        papers[item["paper_id"]],
        tuple(Evidence(found["sentence"], Span(found["start"], found["end"])) for found in evidence),
    )


def scored_paper_to_dict(scored: ScoredPaper) -> dict[str, Any]:
    """A search result as a JSON object, with the raw score of each stage."""
    paper = scored.paper
    return {
        "paper_id": paper.paper_id,
        "title": paper.title,
        "authors": list(paper.authors),
        "year": paper.year,
        "venue": paper.venue,
        "url": paper.url,
        "score": round(scored.score, 4),
        "stages": {name: round(score, 4) for name, score in scored.stages.items()},
        "abstract": paper.abstract,
    }


def dump(value: object) -> str:
    """`value` as one line of JSON."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _rounded(milliseconds: float | None) -> float | None:
    return None if milliseconds is None else round(milliseconds, 1)
