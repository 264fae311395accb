"""The path of a question, top to bottom: resolve, retrieve, rank sentences, write, number the citations, check."""

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Protocol

from rag.abstention import bears_on, is_unread
from rag.assembly import Fixed, Numbering
from rag.bearing import LISTED
from rag.clarifying import Clarifier, asked_back_before, is_about, is_general, may_ask_back
from rag.cleaning import without_invisible
from rag.corpus import Corpus
from rag.domain import (
    Answer,
    Cite,
    Cited,
    Event,
    Finished,
    Label,
    Piece,
    Quote,
    Recorded,
    Retrieved,
    ScoredPaper,
    Source,
    TextPart,
    Turn,
    Usage,
)
from rag.drafting import Draft, failed, finish, outcome_of
from rag.embedding import Embedder
from rag.errors import CitewiseError
from rag.evidence import find_evidence
from rag.filters import Filters
from rag.followup import Rewriter, how_it_leans, leans_on_history, needs_rewriting, standalone_question
from rag.glossary import in_english
from rag.judging import Judge, Verdicts, apply_verdicts, judge_support
from rag.questions import Question, read_question
from rag.reach import notes_on, papers_to_read, read_in_scope, to_search, writer_for
from rag.referents import papers_of_turns, point_at
from rag.retrieval import HybridRetriever
from rag.revising import Reviser, drop_unsupported, revise
from rag.sampling import best_sample
from rag.scoping import Scope, scope_question
from rag.spelling import errors_in, respell
from rag.steering import WIDE, steer

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
    row_writer: Writer | None = None,
    rewriter: Rewriter | None = None,
    samples: int = 1,
    reviser: Reviser | None = None,
    judge: Judge | None = None,
    drops_unsupported: bool = False,
) -> Iterator[Event]:
    """Retrieved, then TextPart and Cited as the answer comes, then exactly one Finished, whatever happens.

    Empty TextParts, also in front of Retrieved, give the consumer control while a model is silent. A fault of the
    writer ends in an answer whose outcome is "failed", which keeps the text that had come before; so does one of the
    endpoint that embeds, without Retrieved. What is revised or dropped after the check is seen in Finished alone.
    Without `filters`, those that the question names are taken. `row_writer` writes lists and tables in place of
    `writer`; questions for a paper's record, and those that are asked back, need neither. With `samples` over 1 nothing
    is shown before the best of so many answers of a model is chosen. All calls to a model together take `deadline`
    seconds at most, the one that restates the question a third of them.
    """

    def find(text: str, k: int = k) -> Sequence[ScoredPaper]:
        return retriever.search(text, k=k)

    until = time.monotonic() + deadline
    draft = Draft(question, question, time.perf_counter())
    try:
        turns = papers_of_turns(history, find, leans=leans_on_history)
        lean = how_it_leans(question, history, found=find(question, k=WIDE) if turns else (), turns=turns)
    except CitewiseError as error:
        yield Finished(failed(draft, error, writer=writer, corpus=corpus))
        return
    draft.searched = by_words = standalone_question(question, history, lean=lean, turns=turns)
    if rewriter and needs_rewriting(question, history, lean=lean):
        yield from _rewrite(draft, history, rewriter=rewriter, until=until - deadline * (1 - REWRITE_SHARE))
        if draft.searched != by_words:
            turns = []  # the model has said what the question is about
    scope = scope_question(draft.searched, corpus=corpus, filters=filters)
    asked = read_in_scope(draft.searched, scope, own=question, corpus=corpus)
    writer = writer_for(asked, prose=writer, rows=row_writer)

    def search(asked: Question) -> tuple[ScoredPaper, ...]:
        wanted = papers_to_read(asked, k=k)
        found = retriever.search(to_search(asked), k=max(wanted, WIDE) if history else wanted, allowed=scope.allowed)
        if asked.lists or lean == "stands alone" or not turns:
            return found[:wanted]
        pointed = point_at(in_english(question), turns)
        return steer(found, lean=lean, turns=turns, pointed=pointed)[:wanted]

    try:
        draft.retrieved = search(asked)
        misspelt = errors_in(draft.searched, draft.retrieved, corpus=corpus)
        if misspelt:
            draft.searched = respell(draft.searched, misspelt)
            asked = read_in_scope(draft.searched, scope, own=respell(question, misspelt), corpus=corpus)
            draft.retrieved = search(asked)
        draft.sources = find_evidence(asked, draft.retrieved, corpus=corpus, embedder=embedder)
    except CitewiseError as error:
        yield Finished(failed(draft, error, writer=writer, corpus=corpus))
        return
    draft.notes = notes_on(asked, scope, read=len(draft.retrieved), corpus=corpus, misspelt=misspelt)
    draft.retrieve_ms = draft.milliseconds()
    yield Retrieved(draft.searched, draft.retrieved)
    if may_ask_back(asked, draft.sources, history=history) and not is_unread(asked):
        writer = Clarifier()
    elif not _bears_on(draft, asked, scope, history=history, corpus=corpus):
        yield Finished(finish(draft, "not_in_corpus", writer=writer, corpus=corpus))
        return

    verdicts: Verdicts = {}

    def check(pieces: Sequence[Piece]) -> Answer:
        checked = finish(replace(draft, pieces=list(pieces)), outcome_of(pieces), writer=writer, corpus=corpus)
        return apply_verdicts(checked, verdicts)

    def draw() -> Iterator[Piece]:
        return writer.write(asked, sources=draft.sources, history=history, until=until)

    try:
        pieces: Iterable[Piece] = draw()
        if samples > 1 and writer.prompt:
            pieces = yield from best_sample(draw, samples=samples, sources=draft.sources, check=check)
        yield from _show(draft, pieces)
    except CitewiseError as error:
        yield Finished(failed(draft, error, writer=writer, corpus=corpus))
        return
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


