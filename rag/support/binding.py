"""Whether the parts of a sentence belong together in its evidence: numbers with what they count, clauses with names."""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from rag.support.contradictions import Finding
from rag.support.coverage import Coverage, Idf, cover, match
from rag.support.quantities import is_count
from rag.support.text import SentenceView, Token, view_sentence, view_tokens

_CLAUSES = re.compile(r"[;:]\s|,?\s(?:while|whereas|but|although|and)\s", re.IGNORECASE)
_SUBJECTS = re.compile(r"[;:]\s|,?\s(?:[Ww]hile|[Ww]hereas|[Bb]ut|[Aa]lthough)\s|,\sand\s|\sand\s(?=\w*[A-Z]\w*[A-Z])")
_MIN_UNITS, _LEAST_WORDS = 4, 3
_MARGIN = 0.3
"""How much more of a clause another abstract must say than the one that has its name."""
_APART, _TWO = 0.15, 2
"""Share of a clause, and how many words of it, that only another abstract says where it is put together from two."""
_SAID = 0.5
_LIST_REACH = 3
_LIST_LINKS = frozenset({"and", "or", "with", "to", "vs", "versus"})
_COUNT_REACH = 5
_COMPARING = frozenset({"than", "compared", "versus", "vs"})


def clauses(sentence: str) -> tuple[str, ...]:
    """The clauses of a sentence that are long enough to be checked alone; the sentence itself where not two are."""
    parts = [part for part in _CLAUSES.split(sentence) if _is_long(view_sentence(part))]
    return tuple(parts) if len(parts) > 1 else (sentence,)


def split_subjects(sentence: str) -> list[str]:
    """The parts of a sentence that may speak of different things.

    An "and" divides it in front of a name only, and not the names of a list ("A and B do ...").
    """
    parts: list[str] = []
    for part in _SUBJECTS.split(sentence):
        if parts and len(parts[-1].split()) < _LEAST_WORDS:
            parts[-1] += f" and {part}"
        else:
            parts.append(part)
    return parts


def _is_long(view: SentenceView) -> bool:
    return len(view.units) >= _MIN_UNITS


class Clause(NamedTuple):
    """A clause of a sentence and how much of it each cited abstract says."""

    view: SentenceView
    coverages: tuple[Coverage, ...]


def cover_clauses(parts: Sequence[str], *, abstracts: Sequence[Sequence[SentenceView]], idf: Idf) -> tuple[Clause, ...]:
    """Looks up each clause in each cited abstract by itself."""
    views = map(view_sentence, parts)
    return tuple(Clause(view, tuple(cover(view, sentences, idf=idf) for sentences in abstracts)) for view in views)


def find_mixed(parts: Sequence[Clause]) -> Iterator[Finding]:
    """Clauses whose first name is of one cited abstract and whose other words are of another.

    A list of names ("A and B ...") speaks of several abstracts and is passed over.
    """
    for claim, coverages in parts:
        owners = {index: _holders(coverages, index) for index, token in enumerate(claim.units) if token.is_name}
        telling = [index for index, has in owners.items() if any(has) and not all(has)]
        if not telling:
            continue
        subject = telling[0]
        others = [index for index in telling if owners[index] != owners[subject]]
        if len(others) > 1 or any(_is_listed(claim, subject, index) for index in others):
            continue
        if _has_figure(claim, coverages, held_by=owners[subject]):
            continue
        with_name = max(share_of_rest(c) for c, has in zip(coverages, owners[subject], strict=True) if has)
        without = max(share_of_rest(c) for c, has in zip(coverages, owners[subject], strict=True) if not has)
        if without >= _SAID and without >= with_name + _MARGIN:
            yield Finding("mixed", f"the cited abstract with {claim.units[subject].surface} says something else of it")


def find_put_together(parts: Sequence[Clause]) -> Iterator[Finding]:
    """Long clauses that no cited abstract says, a part of them from one and the rest from another.

    Names that a clause joins ("A and B ...") need not stand in both abstracts; what it says of them must.
    """
    for claim, coverages in parts:
        joined = _joined_names(claim, coverages)
        named = [coverage for coverage in coverages if any(coverage.found[place] >= _SAID for place in joined)]
        apart = [_said_elsewhere(coverage, claim, coverages, without=joined) for coverage in named or coverages]
        if _is_long(claim) and (any if named else all)(apart):
            yield Finding("relation", "one cited abstract says a part of it and another the rest")


def _said_elsewhere(
    coverage: Coverage, claim: SentenceView, coverages: Sequence[Coverage], *, without: frozenset[int]
) -> bool:
    """Whether an abstract lacks two words or more, and a good part of a clause, that others have; `without` names."""
    holding = [own is coverage for own in coverages]
    if _has_figure(claim, coverages, held_by=holding):
        return False
    lacking = [
        place
        for place, found in enumerate(coverage.found)
        if place not in without and found < _SAID <= max(other.found[place] for other in coverages)
    ]
    total = sum(weight for place, weight in enumerate(coverage.weights) if place not in without)
    return len(lacking) >= _TWO and sum(coverage.weights[place] for place in lacking) >= _APART * total


def _has_figure(claim: SentenceView, coverages: Sequence[Coverage], *, held_by: Sequence[bool]) -> bool:
    """Whether a figure of the claim stands in just these abstracts: then it is theirs, whoever else has its words."""
    return any(_is_figure(t) and _holders(coverages, i) == list(held_by) for i, t in enumerate(claim.units))


