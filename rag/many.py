"""Questions over many papers: whether one asks for a list, a count or a comparison, and of what."""

import re
from collections.abc import Iterable
from typing import Literal, NamedTuple

from rag.keyword import analyze

Form = Literal["prose", "list", "count", "table"]
"""What an answer looks like: sentences, a row a paper, the same with their number in front, or a table."""


class Many(NamedTuple):
    """What a question asks of many papers.

    `subject` is what the papers are to be about, without the words that ask for them, "" where any will do; `parts` are
    the things that it joins by "or". `items` is the kind of thing that is listed, a key of `rag.questions.ASKS`, None
    where papers are. `needs_two` tells a comparison of papers, whether they are named or not; "compared with" may stay
    within one.
    """

    form: Form
    subject: str = ""
    parts: tuple[str, ...] = ()
    items: str | None = None
    needs_two: bool = False


PROSE = Many("prose")
_PAPERS = r"(?:papers?|abstracts?|stud(?:y|ies)|articles?|publications?|preprints?)"
_PLURAL = r"(?:papers|abstracts|studies|articles|publications|preprints)"
_BEFORE = r"(?:the|of|me|all|out|these|those|every|each|any|recent|other|new|relevant|\w+ing|\w+al)"
_LISTS = re.compile(
    rf"\b(?:which|what|any|list|find|show|name|give|all|how many|are there)\b(?:\s+{_BEFORE}){{0,4}}\s+{_PLURAL}\b"
    rf"|\b(?:list|show|name|give|find)\b(?:\s+{_BEFORE}){{0,3}}\s+(?:every|each)\s+{_PAPERS}\b"
    r"|\bpapers (?:on|about|that|by|which|with|using)\b",
    re.IGNORECASE,
)
_WORKS = r"(?:methods|approaches|frameworks|algorithms|techniques|works)"
_LISTS_WORKS = re.compile(
    rf"^\W*(?:which|what)\s+(?:of the\s+)?{_WORKS}\s+(?!(?:do|does|did|is|was|has)\b)(?=[a-z]+\s+[a-z])", re.IGNORECASE
)
"""Methods that do something are listed as their papers are: "Which methods need no training?"."""
_COUNTS = re.compile(
    rf"\b(?:how many|(?:what is )?the number of|count(?: the| all)*)\s+(?:{_BEFORE}\s+){{0,2}}{_PLURAL}\b",
    re.IGNORECASE,
)
_ASKS_FOR_PAPERS = re.compile(
    r"^\W*(?:(?:please|can|could|would|you|are|is|there|do|does|have|we|tell|give|show|list|find|name|want|need|i|me|in"
    r"|from|what|which|how|many|count|number|some|any|all|every|each|the|of|out|these|those|recent|other|relevant"
    rf"|everything)\s+)*(?:{_PAPERS}|{_WORKS})(?=\W|$)",
    re.IGNORECASE,
)
_RELATION = re.compile(
    r"^\s*(?:(?:that|which|who|are|is|was|were|there|do|does|did|have|has|here|you know(?: of)?"
    r"|in (?:the|this|your) corpus"
    r"|mention(?:s|ing)?|claim(?:s|ing)? to|deal(?:s|ing)? with|concern(?:s|ing|ed)?(?: with)?|stud(?:y|ies|ying)"
    r"|address(?:es|ing)?|discuss(?:es|ing)?|cover(?:s|ing)?|about|on|of|for|talk(?:s|ing)? about"
    r"|focus(?:es|ed|ing)?(?: on)?|use[sd]?|using|us(?:e|ing)|investigat(?:e|es|ing)|consider(?:s|ing)?"
    r"|tackl(?:e|es|ing)"
    r"|look(?:s|ing)? at|examin(?:e|es|ing)|propos(?:e|es|ing)|present(?:s|ing)?|handl(?:e|es|ing)"
    r"|speak(?:s|ing)? (?:of|about)|tell(?:s|ing)? (?:of|about)|treat(?:s|ing)?|say(?:s|ing)? (?:that|of)|face[sd]?"
    r"|(?:(?:are|is) )?said to(?: be)?|give|show|have|take|need|apply|work(?:s|ing)?(?: with| on)?|exist|related to"
    r"|relevant to|an?|the|any|something|things|anything)(?=\s|$)\s*)+",
    re.IGNORECASE,
)
_THERE = re.compile(r"(?:^|\s)(?:(?:which|how many) papers )?(?:are|is) there\s*$", re.IGNORECASE)
"""What may end a question for papers: "papers on privacy are there", or a Chinese one word by word."""
_LACKING = re.compile(r"^(?:no|without(?: any)?) ([a-z]+)$", re.IGNORECASE)
"""A subject that is the lack of something: abstracts write "training-free"."""
_JOINED = re.compile(r",?\s+\b(?:and/)?or\b\s+|,\s+", re.IGNORECASE)
_ASIDE = re.compile(r"\([^()]*\)")
_ITEMS = {
    "evaluation": r"benchmarks?|data ?sets?|evaluations?|test suites?",
    "availability": r"code|repositor(?:y|ies)|links?|urls?",
    "method": r"methods?|frameworks?|algorithms?|approach(?:es)?|techniques?|models?",
    "problem": r"limitations?|problems?|challenges?|gaps?",
    "theory": r"bounds?|theorems?|guarantees?|theoretical results?",
    "result": r"results?|findings?|numbers?",
}
_LISTS_ITEMS = re.compile(
    r"^\W*(?:please\s+)?(?:(?:list|name|enumerate|collect|give(?: me)?|show(?: me)?|what are)\s+(?:me\s+)?"
    r"(?P<all>all|every|each|any)\s+(?:of\s+)?(?:the\s+)?|(?:which|what)\s+)"
    rf"(?:[\w-]+\s+)?(?:{'|'.join(f'(?P<{kind}>{words})' for kind, words in _ITEMS.items())})\b(?P<rest>[^?]*)",
    re.IGNORECASE,
)
_OF_PAPERS = re.compile(
    r"\b(?:in|by|across|of|from|do|does)\s+(?:(?:all|these|those|the|this|any)\s+)*(?:papers|abstracts|corpus|studies)\b"
    r"(?:\s+(?:use|report|mention|have|propose|test on|release|introduce|name|prove))?"
    r"|^\s*(?:are|is|were|was)?\s*(?:used|reported|mentioned|named|proposed|there|released|proved|proven|introduced)?\b",
    re.IGNORECASE,
)
_COMPARES = re.compile(
    r"\bcompar|\bcontrast\b|\bboth\b|\bdiffers?\b|\bdifferent (?:from|to)\b|\bdifferences? between\b|\bversus\b|\bvs\b"
    r"|\bin each\b|\bof the two\b|\bin common\b|\brespectively\b",
    re.IGNORECASE,
)
_NEEDS_TWO = re.compile(
    rf"^\W*(?:please\s+)?(?:compare|contrast)\b|\bdifferences? between\b|\b(?:of|between) the two\b|\bversus\b|\bvs\b"
    rf"|\bboth (?:methods|models|approaches|{_PLURAL})\b|\bthe two (?:methods|models|approaches|{_PLURAL})\b"
    r"|\bboth\b.*\beach\b",
    re.IGNORECASE | re.DOTALL,
)
_LITTLE = frozenset(analyze("compare contrast difference differ different two both each common respectively versus vs"))
"""Words of comparisons that do not say in what."""


