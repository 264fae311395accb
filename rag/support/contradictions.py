"""Where a sentence says what its evidence does not: other numbers and names, the opposite, one thing for another."""

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, permutations
from typing import Literal, NamedTuple

from rag.support.coverage import Coverage
from rag.support.denials import denied, freed
from rag.support.quantities import Quantity, is_count
from rag.support.text import SentenceView, Token
from rag.support.wordlists import COMPARISONS, DIRECTIONS, OPPOSITES, RATING

Kind = Literal[
    "number",
    "name",
    "only",
    "both",
    "relation",
    "count",
    "freed",
    "clash",
    "subject",
    "negation",
    "opposite",
    "direction",
    "swapped names",
    "swapped numbers",
    "mixed",
    "quotation",
]
MISSING: frozenset[Kind] = frozenset({"number", "name", "only", "both", "relation"})
"""Kinds that say that something is missing; the others contradict."""


class Finding(NamedTuple):
    """One contradiction, and the reason as a reader is told it."""

    kind: Kind
    reason: str


ENOUGH = 0.5
"""Share of a claim that a sentence must say before it can contradict the rest."""
_NOUN_REACH = 3


def find_missing(coverage: Coverage) -> tuple[Finding, ...]:
    """Numbers and names of a claim that no sentence has."""
    return tuple(_missing_numbers_and_names(coverage))


def find_contradictions(coverage: Coverage) -> tuple[Finding, ...]:
    """What the sentence that says most of a claim says otherwise; nothing where it says less than half of the claim."""
    findings = tuple(_other_counts(coverage.claim, coverage.sentences))
    if not coverage.window or coverage.of(coverage.window[:1]) < ENOUGH:
        return findings
    best = coverage.sentences[coverage.window[0]]
    reasons: list[tuple[Kind, str | None]] = [("negation", denied(coverage.claim, best, said=coverage.sentences))]
    reasons += [(kind, check(coverage.claim, best)) for kind, check in _CHECKS.items()]
    return findings + tuple(Finding(kind, reason) for kind, reason in reasons if reason)


def _missing_numbers_and_names(coverage: Coverage) -> Iterator[Finding]:
    missing = [token for token, found in zip(coverage.claim.units, coverage.found, strict=True) if found < ENOUGH]
    for token in missing:
        if token.quantity:
            yield Finding("number", f"{token.surface} is not in the cited abstract")
    for token in missing:
        if token.is_name:
            yield Finding("name", f"{token.surface.removesuffix(chr(39) + 's')} is not in the cited abstract")


def _other_counts(claim: SentenceView, sentences: Sequence[SentenceView]) -> Iterator[Finding]:
    """ "three parameters" where the evidence has "a single parameter" and no three."""
    for quantity, nouns in _counted(claim):
        others = [
            (other, nouns & other_nouns)
            for sentence in sentences
            for other, other_nouns in _counted(sentence)
            if nouns & other_nouns
        ]
        if others and not any(quantity.matches(other) for other, _ in others):
            yield Finding("count", _instead(others[0][0].surface, quantity.surface))


def _counted(sentence: SentenceView) -> Iterator[tuple[Quantity, frozenset[str]]]:
    for index, token in enumerate(sentence.tokens):
        quantity = token.quantity
        if quantity and (quantity.magnitude or is_count(quantity)):
            following = sentence.tokens[index + 1 : index + 1 + _NOUN_REACH]
            yield quantity, frozenset(term for token in following if token.is_content for term in token.terms[:1])


def _opposite(claim: SentenceView, evidence: SentenceView) -> str | None:
    claim_words = claim.words | claim.terms
    evidence_words = evidence.words | evidence.terms
    for token in claim.tokens:
        key = token.terms[0] if token.terms else token.lower
        if key in evidence_words or token.negated:
            continue
        for other in OPPOSITES.get(key, ()):
            if other in evidence_words and other not in claim_words:
                return _instead(_surface_of(other, evidence), token.surface)
        for prefix in ("un", "in", "non", "dis", "im", "a"):
            prefixed = prefix + token.lower
            stripped = token.lower.removeprefix(prefix)
            for form in (prefixed, stripped if len(stripped) > 3 and stripped != token.lower else prefixed):
                if form in evidence.words and form not in claim.words:
                    return _instead(form, token.surface)
    return None


def _other_direction(claim: SentenceView, evidence: SentenceView) -> str | None:
    """ "reduces the error" where the evidence has "increases the error"."""
    for place, token in enumerate(claim.tokens):
        if not token.is_content:
            continue
        directions = {
            _effective(evidence.tokens[index])
            for index in evidence.places.get(token.terms[0], ())
            if evidence.tokens[index].direction and _rates(evidence, index) == _rates(claim, place)
        }
        if token.direction and directions == {-_effective(token)} and token.lower not in DIRECTIONS:
            return f"the cited abstract says the opposite of '{token.surface}'"
    return None


