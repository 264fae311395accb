"""Which papers the turns of a conversation were about, and which of them "the first one" or "the other" means."""

import re
from collections.abc import Callable, Sequence

from rag.clarifying import is_general
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
_OTHER = re.compile(rf"\bthe\s+other(?:\s+{_THING}\b|\b(?=\s*[:,?.]|\s+(?:does|do|did|is|was|has)\b))", re.IGNORECASE)
_BACK = re.compile(
    r"\b(?:back|return(?:ing)?|(?:as )?before|earlier|(?:we|you) (?:started|began)|start|beginning)\b", re.IGNORECASE
)
_RECENT = 3
"""Turns back in which a list is looked for that an ordinal counts in."""
_TURNS = 8
"""Turns back that a conversation is remembered."""
_ANSWER_CHARS = 600
_LIKELY = 0.3
"""What it counts, beside two scores in 0..1, that a turn names a paper, or leans back to the turn about it."""


def papers_of_turns(history: Sequence[Turn], find: Find, *, leans: Callable[[str], bool]) -> list[tuple[Paper, ...]]:
    """The papers that each of the last turns was about: those that it tells apart, that it points at, or the nearest.

    A turn whose answer says nothing of its own ("The abstract does not say.") was about what the turn before was; so,
    unless others are much nearer, is one whose question `leans` back, and a turn with a paper's name is about that.
    """
    turns: list[tuple[Paper, ...]] = []
    for turn in history[-_TURNS:]:
        papers = _papers_in(turn, find)
        pointed = point_at(turn.question, turns)
        if pointed:
            papers = (pointed,)
        elif not papers and turns and is_general(turn.answer) and not find_names(turn.question):
            papers = turns[-1]
        elif len(papers) < 2:
            before = turns[-1] if turns and leans(turn.question) else ()
            papers = _nearest(turn, find, likely=(*papers, *before))
        turns.append(papers)
    return turns


def _nearest(turn: Turn, find: Find, *, likely: Sequence[Paper]) -> tuple[Paper, ...]:
    """The paper that is nearest to the words of the turn and to those of its answer alone; () where none is found."""
    answer = turn.answer[:_ANSWER_CHARS]
    hits = [*find(f"{turn.question} {answer}"), *(find(answer) if answer.strip() else ())]
    scores: dict[str, float] = {}
    for hit in hits:
        known = _LIKELY * sum(hit.paper == paper for paper in likely)
        scores[hit.paper.paper_id] = scores.get(hit.paper.paper_id, known) + hit.score
    best = max(scores, key=lambda paper_id: scores[paper_id], default=None)
    return tuple(hit.paper for hit in hits if hit.paper.paper_id == best)[:1]


def point_at(question: str, turns: Sequence[Sequence[Paper]]) -> Paper | None:
    """The paper that `question` means by its place or as the other one; `turns` are the papers of those before it.

    The place is one in the last list or comparison; where there is none, or the question goes "back to" it, one among
    the papers of the conversation. None where no place is named, or nothing stands there.
    """
    ordinal = _ORDINAL.search(question)
    if ordinal is None and not _OTHER.search(question):
        return None
    rows: Sequence[Paper] = ()
    if not _BACK.search(question):
        rows = next((papers for papers in reversed(turns[-_RECENT:]) if len(papers) > 1), ())
    rows = rows or list({paper.paper_id: paper for papers in turns for paper in papers}.values())
    if ordinal is None:
        last = (
            {paper.paper_id for paper in turns[-1]}
            if turns and len(turns[-1]) == 1
            else {rows[0].paper_id}
            if rows
            else set()
        )
        return next((paper for paper in reversed(rows) if paper.paper_id not in last), None)
    place = _PLACES[ordinal["place"].lower()]
    return rows[place] if len(rows) > 1 and -len(rows) <= place < len(rows) else None


def referent(paper: Paper, history: Sequence[Turn]) -> str:
    """The title of `paper`, with a name of its own by which the conversation spoke of it."""
    text = f"{paper.title} {paper.abstract}"
    own = frozenset(analyze(paper.title))
    said = " ".join(f"{turn.question} {turn.answer}" for turn in history)
    names = [name for name in find_names(said) if text.count(name) > 1 and not frozenset(analyze(name)) <= own]
    best = max(names, key=text.count, default="")
    return " ".join([*([best] if best else []), *paper.label.split()])


def _papers_in(turn: Turn, find: Find) -> tuple[Paper, ...]:
    """The papers that a turn tells by title or name, in the order of the answer, else of the question; () for none.

    A name tells a paper where no other that is near to it holds it.
    """
    said = " ".join(turn.answer.split())
    listed = [hit.paper for hit in find(said[: 4 * _ANSWER_CHARS]) if hit.paper.title] if said else []
    titled = [paper for paper in listed if " ".join(paper.title.split()) in said]
    if len(titled) > 1:
        return tuple(sorted(titled, key=lambda paper: said.index(" ".join(paper.title.split()))))
    for text in (said[:_ANSWER_CHARS], turn.question):
        named: dict[str, Paper] = {}
        for name in find_names(text):
            holding = [hit.paper for hit in find(name) if name in f"{hit.paper.title} {hit.paper.abstract}"]
            named |= {paper.paper_id: paper for paper in holding if len(holding) == 1}
        if named:
            return tuple(named.values())
    return ()
