"""How far a question reaches: what is searched for, how many papers are read, who answers, what is said of it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from rag.clarifying import is_general
from rag.many import Many
from rag.questions import Question, read_question
from rag.record import RecordWriter
from rag.scoping import Scope

if TYPE_CHECKING:
    from rag.answering import Writer
    from rag.corpus import Corpus

LIST_PAPERS, COUNT_PAPERS = 30, 100
"""Papers that are looked at for a list and for a count, at least."""


def read_in_scope(text: str, scope: Scope, *, own: str, corpus: "Corpus") -> Question:
    """The question `text`, which is asked of the papers in `scope`; `own` is what the user wrote of it."""
    question = replace(read_question(text, topic=scope.topic), own=own)
    if scope.lists_all and not question.lists:
        question = replace(question, many=Many("list"))
    if not question.lists or question.many.items or not (scope.lists_all or not question.many.subject):
        return question
    total = len(corpus) if scope.allowed is None else int(scope.allowed.sum())
    return replace(question, many=question.many._replace(subject="", parts=()), total=total)


def to_search(question: Question) -> str:
    """The words to search by: of questions for lists and records those that tell which papers."""
    subject = question.record.subject if question.record else question.many.subject
    return subject or question.text


def papers_to_read(question: Question, *, k: int) -> int:
    """How many papers are retrieved: more than `k` where many may belong into the answer, or none is meant."""
    if question.many.form == "count":
        return max(k, COUNT_PAPERS)
    return max(k, LIST_PAPERS) if question.lists or is_general(question.english) else k


def writer_for(question: Question, *, prose: "Writer", rows: "Writer | None") -> "Writer":
    """Who answers: the record, for a question that it holds the answer to, else the writer for the answer's form."""
    if question.record:
        return RecordWriter(question.record)
    return prose if rows is None or question.many.form == "prose" else rows


def notes_on(
    question: Question, scope: Scope, *, read: int, corpus: "Corpus", misspelt: Mapping[str, str]
) -> tuple[str, ...]:
    """What a reader should know of the search: typing errors, filters, and for lists how much was looked at."""
    notes = [f"Read {', '.join(f'“{word}” as “{meant}”' for word, meant in misspelt.items())}."] if misspelt else []
    notes += [scope.note] if scope.note else []
    if question.lists and question.total is None:
        total = len(corpus) if scope.allowed is None else int(scope.allowed.sum())
        which = "in the corpus" if scope.allowed is None else "that pass the filters"
        notes.append(f"Looked at {read:,} of {total:,} papers {which}.")
        if question.many.form == "count":
            notes.append("The count is of papers that were found; it does not prove that there are no others.")
    return tuple(notes)
