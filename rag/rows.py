"""Lists and tables made of the abstracts' own sentences: a citation in each row or cell."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rag.bearing import least_listed, subjects_of
from rag.domain import Abstained, Cite, Label, Piece, Quote, RankedSentence, Recorded, Source
from rag.keyword import analyze
from rag.many import says_in_what
from rag.questions import ASKS, Question, find_names
from rag.record import record_line

MAX_ROWS = 10
NOTHING = "—"
_OWN_WORK = 0.2
"""What it counts that a sentence tells of the paper's own work: others may hold the same words as background."""
_PROPOSES = re.compile(
    r"\b(?:we|this paper|this work)\b.{0,60}\b(?:propos|introduc|present|develop|design|stud|investigat|formulat"
    r"|address|analy[sz]e)",
    re.IGNORECASE,
)
_ITEM_WORDS = {
    "evaluation": r"\bbenchmark|\bdata ?set|\btest suite|\bevaluat|\bexperiments? on\b",
    "availability": r"https?://|\\url|\bcode\b|\brepositor",
    "theory": r"\bbounds?\b|\bguarantee|\btheorem|\bprov(?:e|able)",
}
"""What a sentence must hold to name items of a kind; of other kinds, what tells the kind is enough."""


class Cell(NamedTuple):
    """Sentences of one paper, and what they are about; no sentence where it says nothing of that."""

    column: str
    sentences: tuple[tuple[Source, RankedSentence], ...]


class Row(NamedTuple):
    """A row of a table."""

    name: str
    cells: tuple[Cell, ...]


def write_list(question: Question, sources: Sequence[Source]) -> Iterator[Piece]:
    """A row for each paper of the list, at most `MAX_ROWS`: its title and a quote, or what its record says.

    A count comes first where one is asked for. Abstains where no paper belongs into it.
    """
    rows = _listed(question, sources)
    if not rows:
        yield Abstained()
        return
    total = max(question.total or 0, len(rows))
    opening = ""
    if question.many.form == "count":
        papers = "paper" if total == 1 else "papers"
        what = papers if question.total else f"of the {len(sources)} papers that were looked at"
        yield Label(f"{total} {what}:")
        opening = "\n\n"
    for source, sentence in rows[:MAX_ROWS]:
        yield from _row(source, sentence, opening=opening)
        opening = "\n"
    if total > MAX_ROWS:
        yield Label(f"\n\n… and {total - MAX_ROWS} more.", names="")


def write_several(papers: Sequence[Source]) -> Iterator[Piece]:
    """A row for each paper: its title, and the sentence that answers best, one on its own work before others."""
    for place, source in enumerate(papers):
        best = max(source.sentences, key=lambda sentence: sentence.probability + _own_work(sentence))
        yield from _row(source, best, opening="\n" if place else "")


def _row(source: Source, sentence: RankedSentence | None, *, opening: str) -> Iterator[Piece]:
    title = " ".join(source.paper.label.split())
    if sentence is None:
        yield Label(f"{opening}- ", names=title)
        yield Recorded(record_line(source.paper))
    else:
        yield Label(f"{opening}- “{title}”: ", names=title)
        yield Quote(sentence.text)
    yield Cite(source.number)


def _own_work(sentence: RankedSentence) -> float:
    return _OWN_WORK * bool(ASKS["method"].sentence.search(sentence.text))


def _listed(question: Question, sources: Sequence[Source]) -> list[tuple[Source, RankedSentence | None]]:
    """The papers of the list, the likeliest first, each with the sentence that tells why, None for its record."""
    rows: list[tuple[Source, RankedSentence | None]] = []
    seen: set[str] = set()
    least = least_listed(source.bears or 0.0 for source in sources)
    for source in sorted(sources, key=lambda source: -(source.bears or 0.0)):
        if (source.bears or 0.0) < least or not source.sentences:
            continue
        if not question.many.subject and question.many.items is None:
            rows.append((source, None))
            continue
        sentence = _telling(question, source)
        key = " ".join(sentence.text.split()).casefold() if sentence else ""
        if sentence and key not in seen:
            seen.add(key)
            rows.append((source, sentence))
    return rows


def _telling(question: Question, source: Source) -> RankedSentence | None:
    """The sentence that says most of the list's subject, or that names items of the kind that is listed."""
    subjects = [frozenset(analyze(subject)) for subject in subjects_of(question.many)]
    kind = question.many.items
    if kind is not None:
        words = re.compile(_ITEM_WORDS.get(kind, ASKS[kind].sentence.pattern), re.IGNORECASE)
        telling = [sentence for sentence in source.sentences if words.search(sentence.text)]
        if kind == "evaluation":  # "multiple benchmarks" names none
            telling = [sentence for sentence in telling if _names_others(sentence.text, source)]
        return max(telling, key=lambda sentence: sentence.probability, default=None)

    def says(sentence: RankedSentence) -> float:
        terms = frozenset(analyze(sentence.text))
        share = max(len(subject & terms) / len(subject) for subject in subjects)
        return sentence.cosine + share + _own_work(sentence)

    return max(source.sentences, key=says)