def _bears_on(draft: Draft, asked: Question, scope: Scope, *, history: Sequence[Turn], corpus: Corpus) -> bool:
    """Whether what was retrieved bears on the question; what the filters say already is no part of it."""
    leans = bool(history) and is_general(in_english(draft.question))  # "Where was it tested?" adds no topic
    if (asked.record or asked_back_before(history) or leans) and any(map(partial(is_about, asked), draft.sources)):
        return True
    if asked.lists and any((source.bears or 0.0) >= LISTED for source in draft.sources):
        return True
    topic = read_question(asked.record.subject if asked.record else scope.topic)
    return bears_on(topic, draft.sources, retrieved=draft.retrieved, idf=corpus.keyword.idf)


def _rewrite(draft: Draft, history: Sequence[Turn], *, rewriter: Rewriter, until: float) -> Iterator[Event]:
    """Lets the rewriter restate the question; where it cannot, what was to be searched for stays."""
    for item in rewriter.rewrite(draft.question, history, until=until):
        if isinstance(item, Usage):
            draft.pieces.append(item)
        elif item:
            draft.searched = item
        else:
            yield TextPart("")


def _show(draft: Draft, pieces: Iterable[Piece]) -> Iterator[Event]:
    """Keeps the pieces as they come and passes them on, numbered for the reader."""
    numbering = Numbering()
    papers = {source.number: source.paper for source in draft.sources}
    for piece in pieces:
        if isinstance(piece, Quote | Recorded | Label):
            piece = replace(piece, text=without_invisible(piece.text))
        draft.pieces.append(piece)
        if piece and isinstance(piece, str | Fixed | Cite) and draft.first_token_ms is None:
            draft.first_token_ms = draft.milliseconds()
        if isinstance(piece, str):
            yield TextPart(piece)
        elif isinstance(piece, Fixed):
            yield TextPart(piece.text)
        elif isinstance(piece, Cite):
            yield Cited(numbering.number_of(piece.source), papers[piece.source])