def _rates(sentence: SentenceView, place: int) -> bool:
    """Whether the word that gives a token its direction rates: to improve a time is to reduce it."""
    cues = [token.lower for token in sentence.tokens[: place + 1] if token.lower in DIRECTIONS]
    return bool(cues) and cues[-1] in RATING


def _effective(token: Token) -> int:
    return -token.direction if token.negated else token.direction


def _swapped_names(claim: SentenceView, evidence: SentenceView) -> str | None:
    """ "A outperforms B" where the evidence has "B outperforms A"."""
    claim_sides, evidence_sides = _sides(claim), _sides(evidence)
    if claim_sides is None or evidence_sides is None:
        return None
    (left, right), (evidence_left, evidence_right) = claim_sides, evidence_sides
    only_left, only_right = evidence_left - evidence_right, evidence_right - evidence_left
    crossed_left, crossed_right = (left - right) & only_right, (right - left) & only_left
    if crossed_right and len(crossed_left) > len((left - right) & only_left):
        first, second = (_surface_of(min(terms), claim) for terms in (crossed_left, crossed_right))
        return f"the cited abstract has {first} and {second} the other way round"
    return None


def _sides(sentence: SentenceView) -> tuple[frozenset[str], frozenset[str]] | None:
    """The terms on the better and on the worse side of the first comparison; None where nothing is compared."""
    for index, token in enumerate(sentence.tokens):
        better = COMPARISONS.get(token.lower)
        if better is None:
            continue
        before = frozenset(t for other in sentence.tokens[:index] if other.is_content for t in other.terms)
        after = frozenset(t for other in sentence.tokens[index + 1 :] if other.is_content for t in other.terms)
        passive = any(other.lower == "by" for other in sentence.tokens[index + 1 : index + 2])
        return (after, before) if better != (-1 if passive else 1) else (before, after)
    return None


def _swapped_numbers(claim: SentenceView, evidence: SentenceView) -> str | None:
    """ "90% on A and 80% on B" where the evidence has them the other way round."""
    numbers = [
        (index, place, token.quantity)
        for index, token in enumerate(claim.tokens)
        if token.quantity and (place := _place_of(token.quantity, evidence)) is not None
    ]
    anchors = [
        (index, evidence.places[token.terms[0]][0])
        for index, token in enumerate(claim.tokens)
        if token.is_content and len(evidence.places.get(token.terms[0], ())) == 1
    ]
    for one, other in combinations(numbers[:_MOST_NUMBERS], 2):
        if one[2].value != other[2].value and _votes(one[:2], other[:2], anchors[:_MOST_ANCHORS]) < 0:
            return f"the cited abstract has {one[2].surface} and {other[2].surface} the other way round"
    return None


_MOST_NUMBERS, _MOST_ANCHORS = 6, 30
"""Bounds on the time that one sentence may take."""


def _votes(one: tuple[int, int], other: tuple[int, int], anchors: Sequence[tuple[int, int]]) -> int:
    """How many more pairs of words go with the same numbers in the evidence as in the claim than with exchanged ones.

    Numbers and words are given by their places in the claim and in the evidence.
    """
    votes = 0
    for first, second in permutations(anchors, 2):
        if _binding(one[0], other[0], first[0], second[0]) > 0:
            there = _binding(one[1], other[1], first[1], second[1])
            votes += (there > 0) - (there < 0)
    return votes


def _binding(number: int, other: int, anchor: int, other_anchor: int) -> int:
    """How much nearer (positive) or farther two numbers are to their own anchors than to each other's."""
    own = abs(number - anchor) + abs(other - other_anchor)
    crossed = abs(number - other_anchor) + abs(other - anchor)
    return crossed - own


def _place_of(quantity: Quantity, sentence: SentenceView) -> int | None:
    places = [i for i, token in enumerate(sentence.tokens) if token.quantity and quantity.matches(token.quantity)]
    return places[0] if len(places) == 1 else None


_CHECKS: dict[Kind, Callable[[SentenceView, SentenceView], str | None]] = {
    "freed": freed,
    "opposite": _opposite,
    "direction": _other_direction,
    "swapped names": _swapped_names,
    "swapped numbers": _swapped_numbers,
}


def _surface_of(term: str, sentence: SentenceView) -> str:
    return next((t.surface for t in sentence.tokens if term in t.terms or term == t.lower), term)


def _instead(said: str, claimed: str) -> str:
    return f"the cited abstract says '{said}', not '{claimed}'"
