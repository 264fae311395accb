"""Follow-up questions: which ones lean on the turns before, and, without a model, the words to search them by."""

import re
from collections.abc import Iterator, Sequence
from typing import Protocol

from rag.domain import Turn, Usage
from rag.keyword import analyze
from rag.questions import find_names

_REFERS = re.compile(
    r"\b(?:its?|itself|they|them|their|theirs|he|she|his|her|this|these|those|the (?:two|former|latter)|instead|besides"
    r"|the (?:paper|method|authors?|approach|model|work|study|framework|same|first|second|third|last|other)(?: one)?\b"
    r"|(?:about|can|could|did|do|does|for|from|in|is|like|of|than|to|was|will|with|would) that)\b",
    re.IGNORECASE,
)
_CONTINUES = re.compile(
    r"^\W*(?:and|but|so|or|also|what about|how about|why|how so|what else|then|yes|no|ok(?:ay)?)\b", re.IGNORECASE
)
_FEW_TERMS = 1
"""A question of at most this many terms and no name says too little to stand alone."""
_TURNS = 2
_MOST_WORDS = 24


class Rewriter(Protocol):
    """Who restates a follow-up question so that it stands alone."""

    def rewrite(self, question: str, history: Sequence[Turn], *, until: float) -> Iterator[str | Usage]:
        """ "" while there is nothing yet, then the usage and the restated question; without one where that fails, or
        is not there by `until` (in `time.monotonic`).
        """
        ...


def standalone_question(question: str, history: Sequence[Turn]) -> str:
    """`question` as it is searched: with the topic of the last turns behind it where it leans on them."""
    if not history or not leans_on_history(question):
        return question
    topic = _topic(question, history)
    return f"{question} ({topic})" if topic else question


def leans_on_history(question: str) -> bool:
    """Whether the question refers back: by a pronoun, by how it begins, or by how little it says."""
    if _CONTINUES.search(question) or _REFERS.search(question):
        return True
    return len(set(analyze(question))) <= _FEW_TERMS and not find_names(question)


def _topic(question: str, history: Sequence[Turn]) -> str:
    """Words of the last two questions and names of their answers that are new to `question`, the latest turn first."""
    own = set(analyze(question))
    words: dict[str, None] = {}
    for turn in reversed(history[-_TURNS:]):
        for word in (*re.findall(r"[\w-]+", turn.question), *find_names(turn.answer)):
            if analyze(word) and not set(analyze(word)) <= own:
                words[word] = None
    return " ".join(list(words)[:_MOST_WORDS])
