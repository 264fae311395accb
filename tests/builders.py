"""Values for tests, with defaults for all that a test does not care about."""

from collections.abc import Mapping

from rag.domain import Answer, Paper, ScoredPaper, Timings, Usage


def paper(paper_id: str = "p1", **fields: object) -> Paper:
    """A paper with a title, two authors and a two-sentence abstract."""
    values: dict[str, object] = {
        "title": "Memory Traces",
        "authors": ("Ada Lovelace", "Alan Turing"),
        "abstract": "Memory traces are moving averages of observations. They need 22.3% less data than windows.",
        "url": f"https://openreview.net/forum?id={paper_id}",
        "year": 2025,
        "venue": "ICML 2025",
    }
    return Paper(paper_id=paper_id, **{**values, **fields})  # type: ignore[arg-type]


def scored(paper_: Paper, *, score: float = 0.9, stages: Mapping[str, float] | None = None) -> ScoredPaper:
    """A retrieved paper."""
    return ScoredPaper(paper=paper_, score=score, stages=stages or {"keyword": 5.0, "dense": 0.6})


def answer(**fields: object) -> Answer:
    """An answered question without a sentence."""
    values: dict[str, object] = {
        "question": "What are memory traces?",
        "searched": "What are memory traces?",
        "outcome": "answered",
        "text": "",
        "sentences": (),
        "markers": (),
        "citations": (),
        "retrieved": (),
        "writer": "chat",
        "model": "scripted",
        "prompt": None,
        "usage": Usage(),
        "timings": Timings(),
    }
    return Answer(**{**values, **fields})  # type: ignore[arg-type]
