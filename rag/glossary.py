"""German and Chinese questions word by word in English, which the embedded model and the abstracts are in.

Dictionary-based query translation (Ballesteros and Croft 1997): no grammar, only what finds a paper and its sentences.
What the word list does not know stays as it is, so that names and cognates are still found.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import Stemmer

Language = Literal["de", "zh"]

_CHINESE = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+")
_KANA = re.compile(r"[\u3040-\u30ff]")
_MARKS = str.maketrans("？，。：；！（）、", "?,.:;!(),")
_WORD = re.compile(r"[\w*-]*\w|[^\w\s]+")
_GERMAN = frozenset(
    "der die das den dem des ein eine einen einem einer eines und oder nicht ist sind wird werden wurde wurden hat"
    " haben mit von vom zu zum zur auf im bei für aus nach über unter durch gegen zwischen als wenn dass ob wie was wo"
    " wer warum welche welcher welches welchem welchen wofür womit wodurch worauf woran kann können um sich es".split()
)
_ENGLISH = frozenset(
    "the a an of to and or is are does do did what which how why where who when with by for on from than it its that"
    " this be can has have".split()
)
_LONGEST_PHRASE = 4
"""Words of a German phrase, and half the characters of a Chinese one."""
_MIN_PART = 4
"""Letters of the shorter part of a German compound."""
_LINKS = ("", "s", "es", "n", "en")


@lru_cache(maxsize=4096)
def in_english(text: str) -> str:
    """`text` with the German or Chinese words that the word lists know put into English; else as it is."""
    if _CHINESE.search(text) and not _KANA.search(text):
        return _tidy(_CHINESE.sub(lambda run: f" {' '.join(_read_chinese(run.group()))} ", text))
    if _is_german(text):
        return _tidy(" ".join(_read_german(_WORD.findall(text))))
    return text


def unread_share(text: str) -> float:
    """The share of the Chinese characters of `text`, 0..1, that no known word has; 0 where there are none."""
    runs = _CHINESE.findall(text) if not _KANA.search(text) else []
    total = sum(map(len, runs))
    return sum(len(run) - sum(map(len, _known_chinese(run))) for run in runs) / total if total else 0.0


def _is_german(text: str) -> bool:
    words = [word.lower() for word in _WORD.findall(text)]
    german = sum(word in _GERMAN for word in words)
    return german > sum(word in _ENGLISH for word in words)


def _tidy(text: str) -> str:
    return re.sub(r"\s+([?!.,;:)])", r"\1", " ".join(text.translate(_MARKS).split()))


def _read_chinese(run: str) -> Iterator[str]:
    """The English for the known words; other characters are left out."""
    return map(_glossary("zh").__getitem__, _known_chinese(run))


def _known_chinese(run: str) -> Iterator[str]:
    """The longest known words from the left on."""
    known = _glossary("zh")
    start = 0
    while start < len(run):
        length = next((n for n in range(2 * _LONGEST_PHRASE, 0, -1) if run[start : start + n] in known), 0)
        if length:
            yield run[start : start + length]
        start += length or 1


def _read_german(words: list[str]) -> Iterator[str]:
    known = _glossary("de")
    start = 0
    while start < len(words):
        for length in range(min(_LONGEST_PHRASE, len(words) - start), 1, -1):
            phrase = " ".join(words[start : start + length]).lower()
            if phrase in known:
                yield known[phrase]
                start += length
                break
        else:
            yield _german_word(words[start])
            start += 1


def _german_word(word: str) -> str:
    """The English for `word`; a name, or what is not known, stays as it is. Parts between hyphens are read each."""
    parts = word.split("-")
    found = [_translate(part) for part in parts]
    return (
        word
        if all(english is None for english in found)
        else " ".join(part if english is None else english for part, english in zip(parts, found, strict=True))
    )


def _translate(word: str) -> str | None:
    if not word.isalpha() or any(character.isupper() for character in word[1:]):
        return None
    found = _known_form(word.lower())
    return _compound(word.lower()) if found is None else found


def _known_form(word: str) -> str | None:
    """The English for `word` or for a word of the list with the same stem."""
    known = _glossary("de")
    return known[word] if word in known else _stems().get(_stem(word))


def _compound(word: str) -> str | None:
    """The English for the parts of a compound of two known words, the longest first part that fits."""
    for cut in range(len(word) - _MIN_PART, _MIN_PART - 1, -1):
        last = _known_form(word[cut:])
        for link in _LINKS if last else ():
            first = _known_form(word[:cut].removesuffix(link)) if word[:cut].endswith(link) else None
            if first and last:
                return f"{first} {last}"
    return None


@cache
def _glossary(language: Language) -> Mapping[str, str]:
    """English by word or phrase; "" for words that carry nothing."""
    lines = files("rag.data").joinpath("glossary", f"{language}.tsv").read_text("utf-8").splitlines()
    return dict(line.split("\t") for line in lines)


@cache
def _stems() -> Mapping[str, str]:
    return {_stem(word): english for word, english in reversed(list(_glossary("de").items())) if len(word) >= _MIN_PART}


def _stem(word: str) -> str:
    stem: str = _stemmer().stemWord(word)
    return stem


@cache
def _stemmer() -> "Stemmer.Stemmer":
    import Stemmer

    return Stemmer.Stemmer("german")
