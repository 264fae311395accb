"""Text to index terms: words are stemmed, names are kept whole and split, function words are dropped."""

import re
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import Stemmer

STOP_WORDS = frozenset(
    "a about above after again all also although am among an and any are aren as at be because been before being below "
    "between both but by can cannot could did do does doing done down during each either else etc ever every few for "
    "from further had has have having he hence her here hers him his how however i if in into is it its itself just "
    "let may me might more most much must my neither no nor not of off on once one only onto or other our ours out "
    "over own per please rather s same shall she should since so some such t than that the their theirs them then "
    "there thereby therefore these they this those though through thus to too toward towards under until up upon us "
    "very via was we were what when where whereas whether which while who whom whose why will with within without "
    "would yet you your yours".split()
)
"""English function and question words. Words of content that papers share ("propose", "method") have a low idf."""

_CJK = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_TOKEN = re.compile(rf"[{_CJK}]+|\d+(?:[.,]\d+)+|[^\W_{_CJK}]+(?:['’\-‐‑][^\W_{_CJK}]+)*")
_MARKUP = re.compile(r"\\(?:emph|text\w*|math\w*|operatorname|left|right|cite\w*|ref|url|href)\b")
_BROKEN_WORD = re.compile(r"(?<=[a-z])- (?!and\b|or\b|to\b)(?=[a-z])")
_JOINTS = re.compile(r"['’\-‐‑]")
_CAMEL = re.compile(r"[A-Z]+(?![a-z])\d*|[A-Z]?[a-z]+\d*|[^\W_]+")
_MIN_CAMEL_PART = 3


def analyze(text: str) -> list[str]:
    """The terms of `text` in order, as indexed: repeated where the text repeats them.

    Words are stemmed (Snowball English), without case and accents. A name, which has capitals inside, gives itself as
    it is written beside its stem, so that MILS is more than a plural of MIL. A hyphenated or CamelCase one gives
    itself, joined, and its parts: "NS-DPO" gives nsdpo, ns, dpo. Numbers are kept ("22.3", "1,000" as 1000). Chinese
    and Japanese runs give their character pairs, as they have no spaces.
    """
    clean = _BROKEN_WORD.sub("", _MARKUP.sub(" ", unicodedata.normalize("NFKC", text)).replace("*", ""))
    terms: list[str] = []
    for match in _TOKEN.finditer(clean):
        terms.extend(_terms(match.group()))
    return terms


@lru_cache(maxsize=200_000)
def _terms(token: str) -> tuple[str, ...]:
    if "\u3040" <= token[0] <= "\u9fff" or "\uf900" <= token[0] <= "\ufaff":
        return tuple(token[i : i + 2] for i in range(max(1, len(token) - 1)))
    if token[0].isdigit() and not token.isalnum() and token.replace(",", "").replace(".", "").isdigit():
        return (token.replace(",", ""),)
    parts = [part for part in _JOINTS.split(token) if part and part.lower() != "s"]
    pieces = [piece for part in parts for piece in (part, *_camel_parts(part))]
    if len(parts) > 1:
        pieces.insert(0, "".join(parts))
    return tuple(term for piece in pieces for term in _forms(piece))


def _forms(word: str) -> tuple[str, ...]:
    if word[-1] == "s" and word[:-1].isupper():  # LLMs: Snowball leaves an s behind a consonant without vowels
        return (_fold(word[:-1]),)
    folded = _fold(word)
    if not _is_name(word):
        return () if folded in STOP_WORDS else (_stem(folded),)
    stem = _stem(folded)
    return (folded, stem) if folded != stem else (stem,)


def _is_name(word: str) -> bool:
    """Whether `word` has capitals beyond its first letter."""
    return any(character.isupper() for character in word[1:])


def _camel_parts(word: str) -> tuple[str, ...]:
    """The parts of CausalOPD or SITAlign that are long enough to be words; none for a word of one case."""
    if word.islower() or word.isupper() or word[1:].islower():
        return ()
    return tuple(part for part in _CAMEL.findall(word) if _MIN_CAMEL_PART <= len(part) < len(word))


def _fold(word: str) -> str:
    """`word` without case and accents."""
    if word.isascii():
        return word.lower()
    decomposed = unicodedata.normalize("NFKD", word.casefold())
    return "".join(character for character in decomposed if not unicodedata.combining(character))


def _stem(word: str) -> str:
    stem: str = _stemmer().stemWord(word)
    return stem


@lru_cache(maxsize=1)
def _stemmer() -> "Stemmer.Stemmer":
    import Stemmer

    return Stemmer.Stemmer("english")
