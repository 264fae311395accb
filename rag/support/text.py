"""Sentences as the support check sees them: tokens with their terms, names, numbers, negation and direction."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

from rag.domain import Span
from rag.keyword.analysis import analyze
from rag.sentences import split_sentences
from rag.support.quantities import Quantity, read_quantity, spelled_quantity
from rag.support.wordlists import DIRECTIONS, META, NEGATIONS, NOT_NEGATING, REPLACED, RESUMING, SYNONYMS
from rag.textnorm import normalize

_WORD = re.compile(r"[^\W\d_]\w*(?:[-'./@+]\w+)*|\d+(?:[-.]?\w+)*|[;:,.!?()]")
_FREE = re.compile(
    r"\b(?!\w+ly |that |with |from |made |more |some |come |comes |offer |offers )(\w{4,}) free\b(?! of| from)"
)
"""What is written apart and meant as one: "training free"."""
_RELIEVED = re.compile(
    r"(?:avoid|bypass|circumvent|dispens|eliminat|obviat|remov)\w* (?:with )?(?:the |any |all )?"
    r"(?:need|necessity) (?:for|of|to) ?\Z"
)
"""What denies the words behind it: "eliminates the need for retraining"."""
_CLAUSE_END = frozenset(";:,.!?()")
_NEGATION_REACH, _DIRECTION_REACH = 3, 3


class Token(NamedTuple):
    """A word, name or number. `terms` are its index terms, () for a function word; the first stands for the whole.

    `is_name` holds for what is written like a name (CamelCase, ALL CAPS, with figures), not for mere capitals.
    `negated` counts the content words from the negation in front of it in its clause: 1 for the next, 0 without one.
    `direction` is +1 in or behind an "increase" or "better" word, -1 for the opposite, 0 for none.
    """

    surface: str
    lower: str
    terms: tuple[str, ...]
    is_name: bool
    quantity: Quantity | None
    negated: int
    direction: int

    @property
    def is_content(self) -> bool:
        return bool(self.terms) and self.quantity is None and self.lower not in META

    @property
    def is_unit(self) -> bool:
        """Whether evidence must say it: a content word, a name, a number in figures, or "millions"."""
        return self.is_content or (self.quantity is not None and self.quantity.is_specific)


@dataclass(frozen=True)
class SentenceView:
    """A sentence of an abstract or an answer: `span` is where it stands in that text."""

    span: Span
    tokens: tuple[Token, ...]

    @cached_property
    def terms(self) -> frozenset[str]:
        """Every index term of it, and the representatives of their synonyms."""
        terms = {term for token in self.tokens for term in token.terms}
        return frozenset(terms | {SYNONYMS[term] for term in terms if term in SYNONYMS})

    @cached_property
    def prefixes(self) -> dict[str, frozenset[str]]:
        """The terms by their first characters, to find derived words."""
        by_prefix: dict[str, set[str]] = {}
        for term in self.terms:
            if len(term) >= PREFIX:
                by_prefix.setdefault(term[:PREFIX], set()).add(term)
        return {prefix: frozenset(terms) for prefix, terms in by_prefix.items()}

    @cached_property
    def content(self) -> tuple[Token, ...]:
        return tuple(token for token in self.tokens if token.is_content)

    @cached_property
    def units(self) -> tuple[Token, ...]:
        return tuple(token for token in self.tokens if token.is_unit)

    @cached_property
    def quantities(self) -> tuple[Quantity, ...]:
        return tuple(token.quantity for token in self.tokens if token.quantity)

    @cached_property
    def places(self) -> dict[str, tuple[int, ...]]:
        """Where each content term stands, as indices of tokens."""
        found: dict[str, list[int]] = {}
        for index, token in enumerate(self.tokens):
            for term in token.terms:
                found.setdefault(term, []).append(index)
        return {term: tuple(indices) for term, indices in found.items()}

    @cached_property
    def words(self) -> frozenset[str]:
        """Its words in lower case, function words among them."""
        return frozenset(token.lower for token in self.tokens)

    @cached_property
    def denies(self) -> bool:
        """Whether a negation stands in it."""
        return any(token.negated or token.lower.endswith("-free") for token in self.tokens)

    def denies_term(self, term: str) -> bool:
        """Whether a word of that index term stands behind a negation."""
        return any(self.tokens[index].negated for index in self.places.get(term, ()))

    @cached_property
    def initials(self) -> tuple[str, tuple[int, ...]]:
        """The first letters of its words (and of the parts of hyphenated ones), and the token that each is from."""
        letters = [
            (part[0], index)
            for index, token in enumerate(self.tokens)
            if token.terms and not token.is_name
            for part in token.lower.split("-")
            if part
        ]
        return "".join(letter for letter, _ in letters), tuple(index for _, index in letters)

    @cached_property
    def acronyms(self) -> frozenset[str]:
        """Its names of two to six capitals, in lower case, without a plural s: "LLMs" is llm."""
        names = (token.surface.removesuffix("'s").removesuffix("s") for token in self.tokens if token.is_name)
        return frozenset(name.lower() for name in names if 2 <= len(name) <= 6 and name.isalpha() and name.isupper())


PREFIX = 4


@lru_cache(maxsize=2048)
def view_sentences(text: str) -> tuple[SentenceView, ...]:
    """The sentences of an abstract, analysed."""
    return tuple(SentenceView(span, tokenize(text[span.start : span.end])) for span in split_sentences(text))


def view_sentence(sentence: str) -> SentenceView:
    """A sentence, analysed as one even if it would be split."""
    return SentenceView(Span(0, len(sentence)), tokenize(sentence))


def view_tokens(tokens: Sequence[Token]) -> SentenceView:
    """A part of a sentence, which stands nowhere by itself."""
    return SentenceView(Span(0, 0), tuple(tokens))


def tokenize(sentence: str) -> tuple[Token, ...]:
    """The tokens of a sentence in order, its function words and numbers among them."""
    clean = _FREE.sub(r"\1-free", normalize(sentence))
    tokens: list[Token] = []
    negation = direction = 0  # how many words of reach are left
    sign = 0
    previous = ""
    position = 0
    while match := _WORD.search(clean, position):
        surface, position = match.group(), match.end()
        if surface in _CLAUSE_END:
            negation = direction = 0
            continue
        number = read_quantity(clean, match.start()) if surface[0].isdigit() else None
        if number:
            quantity: Quantity | None
            quantity, position = number
            surface = quantity.surface
        else:
            quantity = spelled_quantity(surface.lower())
        lower = surface.lower()
        own_sign = DIRECTIONS.get(lower, 0)
        terms = () if number else tuple(analyze(surface))
        is_name = quantity is None and looks_like_name(surface)
        if previous == "and" and lower in RESUMING:
            negation = 0
        negated = _NEGATION_REACH + 1 - negation if negation > 0 else 0
        bound = own_sign or (sign if direction > 0 else 0)
        tokens.append(Token(surface, lower, terms, is_name, quantity, negated, bound))
        if lower in NOT_NEGATING:
            negation = 0
        elif (
            lower in NEGATIONS
            or lower.endswith("n't")
            or (previous, lower) in REPLACED
            or (lower in {"for", "of", "to"} and _RELIEVED.search(clean[:position].lower()))
        ):
            negation = _NEGATION_REACH
        else:
            negation -= bool(terms)
        if own_sign:
            sign, direction = own_sign, _DIRECTION_REACH
        else:
            direction -= bool(terms)
        previous = lower
    return tuple(tokens)


def looks_like_name(surface: str) -> bool:
    """Whether a word is written as no common word is: capitals inside, or figures and letters."""
    word = surface.removesuffix("'s")
    if word.isupper() and len(word) > 1:
        return True
    parts = re.split(r"[-./@+]", word)
    return any(part and part[1:] != part[1:].lower() for part in parts) or (
        any(map(str.isdigit, word)) and any(map(str.isupper, word))
    )
