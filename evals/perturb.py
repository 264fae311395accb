"""Sentences made from abstracts with a known truth: light paraphrases, and changes that make them false."""

import random
import re
from collections.abc import Iterator, Sequence
from typing import Literal

Change = Literal["other number", "exchanged numbers", "other name", "opposite", "negated", "exchanged sides"]

_REWORDINGS = (
    (r"\bIn this (?:paper|work),? ", ""),
    (r"^(?:However|Moreover|Furthermore|Additionally|Specifically|Notably|To this end|In particular|Finally), ", ""),
    (r"\b[Ww]e propose\b", "the authors put forward"),
    (r"\b[Ww]e (introduce|present)\b", "the paper comes up with"),
    (r"\b[Ww]e (show|demonstrate|find)\b", "it turns out"),
    (r"\b[Ww]e\b", "the authors"),
    (r"\b[Oo]ur\b", "their"),
    (r"\bnovel\b", "new"),
    (r"\bsignificantly\b", "markedly"),
    (r"\bachieves\b", "gets"),
    (r"\bleverag(es|ing)\b", "making use of"),
    (r"\bExtensive experiments\b", "Many experiments"),
    (r"\bexisting\b", "current"),
    (r"\bstate-of-the-art\b", "leading"),
    (r"\butilizes?\b", "uses"),
    (r"\bvarious\b", "a range of"),
    (r"\baddress(es)?\b", "deal with"),
    (r"\bcrucial\b", "important"),
    (r"\bvia\b", "through"),
    (r"\bThis paper\b", "It"),
    (r" \([^()]{1,40}\)", ""),
)
_OPPOSITES = (
    ("outperforms", "underperforms"), ("outperform", "underperform"), ("improves", "worsens"), ("improve", "worsen"),
    ("improving", "worsening"), ("reduces", "increases"), ("reduce", "increase"), ("reducing", "increasing"),
    ("increases", "decreases"), ("increase", "decrease"), ("higher", "lower"), ("lower", "higher"), ("better", "worse"),
    ("faster", "slower"), ("larger", "smaller"), ("superior", "inferior"), ("without", "with"), ("more", "less"),
    ("enhances", "impairs"), ("enhance", "impair"), ("upper", "lower"), ("stronger", "weaker"), ("fewer", "more"),
)  # fmt: skip
_NEGATABLE = re.compile(
    r"\b(is|are|can|does|do|will)\b(?! not)|\b(?P<verb>achieves|outperforms|improves|requires|provides|enables|reduces|"
    r"uses|shows|captures|allows|guarantees|converges|generalizes|supports|ensures)\b"
)
_FIGURE = re.compile(r"(?<![\w.-])\d+(?:\.\d+)?(?=%|x\b|\\times|\$\\times|\s|\\%|,\s|\.\s|k\b|K\b|M\b|B\b)")
NAME = re.compile(r"(?<![\w$\\{*-])(?:[A-Z]+[a-z]+[A-Z]\w*|[A-Z]{3,}\w*(?:-[A-Z]\w*)*)(?![\w}])")
_COMPARED = re.compile(r"^(?P<a>.{3,80}?) (?P<verb>outperforms|surpasses|exceeds) (?P<b>[^,.]{3,80})(?P<rest>[,.].*)?$")


def paraphrase(sentence: str) -> str:
    """The sentence as a reader may retell it; what it says stays the same."""
    for pattern, replacement in _REWORDINGS:
        sentence = re.sub(pattern, replacement, sentence)
    return sentence[:1].upper() + sentence[1:]


def falsify(sentence: str, *, names: Sequence[str], rng: random.Random) -> Iterator[tuple[Change, str]]:
    """Every kind of change that can be made to the sentence; `names` are those of other abstracts."""
    figures = list(_FIGURE.finditer(sentence))
    if figures:
        figure = rng.choice(figures)
        yield "other number", _replace(sentence, figure.span(), _other_number(figure.group(), rng))
    if len(figures) > 1 and figures[0].group() != figures[1].group():
        one, two = figures[:2]
        swapped = _replace(sentence, two.span(), one.group())
        yield "exchanged numbers", _replace(swapped, one.span(), two.group())
    if name := NAME.search(sentence):
        yield "other name", sentence.replace(name.group(), rng.choice(names))
    for word, opposite in _OPPOSITES:
        if match := re.search(rf"\b{word}\b", sentence):
            yield "opposite", _replace(sentence, match.span(), opposite)
            break
    if match := _NEGATABLE.search(sentence):
        denied = f"does not {match['verb'].removesuffix('s')}" if match["verb"] else f"{match.group()} not"
        yield "negated", _replace(sentence, match.span(), denied)
    if match := _COMPARED.match(sentence):
        yield "exchanged sides", f"{match['b']} {match['verb']} {match['a']}{match['rest'] or ''}"


def _replace(text: str, span: tuple[int, int], replacement: str) -> str:
    return text[: span[0]] + replacement + text[span[1] :]


def _other_number(figure: str, rng: random.Random) -> str:
    decimals = len(figure.partition(".")[2])
    value = float(figure)
    other = round(value * rng.choice([0.4, 0.7, 1.4, 1.9, 3.0]) + (0 if value > 2 else 2), decimals)
    return f"{other:.{decimals}f}" if other != value else f"{value + 3:.{decimals}f}"
