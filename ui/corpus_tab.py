"""The Corpus tab: what the answers are made from, to search and to read."""

from typing import Any

import gradio as gr

from rag.assistant import MAX_QUESTION_CHARS, Assistant
from ui.components import PRIVATE, html
from ui.panel import corpus_page

PAPERS_ON_A_PAGE = 25


def corpus_tab(assistant: Assistant) -> None:
    """A list of the papers, a page at a time, or of the best matches for a search."""
    corpus = assistant.corpus

    def page_at(query: str, first: int) -> tuple[str, int, Any, Any]:
        asked = query.strip()[:MAX_QUESTION_CHARS]
        first = max(0, min(int(first), len(corpus) - 1))
        if asked:
            found = [hit.paper for hit in assistant.search(asked, k=PAPERS_ON_A_PAGE)]
            shown = corpus_page(found, total=len(corpus), first=1, query=asked)
            return shown, 0, gr.update(interactive=False), gr.update(interactive=False)
        rows = range(first, min(first + PAPERS_ON_A_PAGE, len(corpus)))
        shown = corpus_page([corpus.paper(row) for row in rows], total=len(corpus), first=first + 1)
        return shown, first, gr.update(interactive=first > 0), gr.update(interactive=rows.stop < len(corpus))

    first = gr.State(0)
    query = gr.Textbox(
        elem_id="find", label="Search titles and abstracts", placeholder="A method, a problem, a name", submit_btn=True
    )
    papers = html(page_at("", 0)[0], "papers")
    with gr.Row(elem_id="pages", visible=len(corpus) > PAPERS_ON_A_PAGE):
        previous = gr.Button("Previous", interactive=False)
        following = gr.Button("Next", interactive=len(corpus) > PAPERS_ON_A_PAGE)
    outputs = [papers, first, previous, following]
    query.submit(page_at, [query, first], outputs, **PRIVATE)
    previous.click(lambda text, at: page_at(text, at - PAPERS_ON_A_PAGE), [query, first], outputs, **PRIVATE)
    following.click(lambda text, at: page_at(text, at + PAPERS_ON_A_PAGE), [query, first], outputs, **PRIVATE)
