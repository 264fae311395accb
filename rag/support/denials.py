"""What one side denies and the other does not: "without training", "training-free", "does not need training"."""

from collections.abc import Iterator, Sequence

from rag.support.text import SentenceView, Token
from rag.support.wordlists import NEGATIONS, OWN, REPLACED

_ANY = 99
_FLAT = frozenset({"without", "no"})
"""Negations of a thing; others deny that something is done to it."""
_LIGHT = frozenset(
    "require requiring need needing use using rely relying access additional extra further any explicit "
    "external".split()
)
"""Words that may stand between them and the thing."""
_SPARING = frozenset(
    "avoid avoids avoided avoiding eliminate eliminates eliminated eliminating remove removes removed removing spare "
    "spares bypass bypasses bypassing circumvent circumvents unnecessary free obviate obviates dispense "
    "dispenses".split()
)
"""Words of a sentence that says itself what is not there."""


def freed(claim: SentenceView, evidence: SentenceView) -> str | None:
    """ "was trained" where the evidence has "training-free" or "training free"."""
    own = {term for term, _ in _freed_terms(claim)}
    for term, surface in _freed_terms(evidence):
        places = [claim.tokens[index] for index in claim.places.get(term, ())]
        if term not in own and places and not any(token.negated for token in places):
            return f"the cited abstract says '{surface}'"
    return None


def _freed_terms(sentence: SentenceView) -> Iterator[tuple[str, str]]:
    """The terms of the words in "-free", and these words."""
    for token in sentence.tokens:
        if token.lower.endswith("-free"):
            yield from ((term, token.surface) for term in token.terms[1:] if term != "free")


def denied(claim: SentenceView, evidence: SentenceView, *, said: Sequence[SentenceView]) -> str | None:
    """A negation of a word that the other side has without one.

    Where both sides deny something, only the word right behind the negation counts. What the claim denies may be denied
    in any sentence of those `said`; what the paper itself denies wherever it has the word, the claim must not affirm.
    """
    reach = _ANY if claim.denies != evidence.denies else 1
    for token, cue in _denials(claim, reach=reach):
        if _affirms(evidence, token) and not any(sentence.denies_term(token.terms[0]) for sentence in said):
            return f"the cited abstract says '{token.surface}' without '{cue}'"
    for token, cue in _denials(evidence, reach=reach):
        if _affirms(claim, token):
            return f"the cited abstract says '{cue} {token.surface}'"
    return _denied_throughout(claim, said)


def _denials(sentence: SentenceView, *, reach: int) -> Iterator[tuple[Token, str]]:
    """The content words that stand at most `reach` behind a negation, each with that."""
    cue, previous = "not", ""
    for token in sentence.tokens:
        if (previous, token.lower) in REPLACED:
            cue = f"{previous} {token.lower}"
        elif token.lower in NEGATIONS:
            cue = token.lower
        elif previous in {"need", "necessity"}:
            cue = f"no {previous} {token.lower}"
        previous = token.lower
        if 0 < token.negated <= reach and token.is_content:
            yield token, cue


def _denied_throughout(claim: SentenceView, said: Sequence[SentenceView]) -> str | None:
    """ "A is trained" where the paper has "without training" of A or of itself, and the word nowhere else."""
    if claim.denies or claim.words & _SPARING:
        return None
    names = {token.terms[0] for token in claim.content if token.surface[0].isupper()}
    for sentence in said:
        if not (names & sentence.terms or sentence.words & OWN):
            continue
        for token, cue in _denied_things(sentence):
            if _affirms(claim, token) and not any(_affirms(other, token) for other in said):
                return f"the cited abstract says '{cue} {token.surface}'"
    return None


def _denied_things(sentence: SentenceView) -> Iterator[tuple[Token, str]]:
    """What a sentence says is not there, and by which word: training of "without requiring additional training".

    Not what is spared harm: of "without sacrificing accuracy" nothing.
    """
    cue = ""
    for token in sentence.tokens:
        if token.lower in _FLAT:
            cue = token.lower
        elif cue and token.is_content and token.lower not in _LIGHT:
            if token.negated:
                yield token, cue
            cue = ""


def _affirms(sentence: SentenceView, token: Token) -> bool:
    """Whether a sentence has a word, as a whole and nowhere behind a negation."""
    term = token.terms[0]
    places = [sentence.tokens[index] for index in sentence.places.get(term, ())]
    whole = [other for other in places if other.terms[0] == term and not other.lower.endswith("-free")]
    return bool(whole) and not any(other.negated for other in places)