def _names_others(sentence: str, source: Source) -> bool:
    """Whether a sentence has a name that only it has in its abstract, so that it is not that of the paper's method."""
    text = f"{source.paper.title} {source.paper.abstract}"
    return any(text.count(name) == 1 for name in find_names(sentence))


def write_table(question: Question, papers: Sequence[Source], *, most: int) -> Iterator[Piece]:
    """A table that compares at least two papers: by problem, method and result where the question names nothing else.

    Otherwise it has a row for each paper, with at most `most` sentences. Where a sentence does not fit into a cell, as
    one with a pipe, the rows are a list.
    """
    names = frozenset(question.names).union(*(source.named for source in papers))
    if says_in_what(question.terms, names=names):
        rows = [
            Row(_short_name(source, papers), (Cell("What the abstract says", _best(source, most=most)),))
            for source in papers
        ]
    else:
        rows = _by_aspect(papers)
    texts = [sentence.text for row in rows for cell in row.cells for _, sentence in cell.sentences]
    if not texts:
        yield Abstained()
    elif any("|" in text or "\n" in text for text in texts):
        yield from _as_list(rows)
    else:
        yield from _as_table(rows)


def _as_table(rows: Sequence[Row]) -> Iterator[Piece]:
    columns = [cell.column for cell in rows[0].cells]
    yield Label(f"| | {' | '.join(columns)} |\n|{'---|' * (len(columns) + 1)}")
    for row in rows:
        yield Label(f"\n| {row.name} ")
        for cell in row.cells:
            yield Label("| ", names=f"{row.name} · {cell.column}")
            yield from _quoted(cell) if cell.sentences else [Label(NOTHING)]
            yield Label(" ")
        yield Label("|")


def _as_list(rows: Sequence[Row]) -> Iterator[Piece]:
    opening = ""
    for row in rows:
        for cell in row.cells:
            name = f"{row.name} · {cell.column}"
            yield Label(f"{opening}- {name}: ", names=name)
            yield from _quoted(cell) if cell.sentences else [Label(NOTHING)]
            opening = "\n"


def _quoted(cell: Cell) -> Iterator[Piece]:
    for index, (source, sentence) in enumerate(cell.sentences):
        if index:
            yield " "
        yield Quote(sentence.text)
        yield Cite(source.number)


def _best(source: Source, *, most: int) -> tuple[tuple[Source, RankedSentence], ...]:
    """The `most` likeliest sentences, in the order of the abstract."""
    best = sorted(source.sentences, key=lambda sentence: -sentence.probability)[:most]
    return tuple((source, sentence) for sentence in sorted(best, key=lambda sentence: sentence.span))


def _by_aspect(papers: Sequence[Source]) -> list[Row]:
    columns = [_short_name(source, papers) for source in papers]
    aspects = [_aspects(source) for source in papers]
    return [
        Row(
            name,
            tuple(
                Cell(column, tuple((source, sentence) for sentence in told[index]))
                for source, column, told in zip(papers, columns, aspects, strict=True)
            ),
        )
        for index, name in enumerate(("Problem", "Method", "Result"))
        if any(told[index] for told in aspects)
    ]


def _aspects(source: Source) -> tuple[Sequence[RankedSentence], ...]:
    """What a paper says of its problem, its method and its result: a sentence or none each."""
    sentences = source.sentences
    place = next((i for i, sentence in enumerate(sentences) if _PROPOSES.search(sentence.text)), None)
    if place is None:
        place = next((i for i, sentence in enumerate(sentences) if ASKS["method"].sentence.search(sentence.text)), 0)
    before, behind = sentences[:place], sentences[place + 1 :]
    problem = [sentence for sentence in before if ASKS["problem"].sentence.search(sentence.text)]
    result = [sentence for sentence in behind if ASKS["result"].sentence.search(sentence.text)]
    with_numbers = [sentence for sentence in result if ASKS["number"].sentence.search(sentence.text)]
    return (problem or before)[-1:], sentences[place : place + 1], (with_numbers or result)[-1:]


def _short_name(source: Source, papers: Sequence[Source]) -> str:
    """The name by which the question calls the paper, else its title; without what would end a cell."""
    others = frozenset().union(*(paper.named for paper in papers if paper is not source))
    text = f"{source.paper.title} {source.paper.abstract}"
    own = sorted(source.named - others, key=lambda name: (-text.count(name), name))
    return " ".join((own[0] if own else source.paper.label).replace("|", "/").split())
