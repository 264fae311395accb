"""How much of a sentence its evidence says: which words are found where, weighted by how rare they are."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from rag.support.text import PREFIX, SentenceView, Token
from rag.support.wordlists import SYNONYMS

Idf = Callable[[str], float]
WINDOW = 3
"""Sentences of evidence at most, as in SummaC and WiCE, where three hold nearly all supported claims."""
_SYNONYM, _DERIVED, _ACRONYM, _PARTS = 0.9, 0.8, 0.9, 0.9
_SHARED = 0.65
"""Share of the longer of two terms that a common beginning has to be, for one to be derived from the other."""
_COMMON = frozenset(
    "method approach propos introduc new novel show result demonstr experi extens perform model framework base use "
    "evalu achiev problem stateoftheart exist signific improv techniqu also provid present task data".split()
)
_COMMON_WEIGHT, _LEAST_WEIGHT = 0.4, 0.05


def default_idf(term: str) -> float:
    """A weight for a term where no corpus says how rare it is: words that most abstracts hold count less."""
    return _COMMON_WEIGHT if term in _COMMON else 1.0


def match(token: Token, sentence: SentenceView) -> float:
    """How well `sentence` says the word or name `token`, 0..1: 1 for the word itself, less for a relative of it."""
    if token.quantity:
        return float(any(token.quantity.matches(other) for other in sentence.quantities))
    term = token.terms[0]
    if term in sentence.terms:
        return 1.0
    best = 0.0
    if len(token.terms) > 1 and "-" in token.surface:
        parts = token.terms[1:]
        best = _PARTS * sum(part in sentence.terms for part in parts) / len(parts)
    if token.is_name:
        acronym = token.surface.removesuffix("s").lower()
        return _ACRONYM if len(acronym) > 1 and acronym in sentence.initials[0] else best
    if SYNONYMS.get(term, "") in sentence.terms:
        return _SYNONYM
    for other in sentence.prefixes.get(term[:PREFIX], ()):
        shared = next(
            (i for i, (a, b) in enumerate(zip(term, other, strict=False)) if a != b), min(len(term), len(other))
        )
        if shared >= _SHARED * max(len(term), len(other)):
            best = max(best, _DERIVED)
    return best


@dataclass(frozen=True)
class Coverage:
    """The words and numbers of a claim against sentences: `strengths[sentence][word]` is their match, 0..1."""

    claim: SentenceView
    sentences: tuple[SentenceView, ...]
    weights: tuple[float, ...]
    strengths: tuple[tuple[float, ...], ...]

    def of(self, chosen: Sequence[int]) -> float:
        """The share of the claim's weight that the chosen sentences say together, 0..1."""
        total = sum(self.weights)
        if not total:
            return 0.0
        return (
            sum(w * max((self.strengths[s][i] for s in chosen), default=0.0) for i, w in enumerate(self.weights))
            / total
        )

    @cached_property
    def window(self) -> tuple[int, ...]:
        """The sentences, at most `WINDOW`, that say most of the claim together: chosen greedily, best first."""
        chosen: list[int] = []
        covered = [0.0] * len(self.weights)
        while len(chosen) < WINDOW:
            gains = [
                sum(w * max(0.0, m - c) for w, m, c in zip(self.weights, row, covered, strict=True))
                for row in self.strengths
            ]
            best = max(range(len(gains)), key=gains.__getitem__, default=None)
            if best is None or gains[best] <= MIN_GAIN * sum(self.weights):
                break
            chosen.append(best)
            covered = [max(c, m) for c, m in zip(covered, self.strengths[best], strict=True)]
        return tuple(chosen)

    @cached_property
    def found(self) -> tuple[float, ...]:
        """For each content word its best match in any sentence."""
        return tuple(max((row[i] for row in self.strengths), default=0.0) for i in range(len(self.weights)))


MIN_GAIN = 0.04
"""Share of the claim's weight that a further sentence of evidence has to add."""


def cover(
    claim: SentenceView, sentences: Sequence[SentenceView], *, idf: Idf, known: frozenset[str] = frozenset()
) -> Coverage:
    """Looks up every word, name and number of `claim` in every sentence; those among the terms `known` are found."""
    words = [max(idf(token.terms[0]), _LEAST_WEIGHT) for token in claim.content]
    number_weight = max(words, default=1.0)
    weights = tuple(number_weight if t.quantity else max(idf(t.terms[0]), _LEAST_WEIGHT) for t in claim.units)
    is_known = [not known.isdisjoint((token.surface, *token.terms[:1])) for token in claim.units]
    strengths = []
    for sentence in sentences:
        expanded = _expanded(claim, sentence)
        units = ((index, token) for index, token in enumerate(claim.tokens) if token.is_unit)
        strengths.append(
            tuple(
                1.0 if free else max(match(token, sentence), _ACRONYM if index in expanded else 0.0)
                for (index, token), free in zip(units, is_known, strict=True)
            )
        )
    return Coverage(claim, tuple(sentences), weights, tuple(strengths))


def _expanded(claim: SentenceView, sentence: SentenceView) -> frozenset[int]:
    """The claim's words that spell out an acronym of the sentence: "large language models" for LLM."""
    letters, owners = claim.initials
    found: set[int] = set()
    for acronym in sentence.acronyms:
        start = letters.find(acronym)
        if start >= 0:
            found.update(owners[start : start + len(acronym)])
    return frozenset(found)
