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
_LIST_REACH = 3


def clauses(sentence: str) -> tuple[str, ...]:
    """The clauses of a sentence that are long enough to be checked alone; the sentence itself where not two are."""
    parts = [part for part in _CLAUSES.split(sentence) if len(view_sentence(part).units) >= _MIN_UNITS]
    return tuple(parts) if len(parts) > 1 else (sentence,)


def find_mixed(parts: Sequence[str], *, abstracts: Sequence[Sequence[SentenceView]], idf: Idf) -> Iterator[Finding]:
    """Clauses whose first name is of one cited abstract and whose other words are of another.

    A list of names ("A and B ...") speaks of several abstracts and is passed over.
    """
    for part in parts:
        claim = view_sentence(part)
        coverages = [cover(claim, sentences, idf=idf) for sentences in abstracts]
        owners = {
            index: [coverage.found[index] >= _SAID for coverage in coverages]
            for index, token in enumerate(claim.units)
            if token.is_name
        }
        telling = [index for index, has in owners.items() if any(has) and not all(has)]
        if not telling:
            continue
        subject = telling[0]
        others = [index for index in telling if owners[index] != owners[subject]]
        if len(others) > 1 or any(index <= subject + _LIST_REACH for index in others):
            continue
        with_name = max(_rest(c) for c, has in zip(coverages, owners[subject], strict=True) if has)
        without = max(_rest(c) for c, has in zip(coverages, owners[subject], strict=True) if not has)
        if without >= _SAID and without >= with_name + _MARGIN:
            yield Finding("mixed", f"the cited abstract with {claim.units[subject].surface} says something else of it")


def _rest(coverage: Coverage) -> float:
    """The share of a clause's weight, without its names, that an abstract says."""
    pairs = [
        (weight, found)
        for token, weight, found in zip(coverage.claim.units, coverage.weights, coverage.found, strict=True)
        if not token.is_name
    ]
    total = sum(weight for weight, _ in pairs)
    return sum(weight * found for weight, found in pairs) / total if total else 0.0
