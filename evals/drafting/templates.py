"""Cases drafted without a model: what a paper's names are, which number a sentence holds, what no abstract says."""

import random
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from rag.domain import Paper
from rag.keyword import analyze
from rag.sentences import split_sentences

Record = dict[str, Any]
_TITLE_NAME = re.compile(r"([A-Z][\w.-]*(?: [A-Z0-9][\w.-]*)?): \w")
_PROPOSED = re.compile(
    r"\b(?:propose|introduce|present|develop|design|call(?:ed)?|dub(?:bed)?|named?|termed)\s+(?:\w+ ){0,2}?"
    r"([A-Z][\w-]*[A-Z0-9][\w-]*)"
)
_NUMBER = re.compile(r"(?<![\w.,-])\d+(?:[.,]\d+)*\s?(?:%|x\b|×)?(?![\w-])")
_LONGEST_SENTENCE = 300
_NEAR = (
    ("How many GPUs was {name} trained on?", ("gpu",)),
    ("Which learning rate is {name} trained with?", ("learning rate",)),
    ("Who funded the work on {name}?", ("fund", "grant")),
    ("Under which licence is the code of {name} released?", ("licen",)),
    ("How many hours does it take to train {name}?", ("hour", "training time")),
)
"""Questions on a method that abstracts rarely answer, each with the words of one that does."""
_FAR = (
    "What is the boiling point of ethanol?",
    "Which team won the football World Cup in 1998?",
    "How is sourdough bread baked?",
    "What is the capital of Mongolia?",
    "When was the Eiffel Tower built?",
    "Which vitamins are in a carrot?",
    "Who painted the ceiling of the Sistine Chapel?",
    "How deep is Lake Baikal?",
)


def draft_by_templates(papers: Sequence[Paper], *, is_known: Callable[[str], bool], seed: int) -> Iterator[Record]:
    """Drafts on the papers, and questions far from a corpus whose words `is_known` tells."""
    rng = random.Random(seed)  # noqa: S311 - a choice, no secret
    for paper in papers:
        name = name_of(paper)
        if name is not None:
            yield _what_is(paper, name)
            yield _conversation(paper, name)
            yield from _near(paper, name, rng)
        yield from _gap(paper)
    for question in _FAR:
        if not all(map(is_known, analyze(question))):
            yield _draft("far", question[:-1], type="unanswerable", kind="far", question=question, answerable=False)


def name_of(paper: Paper) -> str | None:
    """What the paper calls its method, by its title ("CoLA: ...") or where the abstract proposes it."""
    found = _TITLE_NAME.match(paper.title) or _PROPOSED.search(paper.abstract)
    return found.group(1) if found else None


def sentences_of(paper: Paper) -> list[str]:
    """The sentences of its abstract."""
    return [paper.abstract[span.start : span.end] for span in split_sentences(paper.abstract)]


def _what_is(paper: Paper, name: str) -> Record:
    evidence = next((sentence for sentence in sentences_of(paper) if name in sentence), None)
    quotes = [{"paper": paper.paper_id, "quote": evidence}] if evidence else []
    fields: Record = {"question": f"What is {name}?", "answer": evidence or "", "papers": [paper.paper_id]}
    return _draft("what", paper.paper_id, type="single", kind="method", evidence=quotes, **fields)


def _conversation(paper: Paper, name: str) -> Record:
    first = {"user": f"What is {name}?", "answer": paper.title, "papers": [paper.paper_id]}
    later = {"user": "How well does it work?", "standalone": f"How well does {name} work?", "papers": [paper.paper_id]}
    return _draft("talk", paper.paper_id, type="followup", kind="pronoun", turns=[first, later])


def _near(paper: Paper, name: str, rng: random.Random) -> Iterator[Record]:
    told = paper.abstract.lower()
    unsaid = [question for question, words in _NEAR if not any(word in told for word in words)]
    if unsaid:
        question = rng.choice(unsaid).format(name=name)
        yield _draft(
            "near",
            paper.paper_id,
            type="unanswerable",
            kind="near",
            question=question,
            papers=[paper.paper_id],
            answerable=False,
            why="The abstract does not say.",
        )


def _gap(paper: Paper) -> Iterator[Record]:
    """The first sentence with a number, the number left out."""
    for sentence in sentences_of(paper):
        found = _NUMBER.search(sentence)
        if found and len(sentence) <= _LONGEST_SENTENCE:
            number = found.group().strip()
            gapped = f"{sentence[: found.start()]}___{sentence[found.start() + len(number) :]}"
            value = re.sub(r"\s*(?:%|x|×)$", "", number)
            yield _draft(
                "gap",
                paper.paper_id,
                type="single",
                kind="number",
                question=f"Which number is missing here: {gapped}",
                answer=number,
                papers=[paper.paper_id],
                nuggets=[{"fact": number, "aliases": [value]}],
                evidence=[{"paper": paper.paper_id, "quote": sentence}],
            )
            return


def _draft(kind_of_draft: str, about: str, **fields: Any) -> Record:
    name = re.sub(r"[^A-Za-z0-9]+", "-", about).strip("-")
    return {"id": f"{kind_of_draft}-{name}", **fields, "reviewed": False}
