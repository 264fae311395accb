"""A sentence that cites several abstracts: whether each of its clauses is said by one of them, about the same thing."""

import re
from collections.abc import Iterator, Sequence

from rag.support.contradictions import Finding
from rag.support.coverage import Coverage, Idf, cover
from rag.support.text import SentenceView, view_sentence

_CLAUSES = re.compile(r"[;:]\s|,?\s(?:while|whereas|but|although|and)\s", re.IGNORECASE)
_MIN_UNITS = 4
_MARGIN = 0.3
"""How much more of a clause another abstract must say than the one that has its name."""
_SAID = 0.5


def clauses(sentence: str) -> tuple[str, ...]:
    """The clauses of a sentence that are long enough to be checked alone; the sentence itself where not two are."""
    parts = [part for part in _CLAUSES.split(sentence) if len(view_sentence(part).units) >= _MIN_UNITS]
    return tuple(parts) if len(parts) > 1 else (sentence,)


def find_mixed(parts: Sequence[str], *, abstracts: Sequence[Sequence[SentenceView]], idf: Idf) -> Iterator[Finding]:
    """Clauses whose name is of one cited abstract and whose words are of another."""
    for part in parts:
        claim = view_sentence(part)
        coverages = [cover(claim, sentences, idf=idf) for sentences in abstracts]
        for index, token in enumerate(claim.units):
            if not token.is_name:
                continue
            has_name = [coverage.found[index] >= 1.0 for coverage in coverages]
            if not any(has_name) or all(has_name):
                continue
            with_name = max(_rest(c) for c, has in zip(coverages, has_name, strict=True) if has)
            without = max(_rest(c) for c, has in zip(coverages, has_name, strict=True) if not has)
            if without >= _SAID and without >= with_name + _MARGIN:
                yield Finding("mixed", f"what it says of {token.surface} is said of something else in another abstract")
                return


def _rest(coverage: Coverage) -> float:
    """The share of a clause's weight, without its names, that an abstract says."""
    pairs = [
        (weight, found)
        for token, weight, found in zip(coverage.claim.units, coverage.weights, coverage.found, strict=True)
        if not token.is_name
    ]
    total = sum(weight for weight, _ in pairs)
    return sum(weight * found for weight, found in pairs) / total if total else 0.0
