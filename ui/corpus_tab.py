"""The Corpus tab: what the answers are made from, to search, to read, to ask about, to add to and to remove from.

The list and the papers come by server functions that `static/corpus.js` calls, a page at a time; changes come by
events, which show how far they are.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import gradio as gr

from rag.assistant import Assistant
from rag.domain import Paper
from rag.errors import CitewiseError
from rag.ingest_report import IngestReport
from ui.components import PRIVATE, html
from ui.corpus_changes import MAX_PASTED_CHARS, CorpusChanges, Done, Step
from ui.corpus_page import (
    facts_html,
    form_html,
    listing_html,
    paper_html,
    problem_html,
    progress_html,
    removed_html,
    report_html,
)
from ui.corpus_search import list_papers, problem_of, read_form
from ui.panel import header

SIMILAR = 5
_MAX_ID_CHARS = 256
_LIST = '<div class="form"></div><div class="list"><p class="note" role="status">Loading …</p></div>'
_PAPER = (
    '<section role="region" aria-label="Paper" tabindex="-1">'
    '<button type="button" class="close" aria-label="Close the paper">✕</button><div class="detail"></div></section>'
)
_CONNECT = """window.citewiseCorpus.connect(element, server, {
  about: (id) => trigger('about', { id }),
  remove: (id) => trigger('remove', { id }),
  restore: (id) => trigger('restore', { id }),
});"""
_CHANGED = "() => window.citewiseCorpus.changed()"
_TO_QUESTION = "() => setTimeout(() => document.querySelector('#ask textarea')?.focus(), 100)"

Html = dict[str, str]


def corpus_tab(
    assistant: Assistant, *, scope_ids: gr.State, tabs: gr.Tabs, header_line: gr.HTML, changeable: bool
) -> None:
    """Lays out the tab and wires its events.

    `scope_ids` is set to the paper that is to be asked about, and the tab of the chat is opened in `tabs`. With
    `changeable` papers are added and removed.
    """
    with gr.Row(elem_id="browsing"):
        papers = html(
            "", "corpus-list", html_template=_LIST, js_on_load=_CONNECT, server_functions=_server(assistant, changeable)
        )
        with gr.Column(elem_id="corpus-side"):
            html("", "corpus-paper", html_template=_PAPER)
            report = html("", "corpus-report", html_template='<div class="report">${value}</div>')
            if changeable:
                changes = CorpusChanges(assistant)
                _wire_adding(changes, assistant, report, header_line)
                _wire_removing(changes, assistant, papers, report, header_line)
            html("", "corpus-facts", html_template='<div class="facts"></div>')

    def about(event: gr.EventData) -> tuple[Any, Any]:
        paper = _paper_of(assistant, event._data)
        return ((paper.paper_id,), gr.Tabs(selected="ask")) if paper else (gr.skip(), gr.skip())

    papers.about(about, None, [scope_ids, tabs], **PRIVATE).then(None, js=_TO_QUESTION, **PRIVATE)


def _server(assistant: Assistant, changeable: bool) -> list[Callable[[object], Html]]:
    """The functions that the page calls; their requests may come from anyone."""

    def listed(request: object) -> Html:
        assistant.refresh()
        try:
            return {"list": listing_html(list_papers(assistant, read_form(request)))}
        except CitewiseError as error:
            return {"list": problem_html(problem_of(error))}

    def opened(request: object) -> Html:
        assistant.refresh()
        corpus = assistant.corpus
        facts = facts_html(corpus.facts, papers=len(corpus), model=corpus.manifest.model)
        return {"form": form_html(corpus.facts), "facts": facts}

    def paper(request: object) -> Html:
        corpus = assistant.corpus
        found = _paper_of(assistant, request)
        row = corpus.row_of(found.paper_id) if found else None
        if found is None or row is None:
            return {"paper": problem_html("This paper is not in the corpus any more.")}
        similar = [corpus.paper(other) for other in corpus.similar(row, n=SIMILAR)]
        return {"paper": paper_html(found, similar=similar, removable=changeable)}

    return [listed, opened, paper]


def _paper_of(assistant: Assistant, request: object) -> Paper | None:
    """The paper whose id a request of the page names."""
    paper_id = request.get("id") if isinstance(request, Mapping) else None
    if not isinstance(paper_id, str) or len(paper_id) > _MAX_ID_CHARS:
        return None
    row = assistant.corpus.row_of(paper_id)
    return None if row is None else assistant.corpus.paper(row)


def _wire_adding(changes: CorpusChanges, assistant: Assistant, report: gr.HTML, header_line: gr.HTML) -> None:
    with gr.Accordion("Add papers", open=False, elem_id="adding"):
        text = gr.Textbox(
            label="Paste records, or abstracts with blank lines between",
            lines=5,
            max_lines=12,
            max_length=MAX_PASTED_CHARS,
            elem_id="pasted",
        )
        with gr.Row(elem_id="adding-buttons"):
            add = gr.Button("Add", elem_id="add-pasted")
            upload = gr.UploadButton("Choose files …", file_count="multiple", elem_id="upload")

    def added(items: Callable[[], Iterable[Step | Done[IngestReport]]]) -> Iterator[tuple[Any, Any, Any]]:
        for shown, done in _shown(items, report_html):
            yield shown, gr.update(value="") if done else gr.skip(), _header(assistant) if done else gr.skip()

    def add_pasted(pasted: str) -> Iterator[tuple[Any, Any, Any]]:
        yield from added(lambda: changes.add_text(str(pasted or "")))

    def add_files(files: list[str] | None) -> Iterator[tuple[Any, Any, Any]]:
        yield from added(lambda: changes.add_files([Path(file) for file in files or []]))

    outputs = [report, text, header_line]
    add.click(add_pasted, text, outputs, **PRIVATE).then(None, js=_CHANGED, **PRIVATE)
    upload.upload(add_files, upload, outputs, **PRIVATE).then(None, js=_CHANGED, **PRIVATE)


def _wire_removing(
    changes: CorpusChanges, assistant: Assistant, papers: gr.HTML, report: gr.HTML, header_line: gr.HTML
) -> None:
    def remove(event: gr.EventData) -> Iterator[tuple[Any, Any]]:
        paper = _paper_of(assistant, event._data)
        if paper is None:
            return
        for shown, done in _shown(lambda: changes.remove(paper), lambda left: removed_html(paper, left=left)):
            yield shown, _header(assistant) if done else gr.skip()

    def restore(event: gr.EventData) -> Iterator[tuple[Any, Any]]:
        for shown, done in _shown(lambda: changes.restore(str(event._data.get("id"))), report_html):
            yield shown, _header(assistant) if done else gr.skip()

    outputs = [report, header_line]
    papers.remove(remove, None, outputs, **PRIVATE).then(None, js=_CHANGED, **PRIVATE)
    papers.restore(restore, None, outputs, **PRIVATE).then(None, js=_CHANGED, **PRIVATE)


def _shown(items: Callable[[], Iterable[Step | Done[Any]]], report: Callable[[Any], str]) -> Iterator[tuple[str, bool]]:
    """A change as the report shows it, and whether it is made; what goes wrong is shown and not raised."""
    yield progress_html(0, 0, "starting"), False
    try:
        for item in items():
            yield (report(item.value), True) if isinstance(item, Done) else (progress_html(*item), False)
    except CitewiseError as error:
        yield problem_html(problem_of(error)), False


def _header(assistant: Assistant) -> str:
    return header(assistant.corpus.name, len(assistant.corpus))
