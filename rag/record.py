"""What a paper's record says of it: who wrote it, when and where it came out, where it can be read."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from rag.domain import Abstained, Cite, Note, Paper, Piece, Recorded, Source, Turn
from rag.keyword import analyze

Field = Literal["authors", "year", "venue", "url", "arxiv_id", "categories", "title"]

AUTHORS_SHOWN = 3
_PAPER = r"(?:the\s+)?(?:papers?|abstracts?|articles?|work|study|publication|preprint)"
_PATTERNS: Mapping[Field, str] = {
    "authors": (
        r"^\W*who\s+(?:all\s+)?(?:wrote|authored|published|co-?authored)\b"
        r"|^\W*who\s+(?:is|are|was|were)\s+(?:the\s+)?(?:(?:first|last|senior|lead)\s+)?(?:co-?)?authors?\b"
        rf"|^\W*who\s+(?:is|are)\s+behind\s+{_PAPER}\b|\b(?:names?|list)\s+(?:of\s+)?the\s+authors\b"
        rf"|^\W*(?:(?:please|give|tell|show|name|list|me)\s+)*(?:the\s+)?authors?\s+(?:of|behind)\s+{_PAPER}\b"
        r"|^\W*what\s+(?:are|is)\s+the\s+authors?\b|\bby whom (?:is|was)\b"
    ),
    "year": (
        r"^\W*(?:when|(?:in\s+)?(?:what|which)\s+year|how (?:old|recent))\s+(?:was|is|were|did)\b.*"
        rf"\b(?:published|written|appear|come out|{_PAPER})\b|\bpublication\s+(?:year|date)\b"
    ),
    "venue": (
        r"^\W*(?:where|(?:(?:at|in)\s+)?(?:what|which)\s+(?:conference|venue|journal))\s+(?:was|is|were|did)\b.*"
        r"\b(?:published|presented|appear|accepted)\b"
    ),
    "url": (
        r"^\W*where\s+(?:can|could|do|may)\s+(?:i|we|you|one)\s+(?:read|find|get|see|download|access)\s+(?!.*\bcode\b)"
        rf"(?=.*\b(?:{_PAPER}|it|read)\b)"
        rf"|\b(?:link|url|address|pdf)\s+(?:of|to|for)\s+(?:{_PAPER}|it\b|this\b)(?!.*\bcode\b)"
        r"|\b(?:paper|abstract|article)(?:'s|’s)?\s+(?:link|url|page|pdf)\b"
    ),
    "arxiv_id": r"\barxiv\s+(?:id|number|identifier)\b",
    "categories": r"\barxiv\s+categor(?:y|ies)\b|\bcategor(?:y|ies)\s+of\s+the\s+paper\b",
    "title": r"\btitle\s+of\s+(?:the\s+)?(?:paper|article|work|study)\b",
}
"""How questions for each field read. "Where is the code?" is none: the abstracts say it."""
_FRAME = re.compile(
    r"\b(?:who|when|where|what|which|year|conference|venue|journal|wrote|authored|co-?authored|authors?|published|written"
    r"|presented|appear(?:ed)?|accepted|released?|come|came|out|can|could|do|may|does|did|i|we|you|one|read|find|get|see"
    r"|download|access|link|url|address|pdf|arxiv|id|number|identifier|full|title|names?|list|first|last|senior|lead"
    r"|behind|by whom|publication|date|categor(?:y|ies)|please|tell|me|give|is|are|was|were|it|this|that|the|of|to|for"
    r"|in|at|on|a|an|papers?|abstracts?|articles?|work|study|preprint|from|about|called|named|entitled|titled)\b",
    re.IGNORECASE,
)
_NAMES: Mapping[Field, str] = {
    "authors": "authors",
    "year": "year",
    "venue": "venue",
    "url": "link",
    "arxiv_id": "arXiv id",
    "categories": "categories",
    "title": "title",
}


@dataclass(frozen=True, slots=True)
class RecordQuestion:
    """A question for one field of a paper's record; `subject` says which paper, "" where nothing does."""

    field: Field
    subject: str


def read_record_question(text: str) -> RecordQuestion | None:
    """What field of a record `text` asks for; None where the abstracts are to answer it."""
    for field, pattern in _PATTERNS.items():
        if re.search(pattern, text, re.IGNORECASE):
            subject = " ".join(re.sub(r"[?!,;:“”\"()]|['’]s\b", " ", _FRAME.sub(" ", text)).split())
            return RecordQuestion(field, subject)
    return None


def record_line(paper: Paper) -> str:
    """A paper in one sentence, as its record has it: title, authors, where and when it came out."""
    names = ", ".join(paper.authors[:AUTHORS_SHOWN])
    more = " and others" if len(paper.authors) > AUTHORS_SHOWN else ""
    by = f"by {names}{more}" if names else ""
    return f"{', '.join(part for part in (f'“{_one_line(paper.label)}”', by, _appeared(paper)) if part)}."


def statement(paper: Paper, field: Field) -> str | None:
    """What the record of `paper` says of `field`, as a sentence; None where it says nothing."""
    return _STATEMENTS[field](paper)


class RecordWriter:
    """Answers questions for a record's field from the first source alone. Nothing is guessed."""

    name = "record"
    model: str | None = None
    prompt: str | None = None

    def __init__(self, asked: RecordQuestion) -> None:
        self._field, self._subject = asked.field, frozenset(analyze(asked.subject))

    def write(
        self, question: object, *, sources: Sequence[Source], history: Sequence[Turn], until: float
    ) -> Iterator[Piece]:
        """The field's sentence and its citation; abstains, and says so, where the record does not have it.

        Of the sources it takes the first whose title has all words of the subject, else whose abstract has, else the
        first.
        """
        source = min(sources, key=self._distance)
        said = statement(source.paper, self._field)
        if said is None:
            yield Note(f"The record of “{_one_line(source.paper.label)}” gives no {_NAMES[self._field]}.")
            yield Abstained()
            return
        yield Recorded(said)
        yield Cite(source.number)
        yield Note("This is from the paper's record, not from its abstract.")

    def _distance(self, source: Source) -> int:
        title = frozenset(analyze(source.paper.title))
        return (
            0
            if self._subject <= title
            else 1
            if self._subject <= title | frozenset(analyze(source.paper.abstract))
            else 2
        )


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _appeared(paper: Paper) -> str:
    year = str(paper.year) if paper.year is not None else ""
    venue = _one_line(paper.venue or "")
    return venue if year in venue else f"{venue} {year}".strip()


def _joined(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _authors(paper: Paper) -> str | None:
    if not paper.authors:
        return None
    verb = "is the author" if len(paper.authors) == 1 else "are the authors"
    return f"{_joined(paper.authors)} {verb} of “{_one_line(paper.label)}”."


def _says(name: str, value: Callable[[Paper], object]) -> Callable[[Paper], str | None]:
    def say(paper: Paper) -> str | None:
        found = value(paper)
        return f"The {name} of “{_one_line(paper.label)}” is {found}." if found else None

    return say


_STATEMENTS: Mapping[Field, Callable[[Paper], str | None]] = {
    "authors": _authors,
    "year": _says("year", lambda paper: paper.year),
    "venue": _says("venue", lambda paper: paper.venue),
    "url": _says("link", lambda paper: paper.url),
    "arxiv_id": _says("arXiv id", lambda paper: paper.arxiv_id),
    "categories": lambda paper: (
        f"The categories of “{_one_line(paper.label)}” are {_joined(paper.categories)}." if paper.categories else None
    ),
    "title": lambda paper: f"The title is “{_one_line(paper.title)}”." if paper.title else None,
}
