"""Which papers a question is asked of: those that pass the filters that are given, or that its words name."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag.corpus import Corpus
from rag.filter_words import asks_only_for_papers, filters_in
from rag.filters import Filters, describe

HOW_TO_SEARCH_ALL = " (say --no-filters to search all)"
"""What a note on filters that were read from a question says to users of the command line."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The papers that are searched. `allowed` has a flag a row, None where all are searched.

    `topic` is the question without the words that became filters. `lists_all` is set where it has no subject beside
    them: then every paper that is left bears on it. `note` tells a reader of the filters, None where there are none.
    """

    filters: Filters
    allowed: NDArray[np.bool_] | None
    topic: str
    lists_all: bool = False
    note: str | None = None


def scope_question(question: str, *, corpus: Corpus, filters: Filters | None) -> Scope:
    """The scope of `question`: by `filters`, or, where these are None, by those that its words name.

    Empty filters search every paper, whatever the question says.
    """
    read = filters_in(question, facts=lambda: corpus.facets) if filters is None else None
    chosen, topic = (read.filters, read.topic) if read else (filters or Filters(), question)
    if chosen.is_empty:
        return Scope(chosen, None, question)
    allowed = corpus.facets.allowed(chosen)
    note = _note(chosen, found=bool(allowed.any()), is_read=read is not None)
    return Scope(chosen, allowed, topic, asks_only_for_papers(topic), note)


def _note(filters: Filters, *, found: bool, is_read: bool) -> str:
    told = f"Searched only papers {describe(filters)}" if found else f"The corpus has no papers {describe(filters)}"
    return f"{told}{HOW_TO_SEARCH_ALL}." if is_read else f"{told}."
