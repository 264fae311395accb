"""Questions to ask next, made of the papers at hand. Whether the corpus answers them is for the caller to check."""

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import chain, zip_longest
from typing import NamedTuple

from rag.domain import Answer, Paper
from rag.folding import fold
from rag.questions import find_names, read_question

_TITLE_NAME = re.compile(r"([A-Z][\w.-]*(?: [A-Z0-9][\w.-]*)?): \w")
_PROPOSED = re.compile(r"\b(?:propos|introduc|present|develop|call|dub|term|name)\w*\b([^.;]{0,90})")
_COINED = re.compile(r"[a-z][A-Z]|[A-Z]{3}")
"""In names of methods, as SITAlign and CAPE; not in compounds of plain words, as Multi-View."""
_LONGEST_TITLE = 90
_ABOUT = {
    "method": "How does {} work?",
    "result": "What results does {} report?",
    "problem": "What problem does {} address?",
}
"""Questions about a named method, by what they ask for (see `rag.questions.ASKS`)."""


class Suggestion(NamedTuple):
    """A question, and the paper that it is about."""

    question: str
    paper_id: str


def example_question(paper: Paper) -> Suggestion | None:
    """A question about a paper whose title begins with the name of what it proposes."""
    named = _TITLE_NAME.match(paper.title)
    return Suggestion(f"What is {named.group(1)}?", paper.paper_id) if named else None


def follow_up_questions(answer: Answer, *, asked: Collection[str]) -> Iterator[Suggestion]:
    """Questions about the papers that `answer` cites, best first, mixed with such about papers near to them.

    None is one of those `asked`, nor asks again what was asked of the same paper in other words.
    """
    cited = [citation.paper for citation in answer.citations]
    known = {paper.paper_id for paper in cited}
    near = [hit.paper for hit in answer.retrieved if hit.paper.paper_id not in known]
    asks = read_question(answer.searched).asks
    deeper = [_about(paper, without=asks) for paper in cited]
    differ = _differences(cited, compared=read_question(answer.searched).many.needs_two)
    wider = (_first_question(paper) for paper in near)
    turns = zip_longest(chain.from_iterable(zip_longest(*deeper)), chain(differ, wider))
    seen = {fold(question) for question in asked}
    for suggestion in chain.from_iterable(turns):
        if suggestion is not None and fold(suggestion.question) not in seen:
            seen.add(fold(suggestion.question))
            yield suggestion


def _about(paper: Paper, *, without: Collection[str]) -> list[Suggestion]:
    subject = _subject(paper)
    if subject is None:
        return []
    words = _ABOUT if name_of(paper) else _ABOUT | {"method": "What approach does {} take?"}
    return [Suggestion(words[ask].format(subject), paper.paper_id) for ask in words if ask not in without]


def _differences(cited: Sequence[Paper], *, compared: bool) -> list[Suggestion]:
    names = [(name, paper) for paper in cited if (name := name_of(paper))]
    if compared or len(names) < 2:
        return []
    (one, paper), (other, _) = names[:2]
    return [Suggestion(f"How does {one} differ from {other}?", paper.paper_id)]


def _first_question(paper: Paper) -> Suggestion | None:
    if name := name_of(paper):
        return Suggestion(f"What is {name}?", paper.paper_id)
    subject = _subject(paper)
    return Suggestion(f"What does {subject} find?", paper.paper_id) if subject else None


def _subject(paper: Paper) -> str | None:
    """What to call a paper in a question: by its method's name, else by its title where that reads well in one."""
    if name := name_of(paper):
        return name
    plain = paper.title and len(paper.title) <= _LONGEST_TITLE and not re.search(r"[$\\?“”]", paper.title)
    return f"the paper “{' '.join(paper.title.split())}”" if plain else None


def name_of(paper: Paper) -> str | None:
    """What a paper calls its method: the name that its title begins with, one in title and abstract both, or one that
    the abstract says it proposes."""
    named = _TITLE_NAME.match(paper.title)
    if named:
        return named.group(1)
    in_abstract = [name for name in find_names(paper.abstract) if _COINED.search(name)]
    in_title = [name for name in find_names(paper.title) if name in in_abstract]
    proposed = [name for name in find_names(" ".join(_PROPOSED.findall(paper.abstract))) if name in in_abstract]
    return next(iter([*in_title, *proposed]), None)
