"""The path of a question, top to bottom: resolve, retrieve, rank sentences, write, number the citations, check."""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import log
from typing import Protocol

from rag.abstention import bears_on
from rag.assembly import Assembled, Numbering, assemble, insert_citations
from rag.cleaning import without_invisible
from rag.corpus import Corpus
from rag.domain import (
    Abstained,
    Answer,
    AnswerSentence,
    Citation,
    Cite,
    Cited,
    Event,
    Evidence,
    Finished,
    Note,
    Outcome,
    Paper,
    Piece,
    Quote,
    Retrieved,
    ScoredPaper,
    Source,
    Span,
    TextPart,
    Timings,
    Turn,
    Usage,
)
from rag.embedding import Embedder
from rag.errors import CitewiseError
from rag.evidence import rank_sentences
from rag.filters import Filters
from rag.followup import Rewriter, leans_on_history, standalone_question
from rag.judging import Judge, Verdicts, apply_verdicts, judge_support
from rag.keyword import analyze
from rag.questions import Question, read_question
from rag.retrieval import HybridRetriever
from rag.revising import Reviser, drop_unsupported, revise, total_usage
from rag.scoping import Scope, scope_question
from rag.support import best_citations, check_support

LONGEST_ACRONYM = 3
DISTINCTIVE_PAPERS = 2
DISTINCTIVE_SHARE = 0.001
"""A name that at most this many papers, or this share of them, hold tells which paper is meant."""
REWRITE_SHARE = 1 / 3
"""Share of a question's time that restating it may take, so that a model that hangs leaves time for the answer."""


class Writer(Protocol):
    """Who writes the answer. `model` and `prompt` are None for a writer that has none."""

    name: str

    @property
    def model(self) -> str | None: ...

    @property
    def prompt(self) -> str | None: ...

    def write(
        self, question: Question, *, sources: Sequence[Source], history: Sequence[Turn], until: float
    ) -> Iterator[Piece]:
        """The pieces of the answer as they come, by `until` (in `time.monotonic`) where a model writes them.

        Raises CitewiseError, also amid the pieces.
        """
        ...


@dataclass(slots=True)
class _Draft:
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


def answer_question(
    question: str,
    *,
    history: Sequence[Turn],
    corpus: Corpus,
    embedder: Embedder,
    retriever: HybridRetriever,
    writer: Writer,
    k: int,
    deadline: float,
    filters: Filters | None = None,
    rewriter: Rewriter | None = None,
    reviser: Reviser | None = None,
    judge: Judge | None = None,
    drops_unsupported: bool = False,
) -> Iterator[Event]:
    """Retrieved, then TextPart and Cited as the answer comes, then exactly one Finished, whatever happens.

    Empty TextParts, also in front of Retrieved, give the consumer control while a model is silent. A fault of the
    writer ends in an answer whose outcome is "failed", which keeps the text that had come before; so does one of the
    endpoint that embeds, without Retrieved. What is revised or dropped after the check is seen in Finished alone.
    Without `filters`, those that the question names are taken. All calls to a model together take `deadline` seconds
    at most, the one that restates the question a third of them.
    """
    draft = _Draft(question, standalone_question(question, history), time.perf_counter())
    until = time.monotonic() + deadline
    if rewriter and history and leans_on_history(question):
        yield from _rewrite(draft, history, rewriter=rewriter, until=until - deadline * (1 - REWRITE_SHARE))
    scope = scope_question(draft.searched, corpus=corpus, filters=filters)
    draft.notes = (scope.note,) if scope.note else ()
    asked = read_question(draft.searched)
    try:
        draft.retrieved = retriever.search(draft.searched, k=k, allowed=scope.allowed)
        draft.sources = find_evidence(asked, draft.retrieved, corpus=corpus, embedder=embedder)
    except CitewiseError as error:
        yield Finished(_failed(draft, error, writer=writer, corpus=corpus))
        return
    draft.retrieve_ms = draft.milliseconds()
    yield Retrieved(draft.searched, draft.retrieved)
    if not _bears_on(draft, scope, corpus=corpus):
        yield Finished(_finish(draft, "not_in_corpus", writer=writer, corpus=corpus))
        return
    try:
        yield from _write(draft, asked, writer=writer, history=history, until=until)
    except CitewiseError as error:
        yield Finished(_failed(draft, error, writer=writer, corpus=corpus))
        return

    def check(pieces: Sequence[Piece]) -> Answer:
        abstained = any(isinstance(piece, Abstained) for piece in pieces)
        outcome: Outcome = "not_in_corpus" if abstained else "answered"
        checked = _finish(replace(draft, pieces=list(pieces)), outcome, writer=writer, corpus=corpus)
        return apply_verdicts(checked, verdicts)

    verdicts: Verdicts = {}
    if reviser:
        draft.pieces = yield from revise(
            draft.pieces, question=asked.text, sources=draft.sources, reviser=reviser, check=check, until=until
        )
    if judge:
        verdicts, remarks = yield from judge_support(check(draft.pieces), judge=judge, until=until)
        draft.pieces += remarks
    if drops_unsupported:
        draft.pieces = drop_unsupported(draft.pieces, check=check)
    yield Finished(check(draft.pieces))


