"""Answers and search results as JSON objects: what `--json`, the API and exports give."""

import json
from typing import Any

from rag.domain import Answer, ScoredPaper


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
