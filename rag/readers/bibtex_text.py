"""BibTeX values as text: accents and escapes become characters, grouping braces go, math and other macros stay.

Packages that decode LaTeX drop the macros that they do not know, and with them words of abstracts.
"""

import re
import unicodedata

_MARKS = {
    "`": "\u0300", "'": "\u0301", "^": "\u0302", "~": "\u0303", '"': "\u0308", "=": "\u0304", ".": "\u0307",
    "u": "\u0306", "v": "\u030c", "H": "\u030b", "c": "\u0327", "k": "\u0328", "r": "\u030a", "d": "\u0323",
    "b": "\u0331",
}  # fmt: skip
"""LaTeX's accents as combining characters."""
_LETTERS = {
    "ss": "ß", "o": "ø", "O": "Ø", "l": "ł", "L": "Ł", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "aa": "å",
    "AA": "Å", "i": "ı", "j": "ȷ", "dh": "ð", "DH": "Ð", "th": "þ", "TH": "Þ",
}  # fmt: skip
_LETTER = re.compile(r"\\(ss|ae|AE|oe|OE|aa|AA|dh|DH|th|TH|[oOlLij])(?![A-Za-z])(?:\{\}|[ ]+)?")
_ACCENT = re.compile(r"""\\(?:([`'^~"=.])[ ]*|([uvHckrdb])(?![A-Za-z]))(?:\{([A-Za-zıȷ])\}|[ ]*([A-Za-zıȷ]))""")
_ESCAPE = re.compile(r"\\([&%_#$])")
_MATH = re.compile(r"((?<!\\)\$[^$]*(?<!\\)\$)")
_GROUP = re.compile(r"(\\[A-Za-z]+\*?\s*(?:\[[^\]]*\])?(?:\{[^{}]*\})+)|\{((?:[^{}\\]|\\[&%_#$])*)\}")
"""A macro with its arguments, or a group that is none and holds no macro but an escape."""
_NESTED = 4


def plain(value: str) -> str:
    """`value` as it is read: "{SITA}lign by L{\\"o}we \\& others" becomes "SITAlign by Löwe & others"."""
    parts = _MATH.split(value)
    return "".join(part if index % 2 else _plain(part) for index, part in enumerate(parts))


def _plain(text: str) -> str:
    text = _ACCENT.sub(_accented, _LETTER.sub(lambda match: _LETTERS[match[1]], text))
    for _ in range(_NESTED):
        shorter = _GROUP.sub(lambda match: match[1] or match[2], text)
        if shorter == text:
            break
        text = shorter
    return _ESCAPE.sub(r"\1", text)


def _accented(match: re.Match[str]) -> str:
    letter = (match[3] or match[4]).replace("ı", "i").replace("ȷ", "j")
    return unicodedata.normalize("NFC", letter + _MARKS[match[1] or match[2]])
