"""Follow-up questions without a model: what the earlier turns were about is added to the words that are searched."""

import re
from collections.abc import Sequence

from rag.domain import Turn
from rag.keyword import analyze
from rag.questions import find_names

_REFERS = re.compile(
    r"\b(?:it|its|itself|they|them|their|theirs|he|she|his|her|this|these|those|that|the two|both|either|former|latter"
    r"|there|the (?:paper|method|authors?|approach|model|work|study|framework|same|first|second|third|last|other) ?(?:one)?)\b",
    re.IGNORECASE,
)
_CONTINUES = re.compile(
    r"^\W*(?:and|but|so|or|also|what about|how about|why|how so|what else|then|yes|no|ok(?:ay)?)\b", re.IGNORECASE
)
_SHORT = 3
"""A question of at most this many terms and no name says too little to stand alone."""
_CONTEXT_TERMS = 12


def standalone_question(question: str, history: Sequence[Turn]) -> str:
    """`question` as it is searched: with the topic of the last turns behind it where it leans on them, else as it is."""
    if not history or not leans_on_history(question):
        return question
    topic = _topic(question, history)
    return f"{question} ({topic})" if topic else question


def leans_on_history(question: str) -> bool:
    """Whether the question refers back: by a pronoun, by how it begins, or by how little it says."""
    if _CONTINUES.search(question):
        return True
    if _REFERS.search(question):
        return True
    return len(set(analyze(question))) <= _SHORT and not find_names(question)


def _topic(question: str, history: Sequence[Turn]) -> str:
    """The names of the latest turn that has any, else the words of the latest question that stands alone."""
    own = set(analyze(question))
    for turn in reversed(history):
        names = [name for name in find_names(turn.question) if not set(analyze(name)) <= own]
        if names:
            return " ".join(names)
        if not leans_on_history(turn.question):
            break
    words: list[str] = []
    for turn in reversed(history):
        words = [
            word for word in re.findall(r"[\w-]+", turn.question) if analyze(word) and not set(analyze(word)) <= own
        ]
        names = [name for name in find_names(turn.answer) if name not in words]
        if not leans_on_history(turn.question):
            return " ".join(dict.fromkeys([*words, *names[:3]][:_CONTEXT_TERMS]))
    return " ".join(words[:_CONTEXT_TERMS])