def read_many(text: str, *, names: tuple[str, ...]) -> Many:
    """What `text` asks of many papers, by its words alone; `names` are those in it."""
    if items := _read_items(text, names):
        return items
    if _LISTS.search(text) or (_LISTS_WORKS.match(text) and not names):
        subject = _subject(text)
        return Many("count" if _COUNTS.search(text) else "list", subject, _parts(subject))
    return Many("table" if _COMPARES.search(text) else "prose", needs_two=_NEEDS_TWO.search(text) is not None)


def says_in_what(terms: frozenset[str], *, names: Iterable[str]) -> bool:
    """Whether a comparison names what is compared beside whom: "compare A and B" does not, "which data do ..." does."""
    return bool(terms - _LITTLE - frozenset(term for name in names for term in analyze(name)))


def _read_items(text: str, names: tuple[str, ...]) -> Many | None:
    """A question for every benchmark, method ..., in all papers or in those on a subject; a named paper is one."""
    found = _LISTS_ITEMS.match(text)
    if not found or names:
        return None
    rest = found["rest"]
    if not found["all"] and not re.search(r"\b(?:papers|abstracts|corpus|studies)\b", rest, re.IGNORECASE):
        return None
    kind = next(kind for kind in _ITEMS if found[kind])
    subject = _RELATION.sub("", _OF_PAPERS.sub(" ", rest)).strip(" ,.?!")
    subject = subject if analyze(subject) else ""
    return Many("list", subject, _parts(subject), kind)


def _subject(text: str) -> str:
    """What is left without the words that ask for papers; all of it where these do not come first."""
    asking = _ASKS_FOR_PAPERS.match(text)
    rest = _THERE.sub("", f" {text[asking.end() :] if asking else text} ".replace("?", " "))
    subject = _LACKING.sub(r"\1-free", _RELATION.sub("", rest).strip(" ,.?!"))
    return subject if analyze(subject) else ""


def _parts(subject: str) -> tuple[str, ...]:
    """What "or" and commas join in `subject`, each with what the last one ends in: "blurred or sharp images"."""
    parts = [part.strip() for part in _JOINED.split(_ASIDE.sub(" ", subject)) if analyze(part)]
    if len(parts) < 2:
        return ()
    shared = parts[-1].split(maxsplit=1)[1:]
    return tuple(
        " ".join([part, *shared]) if part is not parts[-1] and len(analyze(part)) == 1 else part for part in parts
    )
