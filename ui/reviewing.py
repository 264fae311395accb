"""Reviewing drafts of cases on the Evals tab: what each request of `static/reviewing.js` does, and the HTML it gets."""

from collections.abc import Callable
from pathlib import Path

from evals.cases.schema import AnyItem
from evals.cases.suites import own_file, own_names
from evals.drafting.reviewing import Field, Review, fields_of
from evals.running.errors import RunError
from rag.domain import Paper, Span
from rag.errors import CitewiseError
from ui.panel import source_card
from ui.panes import Request, answered, button, head
from ui.render import CiteTarget, counted, sentence_numbers
from ui.rich_text import escape_html

PaperOf = Callable[[str], Paper | None]
FIELD = "field:"
"""Before the names of fields in a request."""
_MAX_CHARS = 4000
"""Of a text in a request."""


def reviewing_functions(own: Path, *, paper_of: PaperOf) -> list[Callable[[object], dict[str, str]]]:
    """The function that the page calls; its requests may come from anyone who may see the page.

    A request has `suite`, one of the folder `own`, and `action`: "open", or, with the `id` of a draft, "skip", "undo",
    "reject", and "accept" with the texts of its fields.
    """
    reviews: dict[str, Review] = {}

    def reviewing(request: object) -> dict[str, str]:
        return answered(request, answer, most_chars=_MAX_CHARS)

    def answer(asked: Request) -> str:
        name = asked.get("suite", "")
        if name not in own_names(own):
            raise RunError("There is no such suite any more.", fix="Choose another.")
        review = reviews.setdefault(name, Review(own_file(own, name)))
        return _answer(asked, review, name=name, paper_of=paper_of)

    return [reviewing]


def drafts_in(own: Path, name: str | None) -> str:
    """The name of a suite of the folder that has drafts, or whose file is faulty; "" for any other."""
    if not name or name not in own_names(own):
        return ""
    try:
        return name if Review(own_file(own, name)).drafts() else ""
    except CitewiseError:  # opened, it is told
        return name


def _answer(asked: Request, review: Review, *, name: str, paper_of: PaperOf) -> str:
    action, item_id, told = asked.get("action"), asked.get("id", ""), ""
    item: AnyItem | None
    if action == "undo":
        taken = review.take_back()
        item = review.draft(taken or item_id) or review.following()
        told = "Taken back." if taken else "There is nothing to take back."
    else:
        if action == "accept":
            review.accept(item_id, {key.removeprefix(FIELD): asked[key] for key in asked if key.startswith(FIELD)})
            told = "Accepted."
        elif action == "reject":
            review.reject(item_id)
            told = "Rejected."
        item = review.following(item_id)
    drafts, accepted = len(review.drafts()), review.accepted()
    words = f"{counted(drafts, 'draft')} left, {counted(accepted, 'case')} in {name}"
    return (
        head(words, done=accepted, total=accepted + drafts, bar="Drafts accepted")
        + f'<div class="told">{told}</div>'
        + (_draft(item, paper_of) if item else _end(name, accepted))
    )


def _draft(item: AnyItem, paper_of: PaperOf) -> str:
    about = " ".join(filter(None, (item.type, getattr(item, "kind", ""))))
    why = getattr(item, "why", None)
    buttons = button("accept", "Accept", "A") + button("reject", "Reject", "R")
    return (
        f'<article class="draft shown" data-id="{escape_html(item.id)}" tabindex="-1"><h2>Is this a right case?</h2>'
        f'<p class="note">{escape_html(f"{about}: {why}" if why else about)}</p>'
        f"{''.join(map(_field, fields_of(item)))}</article>"
        f'<div class="choices">{buttons}{button("skip", "Skip", "S")}{button("undo", "Undo", "U")}</div>'
        '<p class="note">Change what is not right, then accept it: only accepted cases are asked. Facts and papers are '
        'parted by ";", the words that tell a fact by "|"; "?" before a fact says that an answer may lack it.</p>'
        + _papers(item, paper_of)
    )


def _field(field: Field) -> str:
    rows = min(6, max(1, len(field.text) // 80 + 1))
    return (
        f'<label for="draft-{field.name}">{escape_html(field.label)}</label><textarea id="draft-{field.name}" '
        f'data-field="{field.name}" rows="{rows}" maxlength="{_MAX_CHARS}">{escape_html(field.text)}</textarea>'
    )


def _papers(item: AnyItem, paper_of: PaperOf) -> str:
    """The abstracts that a draft is about, the sentences that it quotes marked."""
    parts = (item, *getattr(item, "turns", ()))
    names = dict.fromkeys(name for part in parts for name in getattr(part, "papers", ()))
    quotes = [quote for part in parts for quote in getattr(part, "evidence", ())]
    cards = []
    for name in names:
        paper = paper_of(name)
        if paper is None:
            cards.append(f'<p class="note">This corpus does not hold the paper {escape_html(name)}.</p>')
            continue
        starts = [(paper.abstract.find(q.quote), len(q.quote)) for q in quotes if q.paper == name]
        spans = [Span(start, start + length) for start, length in starts if start >= 0]
        cards.append(source_card(paper, CiteTarget(name, sentence_numbers(paper, spans), ""), heading="h3"))
    return "".join(cards)


def _end(name: str, accepted: int) -> str:
    told = f"The suite {name} has {counted(accepted, 'case')}." if accepted else "None was accepted."
    return (
        f'<div class="draft shown" tabindex="-1"><h2>No draft is left</h2><p>{escape_html(told)}</p></div>'
        f'<div class="choices">{button("undo", "Undo", "U")}</div>'
    )