def _bears_on(draft: _Draft, scope: Scope, *, corpus: Corpus) -> bool:
    """Whether what was retrieved bears on the question; what the filters say already is no part of it."""
    if scope.lists_all and draft.sources:
        return True
    topic = read_question(scope.topic)
    return bears_on(topic, draft.sources, retrieved=draft.retrieved, idf=corpus.keyword.idf)


def _rewrite(draft: _Draft, history: Sequence[Turn], *, rewriter: Rewriter, until: float) -> Iterator[Event]:
    """Lets the rewriter restate the question; where it cannot, what was to be searched for stays."""
    for item in rewriter.rewrite(draft.question, history, until=until):
        if isinstance(item, Usage):
            draft.pieces.append(item)
        elif item:
            draft.searched = item
        else:
            yield TextPart("")


def find_evidence(
    question: Question, papers: Sequence[ScoredPaper], *, corpus: Corpus, embedder: Embedder
) -> tuple[Source, ...]:
    """The retrieved papers as numbered sources, their sentences ranked by how likely they hold what is asked."""
    vectors = embedder.embed(question.texts)
    distinctive = {name for name in question.names if _is_distinctive(name, corpus)}
    sources = []
    for number, scored in enumerate(papers, start=1):
        row = corpus.row_of(scored.paper.paper_id)
        if row is None:
            raise ValueError(f"retrieved paper {scored.paper.paper_id} is not in corpus {corpus.name}")
        paper = scored.paper
        cosines = vectors @ corpus.sentence_vectors(row).T
        terms = set(analyze(f"{paper.title} {paper.abstract}"))
        named = frozenset(name for name in distinctive if set(analyze(name)) <= terms)
        sources.append(
            Source(number, paper, rank_sentences(question, paper.abstract, cosines=cosines), scored.score, named)
        )
    return tuple(sources)


def _is_distinctive(name: str, corpus: Corpus) -> bool:
    """Whether at most a few papers hold `name`, judged by the rarest of its terms. RL and GPU are fields, not names."""
    if len(name) <= LONGEST_ACRONYM and name.isupper():
        return False
    papers = len(corpus)
    few = max(DISTINCTIVE_PAPERS, papers * DISTINCTIVE_SHARE)
    least = log(1 + (papers - few + 0.5) / (few + 0.5))  # the idf of a term that `few` papers hold
    return max((corpus.keyword.idf(term) for term in analyze(name)), default=0.0) >= least - 1e-9


def _write(draft: _Draft, asked: Question, *, writer: Writer, history: Sequence[Turn], until: float) -> Iterator[Event]:
    """Lets the writer write, keeps its pieces and passes them on, numbered for the reader."""
    numbering = Numbering()
    papers = {source.number: source.paper for source in draft.sources}
    for piece in writer.write(asked, sources=draft.sources, history=history, until=until):
        if isinstance(piece, Quote):
            piece = Quote(without_invisible(piece.text))
        draft.pieces.append(piece)
        if piece and isinstance(piece, str | Quote | Cite) and draft.first_token_ms is None:
            draft.first_token_ms = draft.milliseconds()
        if isinstance(piece, str):
            yield TextPart(piece)
        elif isinstance(piece, Quote):
            yield TextPart(piece.text)
        elif isinstance(piece, Cite):
            yield Cited(numbering.number_of(piece.source), papers[piece.source])


def _failed(draft: _Draft, error: CitewiseError, *, writer: Writer, corpus: Corpus) -> Answer:
    """The answer as far as it came, with what stopped it."""
    answer = _finish(draft, "failed", writer=writer, corpus=corpus)
    return replace(answer, problem=error.problem, fix=error.fix)


def _finish(draft: _Draft, outcome: Outcome, *, writer: Writer, corpus: Corpus) -> Answer:
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
        verdict = check_support(
            sentence.text,
            abstracts=[paper.abstract for paper in cited],
            idf=corpus.keyword.idf,
            known=[text for paper in cited for text in (paper.title, *paper.authors, str(paper.year or ""))],
        )
        checked = AnswerSentence(sentence.text, sentence.numbers, verdict.support, verdict.reason, verdict.evidence)
        sentences.append(checked)
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
        notes=(*draft.notes, *(piece.text for piece in draft.pieces if isinstance(piece, Note)), *_notes_on(added)),
    )


def _verified_citations(
    assembled: Assembled, papers: Mapping[int, Paper], *, corpus: Corpus
) -> dict[int, tuple[int, ...]]:
    """Sources for the sentences that cite none, by where they end: only those that the check finds to support them."""
    numbers, abstracts = tuple(papers), [paper.abstract for paper in papers.values()]
    found = {}
    for sentence in assembled.sentences:
        places = () if sentence.sources else best_citations(sentence.text, abstracts, idf=corpus.keyword.idf)
        if places:
            found[sentence.end] = tuple(numbers[place] for place in places)
    return found


def _notes_on(added: Mapping[int, Sequence[int]]) -> list[str]:
    note = f"{len(added)} sentence(s) came without a citation; citewise added those that it could verify."
    return [note] if added else []


def _evidence(abstract: str, spans: Iterable[Span]) -> tuple[Evidence, ...]:
    return tuple(Evidence(abstract[span.start : span.end], span) for span in spans)
