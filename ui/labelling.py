"""Labelling a run's sentences on the Evals tab: what each request of `static/labelling.js` does, and the HTML it gets.

The check's verdict on a sentence is shown only once the reader has given theirs.
"""

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import get_args

from evals.judging.labelling import FILE, Labelling
from evals.judging.labels import Checked, checked_of
from evals.report.html import render_table
from evals.report.judging import agreement_rows, counts_heads, counts_rows
from evals.running.folder import SAMPLES, RunFolder, run_in
from rag.domain import Support
from ui.panel import source_card
from ui.panes import Request, answered, button, head
from ui.render import CiteTarget, counted, sentence_numbers
from ui.rich_text import escape_html, rich_html

CHOICES: tuple[Support, ...] = get_args(Support)
_MAX_CHARS = 200
"""Of what a request may name."""


def labelling_functions(runs: Path, *, annotator: str) -> list[Callable[[object], dict[str, str]]]:
    """The function that the page calls; its requests may come from anyone who may see the page.

    A request has `run`, `annotator` ("" for the given one), and `action`: "open", or, with the `id` of a sentence,
    "skip", "say" with a `label`, and "undo".
    """

    def labelling(request: object) -> dict[str, str]:
        return answered(request, answer, most_chars=_MAX_CHARS)

    def answer(asked: Request) -> str:
        name = asked.get("annotator", "").strip() or annotator
        return _answer(asked, _labelling(run_in(runs, asked.get("run", "")), name))

    return [labelling]


def _labelling(run: RunFolder, annotator: str) -> Labelling:
    stamp = (run.path / SAMPLES).stat().st_mtime_ns if (run.path / SAMPLES).exists() else 0
    return Labelling(_sentences(run.path, stamp), file=run.path / FILE, annotator=annotator)


@lru_cache(maxsize=4)
def _sentences(path: Path, stamp: int) -> list[Checked]:
    return checked_of(RunFolder(path).samples().values())


def _answer(asked: Request, labelling: Labelling) -> str:
    action, sentence = asked.get("action"), labelling.sentence(asked.get("id", ""))
    if action == "undo":
        taken = labelling.take_back()
        shown = taken or sentence or labelling.following()
        return _page(labelling, shown, told="Taken back." if taken else "There is nothing to take back.")
    if sentence is None:
        return _page(labelling, labelling.following())
    label = next((choice for choice in CHOICES if choice == asked.get("label")), None)
    if action == "say" and label:
        labelling.say(sentence, label)
        said = f"Saved: {label}. <details><summary>What the check says</summary><p>{_verdict(sentence)}</p></details>"
        return _page(labelling, labelling.following(sentence.claim.claim_id), told=said)
    return _page(labelling, labelling.following(sentence.claim.claim_id))


def _page(labelling: Labelling, sentence: Checked | None, *, told: str = "") -> str:
    """How far the reader is, `told`, which is HTML, and the sentence, or at the end what came of it all."""
    done, total = len(labelling.said), len(labelling)
    who = (
        f'<label>Who labels<input name="annotator" maxlength="{_MAX_CHARS}" autocomplete="off" '
        f'value="{escape_html(labelling.annotator)}"></label>'
    )
    words = f"{done} of {counted(total, 'sentence')} labelled"
    return (
        head(words, done=done, total=total, bar="Sentences labelled", extra=who)
        + f'<div class="told">{told}</div>'
        + (_sentence(sentence) if sentence else _end(labelling))
    )


def _sentence(sentence: Checked) -> str:
    claim = sentence.claim
    papers = "".join(
        source_card(paper, CiteTarget(paper.paper_id, sentence_numbers(paper, spans), ""), heading="h3")
        for paper, spans in zip(claim.papers, sentence.evidence, strict=True)
    )
    buttons = "".join(button("say", label.capitalize(), str(n), label=label) for n, label in enumerate(CHOICES, 1))
    return (
        f'<article class="claim shown" data-id="{claim.claim_id}" tabindex="-1"><h2>Do the abstracts support this?</h2>'
        f"<blockquote>{rich_html(claim.sentence)}</blockquote></article>"
        f'<div class="choices">{buttons}{button("skip", "Skip", "S")}{button("undo", "Undo", "U")}</div>'
        '<p class="note">Marked is what comes nearest to the sentence, whether it supports it or not.</p>' + papers
    )


def _end(labelling: Labelling) -> str:
    """The agreement of the check with the labels."""
    if not len(labelling):
        return '<p class="claim shown" tabindex="-1">No sentence of this run cites a paper.</p>'
    found, human = labelling.agreement()
    counts = render_table("Labels and the check", counts_heads("check"), counts_rows(found))
    figures = render_table("Agreement", ["figure", "value"], agreement_rows(found, human=human))
    return (
        '<div class="claim shown" tabindex="-1"><h2>All are labelled: the check and the labels</h2></div>'
        f'<div class="choices">{button("undo", "Undo", "U")}</div>'
        f'<div class="cw-report">{counts}{figures}</div>'
    )


def _verdict(sentence: Checked) -> str:
    return escape_html(f"{sentence.support}: {sentence.reason}" if sentence.reason else sentence.support)
