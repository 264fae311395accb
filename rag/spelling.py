"""Typing errors in a question: words that neither English nor the corpus has, and what they were meant to be."""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from difflib import SequenceMatcher
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from rag.domain import Paper, ScoredPaper
from rag.glossary import in_english
from rag.keyword import analyze

if TYPE_CHECKING:
    from rag.corpus import Corpus

_WORD = re.compile(r"(?<![\w-])[^\W\d_]+(?![\w-])")
_CAPITALS = re.compile(r"[A-Z].*[A-Z]")
_SHORTEST = 4
"""Letters of the shortest word that is corrected: shorter ones are like too many others."""
_LIKE = 0.8
"""Words this much alike (difflib's ratio) may be one word and a typing error."""
_SWAPPED = 0.95
_CLOSER = 0.05
"""What a word of a retrieved paper counts more than one that any text may have."""
_MOST_LETTERS_MORE = 2


def errors_in(text: str, found: Iterable[ScoredPaper], *, corpus: "Corpus") -> dict[str, str]:
    """The typing errors of an English question that found these papers; {} for one in another language."""
    if in_english(text) != text:
        return {}
    return misspelt_words(text, [hit.paper for hit in found], idf=corpus.keyword.idf)


def misspelt_words(text: str, papers: Iterable[Paper], *, idf: Callable[[str], float]) -> dict[str, str]:
    """The words of `text` that look like typing errors, and what each was meant to be.

    Known are the words of the corpus, by their `idf`, and those of the embedded model's vocabulary. What is meant is
    the likeliest word of `papers` or of that vocabulary; a word that is like none stays as it is.
    """
    unknown = [word for word in dict.fromkeys(_WORD.findall(text)) if _is_unknown(word, idf=idf)]
    if not unknown:
        return {}
    told = {word for paper in papers for word in _WORD.findall(f"{paper.title} {paper.abstract}")}
    meant = {word: _meant(word, told) for word in unknown}
    return {word: found for word, found in meant.items() if found}


def respell(text: str, words: Mapping[str, str]) -> str:
    """`text` with what `words` says in place of them."""
    return _WORD.sub(lambda match: _as_written(words.get(match[0], match[0]), like=match[0]), text)


def _as_written(word: str, *, like: str) -> str:
    """`word` with a capital where `like` has one."""
    return word[0].upper() + word[1:] if like[0].isupper() else word


def _is_unknown(word: str, *, idf: Callable[[str], float]) -> bool:
    if len(word) < _SHORTEST or not word.isascii() or word.lower() in _vocabulary():
        return False
    terms = analyze(word)
    return bool(terms) and all(idf(term) >= idf("") for term in terms)


def _meant(word: str, told: Iterable[str]) -> str | None:
    """The likeliest word, of alike ones the commonest. A name, as CRISPR, can only be meant for another one."""
    lower, is_name = word.lower(), _CAPITALS.search(word) is not None
    scores = {
        candidate: _likeness(lower, candidate.lower()) + _CLOSER
        for candidate in told
        if not is_name or _CAPITALS.search(candidate)
    }
    for candidate in () if is_name else _vocabulary_by_initial().get(lower[0], ()):
        scores.setdefault(candidate, _likeness(lower, candidate))
    rank = _vocabulary()
    best = max(scores, key=lambda found: (scores[found], -rank.get(found.lower(), len(rank)), found), default=None)
    return best if best and scores[best] >= _LIKE else None


def _likeness(word: str, other: str) -> float:
    """Their likeness in 0..1; two letters in the wrong order are one error."""
    if len(other) < _SHORTEST or abs(len(word) - len(other)) > _MOST_LETTERS_MORE:
        return 0.0
    differing = [place for place, (one, two) in enumerate(zip(word, other, strict=False)) if one != two]
    if len(word) == len(other) and len(differing) == 2 and differing[1] - differing[0] == 1:
        first, second = differing
        if (word[first], word[second]) == (other[second], other[first]):
            return _SWAPPED
    matcher = SequenceMatcher(None, word, other, autojunk=False)
    return matcher.ratio() if matcher.real_quick_ratio() >= _LIKE and matcher.quick_ratio() >= _LIKE else 0.0


@cache
def _vocabulary() -> Mapping[str, int]:
    """The whole words of the embedded model's vocabulary, about 20,000 common ones of English, and their ranks."""
    text = files("rag.data").joinpath("all-MiniLM-L6-v2-tokenizer.json").read_text("utf-8")
    ids: dict[str, int] = json.loads(text)["model"]["vocab"]
    return {word: rank for word, rank in ids.items() if word.isalpha() and word.isascii()}


@cache
def _vocabulary_by_initial() -> Mapping[str, tuple[str, ...]]:
    groups: dict[str, list[str]] = {}
    for word in _vocabulary():
        if len(word) >= _SHORTEST:
            groups.setdefault(word[0], []).append(word)
    return {initial: tuple(words) for initial, words in groups.items()}
