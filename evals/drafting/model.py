"""Cases drafted by a chat model, of which only those stay whose answer and quote stand in the abstract."""

import json
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from evals.drafting.templates import Record
from evals.textmatch import says
from rag.chat_writer import Model
from rag.domain import Paper
from rag.prompting import Prompt, fill_cases_prompt
from rag.textnorm import contains_verbatim

_FIELDS = ("question", "answer", "quote")


class Drafted(NamedTuple):
    """What a model drafted of one paper, and how many of its lines were of no use."""

    items: list[Record]
    dropped: int


def draft_by_model(papers: Sequence[Paper], *, model: Model, prompt: Prompt) -> Iterator[Drafted]:
    """The drafts of each paper, a call a paper. Raises EndpointError where the endpoint fails."""
    for paper in papers:
        messages = fill_cases_prompt(prompt, paper=paper)
        reply = "".join(piece for piece in model.stream(messages) if isinstance(piece, str))
        yield read_drafts(reply, paper=paper)


def read_drafts(reply: str, *, paper: Paper) -> Drafted:
    """The drafts in a reply: JSON objects, one a line, whose quote the abstract and whose answer the quote holds."""
    items: list[Record] = []
    lines = [line.strip() for line in reply.splitlines() if line.strip().startswith("{")]
    for line in lines:
        try:
            told = json.loads(line)
        except ValueError:
            continue
        question, answer, quote = (told.get(name) for name in _FIELDS)
        if not all(isinstance(value, str) and value.strip() for value in (question, answer, quote)):
            continue
        if contains_verbatim(paper.abstract, quote=quote) and says(quote, answer):
            items.append(
                {
                    "id": f"model-{paper.paper_id}-{len(items) + 1}",
                    "type": "single",
                    "kind": "model",
                    "question": question.strip(),
                    "answer": answer.strip(),
                    "papers": [paper.paper_id],
                    "nuggets": [{"fact": answer.strip(), "aliases": [answer.strip()]}],
                    "evidence": [{"paper": paper.paper_id, "quote": quote.strip()}],
                    "reviewed": False,
                }
            )
    return Drafted(items, len(lines) - len(items))
