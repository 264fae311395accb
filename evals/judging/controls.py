"""False sentences made of supported ones, which a judge must not call supported: negated, or with other numbers."""

import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from evals.judging.labels import Claim

Kind = Literal["negated", "number"]
_NOT = re.compile(r"\b(?:not|never)\s+", re.IGNORECASE)
_AUXILIARY = re.compile(r"\b(is|are|was|were|can|could|will|would|may|might|should|must|does|do|did)\b(?! not\b)")
_VERB = re.compile(
    r"\b(achieve|allow|attain|beat|combine|consist|contain|converge|decrease|demonstrate|depend|enable|exceed|fail|"
    r"generate|improve|increase|introduce|involve|learn|lower|outperform|present|produce|propose|provide|reach|reduce|"
    r"require|scale|show|surpass|train|use|yield)(s)?\b"
)
_NUMBER = re.compile(r"(?<![\w.-])\d+(?:\.\d+)?(?![\w-])")
_OFFSETS = (3, 5, 2, 7)


class Control(NamedTuple):
    """A false sentence in place of a supported one."""

    kind: Kind
    claim: Claim


def make_controls(claims: Sequence[Claim]) -> Iterator[Control]:
    """The controls of supported claims: up to two of each."""
    for claim in claims:
        negated = negate(claim.sentence)
        if negated is not None:
            yield Control("negated", claim._replace(sentence=negated))
        changed = change_number(claim.sentence, given=" ".join(paper.abstract for paper in claim.papers))
        if changed is not None:
            yield Control("number", claim._replace(sentence=changed))


def negate(sentence: str) -> str | None:
    """The sentence with "not" put in, or taken out; None where neither is plain to do."""
    if _NOT.search(sentence):
        return _NOT.sub("", sentence, count=1)
    if _AUXILIARY.search(sentence):
        return _AUXILIARY.sub(r"\1 not", sentence, count=1)
    if _VERB.search(sentence):
        return _VERB.sub(lambda verb: f"{'does' if verb[2] else 'do'} not {verb[1]}", sentence, count=1)
    return None


def change_number(sentence: str, *, given: str) -> str | None:
    """The sentence with its first two numbers exchanged, or its one number made another that `given` does not hold.

    None where it has no number of its own.
    """
    found = list(_NUMBER.finditer(sentence))
    if len(found) > 1 and found[0].group() != found[1].group():
        first, second = found[:2]
        between = sentence[first.end() : second.start()]
        return f"{sentence[: first.start()]}{second.group()}{between}{first.group()}{sentence[second.end() :]}"
    for match in found[:1]:
        for offset in _OFFSETS:
            digit = (int(match.group()[0]) + offset - 1) % 9 + 1
            other = f"{digit}{match.group()[1:]}"
            if other not in given and other != match.group():
                return f"{sentence[: match.start()]}{other}{sentence[match.end() :]}"
    return None
