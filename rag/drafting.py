"""An answer while it is made, and what it comes to: its text numbered, cited and checked."""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from rag.assembly import Assembled, CitedSentence, assemble, insert_citations
from rag.corpus import Corpus
from rag.domain import (
    Abstained,
    Answer,
    AnswerSentence,
    AskedBack,
    Citation,
    Evidence,
    Note,
    Outcome,
    Paper,
    Piece,
    ScoredPaper,
    Source,
    Span,
    Timings,
)
from rag.errors import CitewiseError
from rag.revising import total_usage
from rag.support import Verdict, best_citations, check_support

if TYPE_CHECKING:
    from rag.answering import Writer


@dataclass(slots=True)
class Draft:
    """What is known of an answer while it is made."""

    question: str
    searched: str
    started: float
    retrieved: tuple[ScoredPaper, ...] = ()
    sources: tuple[Source, ...] = ()
    pieces: list[Piece] = field(default_factory=list)
    notes: tuple[str, ...] = ()
    retrieve_ms: float | None = None
    first_token_ms: float | None = None

    def milliseconds(self) -> float:
        return (time.perf_counter() - self.started) * 1000


def outcome_of(pieces: Sequence[Piece]) -> Outcome:
    """What the pieces of an answer that did not fail say came of the question."""
    if any(isinstance(piece, AskedBack) for piece in pieces):
        return "needs_detail"
    return "not_in_corpus" if any(isinstance(piece, Abstained) for piece in pieces) else "answered"


def failed(draft: Draft, error: CitewiseError, *, writer: "Writer", corpus: Corpus) -> Answer:
    """The answer as far as it came, with what stopped it."""
    answer = finish(draft, "failed", writer=writer, corpus=corpus)
    return replace(answer, problem=error.problem, fix=error.fix)


def finish(draft: Draft, outcome: Outcome, *, writer: "Writer", corpus: Corpus) -> Answer:
    """The answer from the draft's pieces: numbered, cited and checked."""
    papers = {source.number: source.paper for source in draft.sources}
    assembled = assemble(draft.pieces)
    added = _verified_citations(assembled, papers, corpus=corpus)
    if added:
        assembled = assemble(insert_citations(draft.pieces, added))
    sentences: list[AnswerSentence] = []
    evidence: dict[int, dict[Span, None]] = {number: {} for number, _ in enumerate(assembled.sources, start=1)}
    for sentence in assembled.sentences:
        cited = [papers[source] for source in sentence.sources]
        verdict = _verdict_on(sentence, cited, corpus=corpus)
        sentences.append(
            AnswerSentence(
                sentence.text, sentence.numbers, verdict.support, verdict.reason, verdict.evidence, sentence.label
            )
        )
        for number, spans in zip(sentence.numbers, verdict.evidence, strict=True):
            evidence[number].update(dict.fromkeys(spans))
    return Answer(
        question=draft.question,
        searched=draft.searched,
        outcome=outcome,
        text=assembled.text,
        sentences=tuple(sentences),
        markers=assembled.markers,
        citations=tuple(
            Citation(number, papers[source], _evidence(papers[source].abstract, evidence[number]))
            for number, source in enumerate(assembled.sources, start=1)
        ),
        retrieved=draft.retrieved,
        writer=writer.name,
        model=writer.model,
        prompt=writer.prompt,
        usage=total_usage(draft.pieces),
        timings=Timings(draft.retrieve_ms, draft.first_token_ms, draft.milliseconds()),
        removed_markers=assembled.removed_markers,
        options=next((piece.options for piece in draft.pieces if isinstance(piece, AskedBack)), ()),
        notes=(*draft.notes, *(piece.text for piece in draft.pieces if isinstance(piece, Note)), *_notes_on(added)),
    )


def _verdict_on(sentence: CitedSentence, cited: Sequence[Paper], *, corpus: Corpus) -> Verdict:
    if sentence.is_recorded:
        return Verdict("supported", 1.0, "from the record of the paper", ((),) * len(cited))
    return check_support(
        sentence.text,
        abstracts=[paper.abstract for paper in cited],
        idf=corpus.keyword.idf,
        known=[text for paper in cited for text in _known_of(paper)],
        labelled=bool(sentence.label),
    )


def _verified_citations(
    assembled: Assembled, papers: Mapping[int, Paper], *, corpus: Corpus
) -> dict[int, tuple[int, ...]]:
    """Sources for the sentences that cite none, by where they end: only those that the check finds to support them."""
    numbers, abstracts = tuple(papers), [paper.abstract for paper in papers.values()]
    known = [_known_of(paper) for paper in papers.values()]
    found = {}
    for sentence in assembled.sentences:
        if sentence.sources:
            continue
        if places := best_citations(sentence.text, abstracts, idf=corpus.keyword.idf, known=known):
            found[sentence.end] = tuple(numbers[place] for place in places)
    return found


def _known_of(paper: Paper) -> tuple[str, ...]:
    """What is known of a paper beside its abstract."""
    return paper.title, *paper.authors, str(paper.year or "")


def _notes_on(added: Mapping[int, Sequence[int]]) -> list[str]:
    note = f"{len(added)} sentence(s) came without a citation; citewise added those that it could verify."
    return [note] if added else []


def _evidence(abstract: str, spans: Iterable[Span]) -> tuple[Evidence, ...]:
    return tuple(Evidence(abstract[span.start : span.end], span) for span in spans)
