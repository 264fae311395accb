"""Values for tests, with defaults for all that a test does not care about."""

from collections.abc import Mapping

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


def answer(question: str = "What are memory traces?", **fields: object) -> Answer:
    """An answer of one supported sentence that cites the first sentence of `paper()`."""
    cited = paper()
    span = Span(0, cited.abstract.index(".") + 1)
    said = cited.abstract[span.start : span.end]
    values: dict[str, object] = {
        "searched": question,
        "outcome": "answered",
        "text": f"{said} [1]",
        "sentences": (AnswerSentence(said, (1,), "supported", "", ((span,),)),),
        "markers": (Marker(Span(len(said) + 1, len(said) + 4), 1),),
        "citations": (Citation(1, cited, (Evidence(said, span),)),),
        "retrieved": (scored(cited),),
        "writer": "extractive",
        "model": None,
        "prompt": None,
        "usage": Usage(),
        "timings": Timings(1.0, 2.0, 3.0),
    }
    return Answer(question=question, **{**values, **fields})  # type: ignore[arg-type]
