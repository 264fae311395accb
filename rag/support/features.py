"""What is measured of a sentence against its evidence: the inputs of the logistic model."""

import math
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from operator import mul
from typing import NamedTuple

from rag.support.contradictions import Finding
from rag.support.coverage import Coverage
from rag.support.text import SentenceView, Token


class Features(NamedTuple):
    """What the model looks at, each 0..1 but `length`. The window: the three best sentences; recall of none is 1."""

    best_sentence: float
    """Share of the weighted words in the best single sentence."""
    window: float
    """... in the window together."""
    abstract: float
    """... in all sentences."""
    plain: float
    """Share of the words in all sentences, each counted alike."""
    pairs: float
    """Share of neighbouring words that stand near each other in a sentence of the window."""
    subsequence: float
    """Longest common subsequence of words with a sentence of the window: ROUGE-L recall (Lin 2004)."""
    weakest_part: float
    """Least share of the weighted words of any five neighbours in the window: a part that nothing says."""
    weakest_in_one: float
    """... in any one sentence of the window."""
    names: float
    """Recall of what is written like a name."""
    capitalised: float
    """Recall of words with a capital that do not begin the sentence."""
    numbers: float
    """Recall of the numbers, spelled ones too."""
    missing_specifics: float
    """ln(1 + n) of the n numbers, names and words with a capital that the window does not have."""
    denied: float
    """Whether a negation stands on one side only, claim or best sentence."""
    opposed: float
    """Whether words of direction or opposites contradict each other."""
    length: float
    """Logarithm of the number of content words."""


def measure(coverage: Coverage, findings: Sequence[Finding]) -> Features:
    """The features of a claim against the sentences that it was looked up in."""
    claim, window = coverage.claim, [coverage.sentences[index] for index in coverage.window]
    found = coverage.found
    kinds = {finding.kind for finding in findings}
    numbers = [
        any(quantity.matches(other) for sentence in coverage.sentences for other in sentence.quantities)
        for quantity in claim.quantities
    ]
    return Features(
        best_sentence=coverage.of(coverage.window[:1]),
        window=coverage.of(coverage.window),
        abstract=coverage.of(range(len(coverage.sentences))),
        plain=_mean(found, empty=0.0),
        pairs=_pairs(claim, window),
        subsequence=max((_common_subsequence(claim, sentence) for sentence in window), default=0.0),
        weakest_part=_weakest_part(coverage, apart=False),
        weakest_in_one=_weakest_part(coverage, apart=True),
        names=_mean([f for token, f in zip(claim.units, found, strict=True) if token.is_name]),
        capitalised=_mean([f for token, f in _behind_first(claim, found) if token.surface[0].isupper()]),
        numbers=_mean([float(n) for n in numbers]),
        missing_specifics=math.log(1 + _missing_specifics(coverage)),
        denied=float(bool(window) and claim.denies != window[0].denies),
        opposed=float(bool(kinds & {"opposite", "direction", "swapped names", "swapped numbers", "count"})),
        length=math.log(1 + len(claim.content)),
    )


_FOUND = 0.5
_PART = 5
_PAIR_REACH = 4


def _mean(values: Sequence[float], *, empty: float = 1.0) -> float:
    return sum(values) / len(values) if values else empty


def _behind_first(claim: SentenceView, values: Sequence[float]) -> Iterator[tuple[Token, float]]:
    """The units with their values, but for the first: it has a capital anyway."""
    return islice(zip(claim.units, values, strict=True), 1, None)


def _missing_specifics(coverage: Coverage) -> int:
    rows = [coverage.strengths[index] for index in coverage.window]
    said = [max(strengths) for strengths in zip(*rows, strict=True)] if rows else [0.0] * len(coverage.weights)
    return sum(
        strength < _FOUND
        for place, (token, strength) in enumerate(zip(coverage.claim.units, said, strict=True))
        if token.quantity or token.is_name or (place > 0 and token.surface[0].isupper())
    )


def _weakest_part(coverage: Coverage, *, apart: bool) -> float:
    """The least that the window says of any `_PART` neighbouring words, in one sentence where `apart`."""
    rows = [coverage.strengths[index] for index in coverage.window]
    weights = coverage.weights
    if not rows or not weights:
        return 0.0
    together = tuple(map(max, zip(*rows, strict=True)))
    shares: list[float] = []
    for start in range(max(1, len(weights) - _PART + 1)):
        part = slice(start, start + _PART)
        said = (sum(map(mul, weights[part], row[part])) for row in (rows if apart else [together]))
        shares.append(max(said) / sum(weights[part]))
    return min(shares)


def _pairs(claim: SentenceView, window: list[SentenceView]) -> float:
    terms = [token.terms[0] for token in claim.content]
    near = 0
    for first, second in pairwise(terms):
        near += any(
            abs(i - j) <= _PAIR_REACH
            for sentence in window
            for i in sentence.places.get(first, ())
            for j in sentence.places.get(second, ())
        )
    return near / (len(terms) - 1) if len(terms) > 1 else 0.0


def _common_subsequence(claim: SentenceView, sentence: SentenceView) -> float:
    one = [token.terms[0] for token in claim.content]
    other = [token.terms[0] for token in sentence.content]
    row = [0] * (len(other) + 1)
    for term in one:
        diagonal = 0
        for j, candidate in enumerate(other, start=1):
            diagonal, row[j] = row[j], diagonal + 1 if term == candidate else max(row[j], row[j - 1])
    return row[-1] / len(one) if one else 0.0