def _joined_names(claim: SentenceView, coverages: Sequence[Coverage]) -> frozenset[int]:
    """The places of names, each in one abstract alone, that stand next to each other or are joined by an "and"."""
    owners = {place: _holders(coverages, place) for place, token in enumerate(claim.units) if _is_named(token)}
    telling = [place for place, holding in owners.items() if sum(holding) == 1]
    pairs = [(a, b) for a, b in combinations(telling, 2) if owners[a] != owners[b] and _is_listed(claim, a, b)]
    return frozenset(place for pair in pairs for place in pair)


def _is_listed(claim: SentenceView, first: int, second: int) -> bool:
    """Whether two units, by their places, stand next to each other or are near and joined by an "and"."""
    places = [place for place, token in enumerate(claim.tokens) if token.is_unit]
    between = {token.lower for token in claim.tokens[places[first] + 1 : places[second]]}
    return second == first + 1 or (second <= first + _LIST_REACH and bool(between & _LIST_LINKS))


def find_unbound_numbers(parts: Sequence[Clause]) -> Iterator[Finding]:
    """Figures that the cited abstracts have of other things only.

    Such a figure stands in an abstract that says much less of the clause than another one does, or counts other things:
    "3 questions" where the evidence has "the three kinds of data".
    """
    for claim, coverages in parts:
        rests = [share_of_rest(coverage, without=_is_figure) for coverage in coverages]
        for index, token in enumerate(claim.tokens):
            if not _is_figure(token):
                continue
            unit = sum(other.is_unit for other in claim.tokens[:index])
            holding = _holders(coverages, unit)
            own = max((rest for rest, holds in zip(rests, holding, strict=True) if holds), default=0.0)
            other = max((rest for rest, holds in zip(rests, holding, strict=True) if not holds), default=0.0)
            is_named_there = any(_is_named(o) and _holders(coverages, i) == holding for i, o in enumerate(claim.units))
            if any(holding) and other >= own + _MARGIN and not is_named_there:
                yield Finding("number", f"{token.surface} is said of something else only")
            elif other_side := _compared_with(index, claim, coverages):
                yield Finding("number", f"{token.surface} is not compared with '{other_side}' in the cited abstract")
            elif things := _counts_others(index, claim, coverages):
                yield Finding("number", f"{token.surface} is said of something else than '{things}'")


def _holders(coverages: Sequence[Coverage], unit: int) -> list[bool]:
    """Which abstracts have a unit of the claim."""
    return [coverage.found[unit] >= _SAID for coverage in coverages]


def _compared_with(index: int, claim: SentenceView, coverages: Sequence[Coverage]) -> str:
    """What a claim compares its figure with, "than X" or "compared to X", where no sentence that has it names X."""
    quantity = claim.tokens[index].quantity
    behind = next((n for n, token in enumerate(claim.tokens) if token.lower in _COMPARING and n > index), None)
    if quantity is None or behind is None:
        return ""
    named = [token for token in claim.tokens[behind + 1 : behind + 1 + _COUNT_REACH] if token.is_content]
    holding = [
        sentence
        for coverage in coverages
        for sentence in coverage.sentences
        if any(quantity.matches(other) for other in sentence.quantities)
    ]
    if not named or not holding or any(match(token, sentence) > 0 for token in named for sentence in holding):
        return ""
    return " ".join(token.surface for token in named[:2])


def _counts_others(index: int, claim: SentenceView, coverages: Sequence[Coverage]) -> str:
    """The word for what a small whole number counts, where the evidence counts other things with it; else ""."""
    token = claim.tokens[index]
    counted = _counted(index, claim) if is_count(token.quantity) else ()
    near = [view for coverage in coverages for sentence in coverage.sentences for view in _around(token, sentence)]
    if not near or not counted or any(match(other, view) for view in near for other in counted):
        return ""
    return counted[0].surface


def _counted(index: int, claim: SentenceView) -> tuple[Token, ...]:
    """What a number counts: the words behind it, or in front of it where it comes last: "the depth is 3"."""
    following = claim.tokens[index + 1 : index + 1 + _LIST_REACH]
    if following and not (following[0].is_content and following[0].surface.islower()):
        return ()
    near = following or claim.tokens[max(0, index - _LIST_REACH) : index]
    return tuple(token for token in near if token.is_content)


def _around(token: Token, sentence: SentenceView) -> Iterator[SentenceView]:
    """What stands near each place of a number."""
    for place, other in enumerate(sentence.tokens):
        if token.quantity and other.quantity and token.quantity.matches(other.quantity):
            yield view_tokens(sentence.tokens[max(0, place - _COUNT_REACH) : place + 1 + _COUNT_REACH])


def _is_figure(token: Token) -> bool:
    return token.surface[0].isdigit()


def _is_named(token: Token) -> bool:
    return token.is_name and not _is_figure(token)


def share_of_rest(
    coverage: Coverage, *, without: Callable[[Token], bool] = _is_named, window: Sequence[int] | None = None
) -> float:
    """The share of a clause's weight that an abstract, or its sentences of `window`, say, `without` tokens left out."""
    rows = coverage.strengths if window is None else [coverage.strengths[index] for index in window]
    pairs = [
        (weight, max((row[place] for row in rows), default=0.0))
        for place, (token, weight) in enumerate(zip(coverage.claim.units, coverage.weights, strict=True))
        if not without(token)
    ]
    total = sum(weight for weight, _ in pairs)
    return sum(weight * found for weight, found in pairs) / total if total else 0.0
