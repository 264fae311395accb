"""What cannot be true of one method: words of a sentence, and words of an abstract that rule them out."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rag.support.contradictions import Finding


class Clash(NamedTuple):
    """Words that are claimed, and those of abstracts that rule them out. Words of one side alone prove nothing."""

    claimed: re.Pattern[str]
    said: re.Pattern[str]


def _clash(claimed: str, said: str) -> Clash:
    return Clash(re.compile(claimed, re.IGNORECASE), re.compile(said, re.IGNORECASE))


CLASHES = (
    _clash(
        r"\b(?:fine-?tuned|(?:was|is|were|are) [\w -]{1,40} (?:re)?trained|(?:re)?trained on"
        r"|training (?:data|set|run|cost))\b",
        r"\btraining[- ]free\b|\bwithout (?:any )?(?:additional )?(?:training|fine-?tuning)\b|\btuning-free\b",
    ),
    _clash(
        r"\bgradients?\b(?!-free)|\bwhite-?box\b|\b(?:internal )?weights of the (?:target|victim|attacked)\b"
        r"|\blogits\b",
        r"\bblack-?box\b|\bgradient-free\b",
    ),
)


def find_clashes(sentence: str, *, abstracts: Sequence[str]) -> Iterator[Finding]:
    """ "was fine-tuned" of an abstract that says "training-free" and nowhere "fine-tuned"."""
    for clash in CLASHES:
        claimed = clash.claimed.search(sentence)
        if not claimed or clash.said.search(sentence) or any(map(clash.claimed.search, abstracts)):
            continue
        for said in filter(None, map(clash.said.search, abstracts)):
            yield Finding("clash", f"the cited abstract says '{said[0]}', which rules out '{claimed[0]}'")
            break
