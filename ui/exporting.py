"""Answers to take away: as Markdown, a page of HTML, BibTeX, RIS or JSON. Pure."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from rag.answer_json import whole_answer_to_dict
from rag.bibtex import bibtex_entries
from rag.domain import Answer, Paper
from rag.errors import SettingsError
from rag.ris import ris_records
from ui.export_html import html_document
from ui.export_markdown import markdown_document

Write = Callable[[Sequence[Answer], str], str]


class Form(NamedTuple):
    """A kind of file: what it is called, its media type, and what writes answers under a title."""

    label: str
    media_type: str
    write: Write


def cited_papers(answers: Sequence[Answer]) -> tuple[Paper, ...]:
    """The papers that the answers cite, each once, in reading order."""
    papers = [citation.paper for answer in answers for citation in answer.citations]
    return tuple({paper.paper_id: paper for paper in papers}.values())


def _json_document(answers: Sequence[Answer], title: str) -> str:
    turns = [whole_answer_to_dict(answer) for answer in answers]
    return json.dumps({"title": title, "turns": turns}, ensure_ascii=False, indent=1) + "\n"


FORMS: Mapping[str, Form] = {
    "md": Form("Markdown", "text/markdown", markdown_document),
    "html": Form("HTML", "text/html", html_document),
    "bib": Form("BibTeX", "application/x-bibtex", lambda answers, title: bibtex_entries(cited_papers(answers))),
    "ris": Form("RIS", "application/x-research-info-systems", lambda answers, _: ris_records(cited_papers(answers))),
    "json": Form("JSON", "application/json", _json_document),
}
"""By the suffix of the file."""


def export(answers: Sequence[Answer], *, title: str, form: str) -> str:
    """The text of a file of the kind `form`, a key of `FORMS`. Lone surrogates are replaced, so that it can be stored.

    BibTeX and RIS hold the cited papers; the others questions, answers, the support of each sentence and its evidence.
    """
    return FORMS[form].write(answers, title).encode("utf-8", "surrogatepass").decode("utf-8", "replace")


def form_of(path: Path) -> str:
    """The key of `FORMS` that the file's suffix names. Raises SettingsError where there is none."""
    form = path.suffix.lower().removeprefix(".")
    if form not in FORMS:
        raise SettingsError(
            f"{path.name} does not say what to write.", fix=f"End its name in one of: .{', .'.join(FORMS)}."
        )
    return form
