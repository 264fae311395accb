"""Follow-up questions: which ones lean on the turns before, and, without a model, the words to search them by."""

import re
from collections.abc import Iterator, Sequence
from typing import Protocol

from rag.clarifying import asked_back_before, content_terms, is_general, options_of
from rag.domain import Paper, ScoredPaper, Turn, Usage
from rag.glossary import in_english
from rag.keyword import analyze
from rag.questions import find_names
from rag.record import read_record_question
from rag.referents import point_at, referent
from rag.steering import Bearings, Lean, goes_on, lead

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
_OPENS_ANEW = re.compile(r"^\W*(?:and\s+)?(?:what|how) about\s+(?:the\s+)?[A-Z]", re.IGNORECASE)
_RETURNS = re.compile(
    r"\b(?:back|return(?:ing)?) to\b|\blet(?:'s|’s| us) (?:talk about|discuss|turn to)\b"
    r"|\b(?:once more|again) (?:on|about)\b",
    re.IGNORECASE,
)
_ORDINAL_WORDS = re.compile(r"\b(?:first|second|third|last|former|latter)\b", re.IGNORECASE)
_SEVERAL = re.compile(
    r"\b(?:the two|both|either|each|than|compare\w*|differ\w*|versus|vs|former|latter)\b",
    re.IGNORECASE,
)
_THE_PAPER = re.compile(r"\bthe ((?:[\w-]+ ){1,4}?)(?:paper|study|article)\b", re.IGNORECASE)
_POINTS = re.compile(
    r"\b(?:same|previous|other|first|second|third|fourth|last|next|original|earlier|later|latter|former|above)\b",
    re.IGNORECASE,
)
_TURNS = 2
_MOST_OPTION_WORDS = 25
_ORDINALS = ("first", "second", "third", "fourth", "last")
_PLACE = re.compile(
    rf"\W*(?:the\s+)?(?:(?:number|option|no\.?)\s*)?(?:(?P<digit>[1-9])(?:st|nd|rd|th)?|(?P<word>{'|'.join(_ORDINALS)}))"
    r"(?:\s+(?:one|paper|option))?\W*",
    re.IGNORECASE,
)
_ASKS = re.compile(r"\W*(?:who|what|which|when|where|why|how|compare|list|tell|explain|describe)\b", re.IGNORECASE)
_MOST_WORDS = 24


class Rewriter(Protocol):
    """Who restates a follow-up question so that it stands alone."""

    def rewrite(self, question: str, history: Sequence[Turn], *, until: float) -> Iterator[str | Usage]:
        """ "" while there is nothing yet, then the usage and the restated question; without one where that fails, or
        is not there by `until` (in `time.monotonic`).
        """
        ...


def standalone_question(
    question: str, history: Sequence[Turn], *, lean: Lean, turns: Sequence[Sequence[Paper]] = ()
) -> str:
    """`question` as it is searched: with the topic of the last turns behind it where it goes on with them.

    Words that answer a question that was asked back stand behind the question that they answer. `turns` are the papers
    of the last turns, which tell what "the first one" is.
    """
    if asked_back_before(history) and _is_an_option(question):
        return f"{history[-1].question} ({_option(question, options_of(history[-1].answer))})"
    if not history or lean != "goes on":
        return question
    read = in_english(question)
    pointed = point_at(read, turns)
    topic = referent(pointed, history) if pointed else _topic(read, history)
    return f"{question} ({topic})" if topic else question


def needs_rewriting(question: str, history: Sequence[Turn], *, lean: Lean) -> bool:
    """Whether a model should restate `question`: not where it stands alone or answers what was asked back."""
    return bool(history) and lean != "stands alone" and not (asked_back_before(history) and _is_an_option(question))


def leans_on_history(question: str) -> bool:
    """Whether the question refers back: by a pronoun, by how it begins, or by how little it says.

    One that names what it is about, and compares it with nothing, does not: its pronouns stand for that name.
    """
    question = in_english(question)
    names = find_names(question)
    if _names_a_paper(question):
        return False
    if names and (_OPENS_ANEW.search(question) or (_RETURNS.search(question) and not _ORDINAL_WORDS.search(question))):
        return False
    if _CONTINUES.search(question) or _REFERS.search(question) or is_general(question):
        return True
    return len(set(analyze(question))) <= _FEW_TERMS and not names


