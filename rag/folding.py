"""Names, venues and titles in the one form in which they are compared: no case, no accents, no punctuation."""

import re
import unicodedata

_PLAIN = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ð": "d", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th"})
_WORD = re.compile(r"[^\W_]+")


def fold(text: str) -> str:
    """The words of `text` without case, accents and punctuation, single spaces between them."""
    if text.isascii():
        return " ".join(_WORD.findall(text.lower()))
    decomposed = unicodedata.normalize("NFKD", text.casefold().translate(_PLAIN))
    return " ".join(_WORD.findall("".join(char for char in decomposed if not unicodedata.combining(char))))


def fold_name(name: str) -> str:
    """The same of a person's name, "Wang, Yisen" as "Yisen Wang"."""
    last, comma, first = name.partition(",")
    return fold(f"{first} {last}" if comma else name)
