"""Are papers found by the names in their titles? `python -m evals.naming CORPUS`, of an ingested corpus, no model.

Each paper whose title begins with a name is asked for by it, alone and beside another that is drawn. A question counts
where it is answered and cites each paper that it names.
"""

import random
import sys
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rich.progress import track

from rag.assistant import Assistant
from rag.naming import name_in_title
from rag.settings import load_settings

ABOUT_ONE = ("What is {}?", "How does {} work?")
ABOUT_TWO = ("Compare {} and {}.", "What is the difference between {} and {}?", "What do {} and {} have in common?")
SEED = 1
MISSES_SHOWN = 5


class Named(NamedTuple):
    """A paper and the name in its title."""

    name: str
    paper_id: str


def named_papers(assistant: Assistant) -> list[Named]:
    """The papers whose titles begin with a name that no other title of the corpus begins with."""
    corpus = assistant.corpus
    found = [(name_in_title(paper.title), paper.paper_id) for paper in map(corpus.paper, range(len(corpus)))]
    names = [name for name, _ in found]
    return [Named(name, paper_id) for name, paper_id in found if name and names.count(name) == 1]


def questions(papers: Sequence[Named]) -> Iterator[tuple[str, str, frozenset[str]]]:
    """The wording, the question and the papers that it names."""
    for wording in ABOUT_ONE:
        for paper in papers:
            yield wording, wording.format(paper.name), frozenset({paper.paper_id})
    for wording in ABOUT_TWO:
        draw = random.Random(SEED)  # noqa: S311
        for paper in papers:
            other = draw.choice([each for each in papers if each != paper])
            yield wording, wording.format(paper.name, other.name), frozenset({paper.paper_id, other.paper_id})


def main() -> None:
    """Prints for each wording how many questions were answered from the papers that they name, and some of the rest."""
    (corpus,) = sys.argv[1:]
    assistant = Assistant.from_settings(load_settings(corpus=corpus, writer="extractive"))
    papers = named_papers(assistant)
    missed: dict[str, list[str]] = {}
    for wording, question, wanted in track(list(questions(papers)), description="asking"):
        answer = assistant.ask(question)
        if answer.outcome != "answered" or not wanted <= {citation.paper.paper_id for citation in answer.citations}:
            missed.setdefault(wording, []).append(question)
    for wording in (*ABOUT_ONE, *ABOUT_TWO):
        misses = missed.get(wording, [])
        print(f"{len(papers) - len(misses)} of {len(papers)}  {wording}")
        for question in misses[:MISSES_SHOWN]:
            print(f"    not {question}")


if __name__ == "__main__":
    main()
