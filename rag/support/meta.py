"""Sentences that make no claim that a source could support: on what the sources lack, questions, headings, lead-ins."""

import re

from rag.textnorm import normalize

_SOURCE = r"(?:sources?|abstracts?|papers?|documents?|passages?|corpus|context|text|information|excerpts?|authors?)"
_SAYS = (
    r"(?:say|states?|stated|mention|specif|report|provid|contain|giv|discuss|answer|includ|describ|address|cover|"
    r"indicat|explain|defin|detail|disclos|reveal|found|find|name|tell|list|compare|present|available)"
)
_LACKS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b{_SOURCE}\b.{{0,40}}\b(?:do(?:es)?|did|is|are|can)(?:\s+not|n't|not)\b.{{0,25}}\b{_SAYS}",
        rf"\b(?:none|neither) of (?:the |these |those )?(?:\w+ ){{0,2}}{_SOURCE}\b.{{0,25}}\b{_SAYS}",
        rf"\bno (?:\w+ ){{0,2}}{_SOURCE}\b.{{0,25}}\b{_SAYS}",
        rf"\bnot (?:\w+ ){{0,2}}{_SAYS}\w*\b.{{0,30}}\b(?:in|by) (?:the|these|any)\b.{{0,20}}\b{_SOURCE}\b",
        r"\b(?:I|we) (?:can ?not|could not|couldn't|can't|do not|don't) (?:\w+ )?(?:find|answer|know|determine|tell)\b",
        r"\bcan(?:not|'t| not) be (?:answered|determined|found) (?:from|in|with|by)\b",
        r"\bthere is no (?:mention|information|evidence|statement) (?:of|on|about|in)\b",
    )
)
_GOES_ON = re.compile(r"\b(?:but|however|although|though|instead|while|whereas|nevertheless)\b", re.IGNORECASE)
_HEADING = re.compile(r"#{1,6}\s.*|\*\*[^*]{1,60}\*\*:?")
_LEAD_IN_WORDS = 14


def needs_no_support(sentence: str) -> bool:
    """Whether a sentence claims nothing of its own that a source would have to say.

    "The abstracts do not say which data were used" is one; with a "but" or a number in it, it is not.
    """
    bare = sentence.strip()
    if _HEADING.fullmatch(bare) or bare.endswith("?"):
        return True
    clean = normalize(bare)
    if any(map(str.isdigit, clean)):
        return False
    if clean.endswith(":") and len(clean.split()) <= _LEAD_IN_WORDS:
        return not any(word[1:] != word[1:].lower() for word in clean.split())
    return any(pattern.search(clean) for pattern in _LACKS) and not _GOES_ON.search(clean)
