"""Near terms for a query term that no paper has: a misspelt name, a cognate, a compound of another language."""

from collections.abc import Callable, Container, Iterable, Mapping
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    import bm25s

MIN_LENGTH = 4
"""Shorter terms are near too many others."""
_TERMS = "terms.txt"
_NGRAM = 3
CANDIDATES = 24
LEAST_SHARED = 0.4
"""Candidates score at least so much of the best one: it spares sorting a vocabulary of half a million terms."""
_POSITIVE = 1e-6
MAX_TERMS = 24
"""Unknown terms of one query that are looked up: a bound on the time that a pasted foreign text may take."""
LEAST_SIMILARITY = 0.75
FREE_ENDING, ENDING_COST = 3, 0.25
"""An ending that the stemmer did not know ("contrastv", "theoretisch"): its characters cost a quarter of an edit."""
MIN_COMPOUND, MIN_PART = 8, 5
PART_WEIGHT = 0.5
"""A known term inside an unknown compound ("Datenaugmentierung") counts half of what the term itself would."""


class NearTerm(NamedTuple):
    """A term of the index and how much it counts for the query's own, 0 < weight < 1."""

    term: str
    weight: float


class FuzzyTerms:
    """Finds index terms near to unknown ones: candidates by shared character n-grams, judged by edit distance."""

    def __init__(self, grams: "bm25s.BM25", terms: Callable[[], list[str]], *vocabularies: Container[str]) -> None:
        self._grams, self._read_terms, self._vocabularies = grams, terms, vocabularies

    @classmethod
    def build(cls, *vocabularies: Mapping[str, int]) -> "FuzzyTerms":
        """Index the character n-grams of the terms of `vocabularies` that are words."""
        import bm25s

        terms = [term for term in dict.fromkeys(chain.from_iterable(vocabularies)) if _is_word(term)]
        numbers: dict[str, int] = {"": 0}
        texts = [[numbers.setdefault(gram, len(numbers)) for gram in _character_ngrams(term)] for term in terms]
        index = bm25s.BM25(k1=0.5, b=1.0, method="lucene", csc_backend="numpy")
        index.index((texts or [[0]], numbers), show_progress=False)
        return cls(index, lambda: terms, *vocabularies)

    def save(self, folder: Path) -> None:
        """Write the n-gram index and its terms into `folder`; the vocabularies belong to others."""
        self._grams.save(folder, show_progress=False)
        (folder / _TERMS).write_text("\n".join(self._terms), encoding="ascii")

    @classmethod
    def load(cls, folder: Path, *vocabularies: Container[str]) -> "FuzzyTerms":
        """Open what `save` wrote, with the same vocabularies."""
        import bm25s

        grams = bm25s.BM25.load(folder, mmap=True, show_progress=False)
        return cls(grams, lambda: (folder / _TERMS).read_text(encoding="ascii").split("\n"), *vocabularies)

    @cached_property
    def _terms(self) -> list[str]:
        """The terms by the rows of the n-gram index; read when first needed, as most queries need none."""
        return self._read_terms()

    def _is_known(self, term: str) -> bool:
        return any(term in vocabulary for vocabulary in self._vocabularies)

    def near(self, terms: Iterable[str]) -> list[NearTerm]:
        """For each unknown one of `terms`, the index term next to it, or the parts of it that are index terms.

        A term that is known, short, not a word or near to nothing gives nothing.
        """
        unknown = dict.fromkeys(term for term in terms if _is_word(term) and not self._is_known(term))
        return [near for term in list(unknown)[:MAX_TERMS] for near in self._nearest(term) or self._parts(term)]

    def _nearest(self, term: str) -> list[NearTerm]:
        scores = self._grams.get_scores_from_ids(self._grams.get_tokens_ids(_character_ngrams(term)))
        rows = np.flatnonzero(scores >= max(LEAST_SHARED * float(scores.max()), _POSITIVE))
        best = rows[np.argsort(-scores[rows], kind="stable")[:CANDIDATES]]
        judged = [(similarity(term, self._terms[row]), self._terms[row]) for row in best.tolist()]
        if not judged:
            return []
        likeness, word = max(judged, key=lambda pair: (pair[0], pair[1]))
        return [NearTerm(word, likeness**2)] if likeness >= LEAST_SIMILARITY else []

    def _parts(self, term: str) -> list[NearTerm]:
        if len(term) < MIN_COMPOUND:
            return []
        found: list[str] = []
        for length in range(len(term) - 1, MIN_PART - 1, -1):
            for start in range(len(term) - length + 1):
                part = term[start : start + length]
                if self._is_known(part) and not any(part in longer for longer in found):
                    found.append(part)
        return [NearTerm(part, PART_WEIGHT) for part in found]


def similarity(term: str, known: str) -> float:
    """1 - optimal string alignment distance / length of `term`; an unmatched ending of `term` costs less.

    The distance counts insertions, deletions, substitutions and swaps of neighbours (Damerau 1964; each pair of
    characters is swapped at most once).
    """
    before_last: list[float] = []
    last = [float(column) for column in range(len(known) + 1)]
    best = float("inf")
    for row, character in enumerate(term, start=1):
        current = [float(row)]
        for column, other in enumerate(known, start=1):
            cost = min(last[column] + 1, current[-1] + 1, last[column - 1] + (character != other))
            if row > 1 and column > 1 and character == known[column - 2] and term[row - 2] == other:
                cost = min(cost, before_last[column - 2] + 1)
            current.append(cost)
        before_last, last = last, current
        left = len(term) - row
        if left <= FREE_ENDING:
            best = min(best, last[-1] + ENDING_COST * left)
    return max(0.0, 1 - best / len(term)) if term else 0.0


def _is_word(term: str) -> bool:
    return len(term) >= MIN_LENGTH and term.isascii() and term.isalpha()


def _character_ngrams(term: str) -> list[str]:
    marked = f"^{term}$"
    return [marked[start : start + _NGRAM] for start in range(len(marked) - _NGRAM + 1)]