def how_it_leans(
    question: str, history: Sequence[Turn], *, found: Sequence[ScoredPaper], turns: Sequence[Sequence[Paper]]
) -> Lean:
    """How `question` leans on `history`; `found` is what its own words find, `turns` the papers of the turns."""
    if asked_back_before(history) and _is_an_option(question):
        return "stands alone"  # with the question that it answers
    question = in_english(question)
    if point_at(question, turns):
        return "goes on"
    if _RETURNS.search(question):
        return "stands alone" if find_names(question) else "returns"
    if _names_a_paper(question) or (_OPENS_ANEW.search(question) and find_names(question)):
        return "stands alone"
    if not turns or _is_foreign_to(turns[-1], question):
        return "stands alone"
    return "goes on" if goes_on(bearings_of(question, found=found, turn=turns[-1])) else "stands alone"


def _is_foreign_to(turn: Sequence[Paper], question: str) -> bool:
    """Whether the question points at nothing and has words for its subject, none of which the turn's papers have."""
    if _REFERS.search(question) or _CONTINUES.search(question) or is_general(question):
        return False
    said = set(analyze(" ".join(f"{paper.title} {paper.abstract}" for paper in turn)))
    own = set(content_terms(question))
    return bool(own) and not own & said


def bearings_of(question: str, *, found: Sequence[ScoredPaper], turn: Sequence[Paper]) -> Bearings:
    """What tells whether a question in English goes on with a turn that was about the papers `turn`."""
    refers = _REFERS.search(question)
    gap, best = lead(found, turn)
    return Bearings(
        gap=gap,
        found=best,
        refers=float(refers is not None),
        early=1 - refers.start() / len(question) if refers else 0.0,
        continues=float(_CONTINUES.search(question) is not None),
        general=float(is_general(question)),
        content=min(len(content_terms(question)), 10) / 10,
        named=float(bool(find_names(question))),
        length=min(len(question.split()), 25) / 25,
    )


def _names_a_paper(question: str) -> bool:
    """Whether the question says which paper it is about: "the memory traces paper", but not "the other paper"."""
    found = _THE_PAPER.search(question)
    return (
        found is not None
        and not is_general(found[1])
        and bool(analyze(found[1]))
        and not (_POINTS.search(found[1]) or _SEVERAL.search(question))
    )


def _is_an_option(reply: str) -> bool:
    """Whether `reply` picks something rather than asks another question."""
    return not reply.rstrip().endswith("?") and len(reply.split()) <= _MOST_OPTION_WORDS and not _ASKS.match(reply)


def _option(reply: str, options: Sequence[str]) -> str:
    """What `reply` picks: an option by its number or place, else its own words."""
    picked = _PLACE.fullmatch(reply)
    if picked is None:
        return reply.strip(" .!\"'“”")
    digit = picked["digit"]
    place = int(digit) - 1 if digit else _ORDINALS.index(picked["word"].lower())
    place = len(options) - 1 if not digit and place == len(_ORDINALS) - 1 else place
    return options[place] if 0 <= place < len(options) else reply


def _topic(question: str, history: Sequence[Turn]) -> str:
    """Words of the last questions and names of their answers that are new to `question`, the latest turn first.

    Of a turn that has only words that any question may have, those are no topic: the turns before it count. Names of
    authors are none either. Turns are gone back to, `_TURNS` at most, until one stands alone; for a question that
    compares, beyond it.
    """
    own = set(analyze(question))
    words: dict[str, None] = {}
    left = _TURNS
    for turn in reversed(history):
        is_aside = asked_back_before([turn]) or read_record_question(turn.question) is not None
        names = [] if is_aside else find_names(turn.answer)
        said = [*re.findall(r"[\w-]+", turn.question), *names]
        if all(is_general(word) or not analyze(word) for word in said):
            continue
        words |= dict.fromkeys(word for word in said if analyze(word) and not set(analyze(word)) <= own)
        left -= 1
        stands_alone = not leans_on_history(turn.question) or _ORDINAL_WORDS.search(turn.question)
        if left == 0 or (stands_alone and not _SEVERAL.search(question)):
            break
    return " ".join(list(words)[:_MOST_WORDS])
