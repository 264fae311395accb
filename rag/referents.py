"""Which paper of the conversation "the first one" or "the paper before" means."""

import re
from collections.abc import Callable, Sequence

from rag.domain import Paper, ScoredPaper, Turn
from rag.keyword import analyze
from rag.questions import find_names

Find = Callable[[str], Sequence[ScoredPaper]]
"""The papers that are nearest to a text, best first."""

_PLACES = {"first": 0, "former": 0, "second": 1, "latter": -1, "third": 2, "fourth": 3, "last": -1}
_THING = r"(?:one|paper|method|approach|model|work|study|framework)"
_ORDINAL = re.compile(
    rf"\bthe\s+(?P<place>{'|'.join(_PLACES)})(?:\s+{_THING}\b|\b(?=\s*[:,?.]|\s+(?:does|do|did|is|was|has)\b))",
    re.IGNORECASE,
)
_BACK = re.compile(
    r"\b(?:back|return(?:ing)?|(?:as )?before|earlier|(?:we|you) (?:started|began)|start|beginning)\b", re.IGNORECASE
)
_RECENT = 3
"""Turns back in which a list is looked for that an ordinal counts in."""
_ANSWER_CHARS = 600


def referent(question: str, history: Sequence[Turn], *, find: Find) -> str | None:
    """The title of the paper that `question` means by its place, with a name of its own by which it was spoken of.

    The place is one in the last list or comparison; where there is none, or the question goes "back to" it, one among
    the papers of the conversation. None where no place is named, or nothing stands there.
    """
    ordinal = _ORDINAL.search(question)
    if ordinal is None:
        return None
    place = _PLACES[ordinal["place"].lower()]
    rows: list[tuple[Paper, Turn]] = []
    if not _BACK.search(question):
        rows = next((found for turn in reversed(history[-_RECENT:]) if len(found := _papers_in(turn, find)) > 1), [])
    rows = rows or _papers_of(history, find)
    if not -len(rows) <= place < len(rows):
        return None
    paper, turn = rows[place]
    text = f"{paper.title} {paper.abstract}"
    own = frozenset(analyze(paper.title))
    spoken = [name for name in find_names(f"{turn.question} {turn.answer}") if text.count(name) > 1]
    names = [name for name in dict.fromkeys(spoken) if not frozenset(analyze(name)) <= own][:1]
    return " ".join([*names, *paper.label.split()])


def _papers_in(turn: Turn, find: Find) -> list[tuple[Paper, Turn]]:
    """The papers that a turn tells apart, in order: those that its answer lists by title, or its question by name."""
    said = " ".join(turn.answer.split())
    listed = [hit.paper for hit in find(said[: 4 * _ANSWER_CHARS]) if hit.paper.title]
    titled = [paper for paper in listed if " ".join(paper.title.split()) in said]
    if len(titled) > 1:
        titled.sort(key=lambda paper: said.index(" ".join(paper.title.split())))
        return [(paper, Turn(turn.question, "")) for paper in titled]
    named: dict[str, Paper] = {}
    for name in find_names(turn.question):
        hits = [hit.paper for hit in find(name)[:1] if name in f"{hit.paper.title} {hit.paper.abstract}"]
        named |= {paper.paper_id: paper for paper in hits if paper.paper_id not in named}
    return [(paper, Turn(turn.question, "")) for paper in named.values()]


def _papers_of(history: Sequence[Turn], find: Find) -> list[tuple[Paper, Turn]]:
    """The papers that the conversation was about, each once, in the order in which they came up."""
    papers: dict[str, tuple[Paper, Turn]] = {}
    for turn in history:
        for hit in find(f"{turn.question} {turn.answer[:_ANSWER_CHARS]}")[:1]:
            papers.setdefault(hit.paper.paper_id, (hit.paper, turn))
    return list(papers.values())
