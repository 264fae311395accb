"""Whether a text is in English: a sentence in another language cannot be compared word by word with an abstract."""

import re
import unicodedata

from rag.keyword.analysis import STOP_WORDS

_WORD = re.compile(r"[^\W\d_]+")
_FOREIGN = frozenset(
    "der die das den dem des und ist sind nicht ein eine einen einem einer mit für von vom zu zur zum im auf aus bei "
    "wird werden wurde durch welche welchen über sich nur auch als wie "
    "le la les un une et est sont pas pour dans avec que qui sur par du au aux ce cette ces ne plus leur "
    "el los las del y es son para con por una uno se lo al más sus como "
    "il gli di che è per non della delle dei nel con sono questo questa "
    "o os um uma da do dos das em não ao pela pelo "
    "het een en van voor niet met op zijn worden dat".split()
) - {"an", "as", "is", "in", "do", "die"}
"""Commonest function words of German, French, Spanish, Italian, Portuguese and Dutch, without those of English."""
_LEAST_WORDS = 2
_LEAST_LETTERS = 4
_LETTERS_A_SIGN = 3
"""A Chinese or Japanese sign says as much as some three Latin letters; Latin names stand between them."""


def is_foreign(sentence: str) -> bool:
    """Whether it is mostly in another script than Latin, or most of its function words are of another language."""
    scripts = [unicodedata.name(character, "").split(" ")[0] for character in sentence if character.isalpha()]
    other = sum(script not in {"LATIN", "GREEK", "FULLWIDTH", "MATHEMATICAL", "MICRO"} for script in scripts)
    if other >= _LEAST_LETTERS and _LETTERS_A_SIGN * other >= len(scripts) - other:
        return True
    foreign, english = _function_words(sentence)
    return foreign >= _LEAST_WORDS and foreign > english


def is_english(text: str) -> bool:
    """Whether English function words stand in it, and more than other languages'. Short texts may be neither."""
    foreign, english = _function_words(text)
    return english >= _LEAST_WORDS and english > foreign and not is_foreign(text)


def _function_words(text: str) -> tuple[int, int]:
    """How many words of `text` are function words of other languages, and of English."""
    words = [word.lower() for word in _WORD.findall(text)]
    return sum(word in _FOREIGN for word in words), sum(word in STOP_WORDS for word in words)
