"""The Evals tab: runs with their figures and cases, two side by side, starting one, labelling, reviewing drafts."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gradio as gr

from evals.cases.suites import own_names, own_suites, suite_names
from rag.errors import CitewiseError
from rag.settings import Settings
from ui.components import PRIVATE, html
from ui.evals_runner import Runner
from ui.evals_view import CASES_ON_A_PAGE, cases_view, comparison_view, problem, run_choices, run_view
from ui.labelling import labelling_functions
from ui.panes import connect_js, pane_html
from ui.render import counted
from ui.reviewing import PaperOf, drafts_in, reviewing_functions

_NO_RUNS = "<p>No run yet. Start one here, or by <code>citewise eval run seed</code>.</p>"
_NO_OTHER = "none"


def evals_tab(settings: Settings, runs: Path, tab: gr.Tab, *, annotator: str, paper_of: PaperOf) -> None:
    """Lays out the tab and wires its events. Runs are those in `runs`, and are started by `settings`.

    Sentences are labelled by `annotator`, unless the reader gives another name; drafts are shown with the abstracts
    that `paper_of` gives by their ids.
    """
    runner, own = Runner(settings, runs), own_suites(settings.home)
    with gr.Row(elem_id="evals-bar"):
        chosen = gr.Dropdown([], label="Run", elem_id="evals-run", scale=3)
        other = gr.Dropdown([], label="Compared with", elem_id="evals-other", scale=3)
    with gr.Row(elem_id="evals-start"):
        suite = gr.Dropdown(list(suite_names()), value="seed", label="Suite", scale=2)
        limit = gr.Number(0, label="First cases only (0: all)", minimum=0, precision=0, scale=2)
        start = gr.Button("Start a run", scale=1)
        stop = gr.Button("Stop", interactive=False, scale=1)
    progress = html("", "evals-progress", html_template='<div role="status">${value}</div>')
    by_labels, by_drafts = labelling_functions(runs, annotator=annotator), reviewing_functions(own, paper_of=paper_of)
    labels = _pane("evals-label", "Label sentences", script="citewiseLabelling", functions=by_labels)
    drafts = _pane("evals-drafts", "Review drafts", script="citewiseReviewing", functions=by_drafts)
    figures = html(_NO_RUNS, "evals-figures")
    first = gr.State(0)
    with gr.Row(elem_id="evals-pages", visible=False) as pages:
        wrong = gr.Checkbox(label="Only cases that are not right", elem_id="evals-wrong")
        previous, following = gr.Button("Previous cases"), gr.Button("Next cases")
    cases = html("", "evals-cases")

    def choices(name: str | None, versus: str | None) -> tuple[Any, Any]:
        known = run_choices(runs)
        names = [each for _, each in known]
        name = name if name in names else next(iter(names), None)
        versus = versus if versus in names else _NO_OTHER
        return gr.update(choices=known, value=name), gr.update(choices=[("none", _NO_OTHER), *known], value=versus)

    def show(name: str | None, versus: str | None) -> str:
        if not name:
            return _NO_RUNS
        try:
            return comparison_view(runs, versus, name) if versus and versus != _NO_OTHER else run_view(runs, name)
        except CitewiseError as error:
            return problem(error)

    def page(name: str | None, only_wrong: bool, at: int) -> tuple[str, int, Any, Any, Any]:
        if not name:
            return "", 0, gr.update(visible=False), gr.update(), gr.update()
        try:
            shown, at, total = cases_view(runs, name, first=at, only_wrong=only_wrong)
        except CitewiseError as error:
            return problem(error), 0, gr.update(visible=False), gr.update(), gr.update()
        more = at + CASES_ON_A_PAGE < total
        return shown, at, gr.update(visible=True), gr.update(interactive=at > 0), gr.update(interactive=more)

    def run(name: str, most: float | None) -> Iterator[tuple[str, Any, Any]]:
        going = (gr.update(interactive=False), gr.update(interactive=True))
        yield "Starting …", *going
        told = ""
        for step in runner.run(name, limit=int(most or 0) or None):
            if step.problem:
                told = problem(step.problem)
            elif step.run:
                told = f"{step.answered} of {step.planned} answered and scored."
                if step.drafts:
                    told += f" Not asked: {counted(step.drafts, 'draft')} that nobody has accepted."
            else:
                yield f"{step.answered} of {step.planned} answered", *going
        yield told, gr.update(interactive=True), gr.update(interactive=False)

    paged = [cases, first, pages, previous, following]
    tab.select(choices, [chosen, other], [chosen, other], **PRIVATE)
    tab.select(lambda: gr.update(choices=[*suite_names(), *own_names(own)]), None, suite, **PRIVATE)
    gr.on([tab.select, suite.change], lambda name: drafts_in(own, name), suite, drafts, **PRIVATE)
    chosen.change(lambda name: name or "", chosen, labels, **PRIVATE)
    gr.on([chosen.change, other.change], show, [chosen, other], figures, **PRIVATE)
    gr.on([chosen.change, wrong.change], lambda name, only: page(name, only, 0), [chosen, wrong], paged, **PRIVATE)
    previous.click(lambda n, o, at: page(n, o, at - CASES_ON_A_PAGE), [chosen, wrong, first], paged, **PRIVATE)
    following.click(lambda n, o, at: page(n, o, at + CASES_ON_A_PAGE), [chosen, wrong, first], paged, **PRIVATE)
    started = start.click(run, [suite, limit], [progress, start, stop], concurrency_limit=4, **PRIVATE)
    started.then(lambda versus: choices(None, versus), other, [chosen, other], **PRIVATE)
    stop.click(runner.stop, None, None, **PRIVATE)


def _pane(elem_id: str, words: str, *, script: str, functions: list[Any]) -> gr.HTML:
    """A pane behind a button with `words`, which `script` offers by the component's value."""
    return html("", elem_id, html_template=pane_html(words), js_on_load=connect_js(script), server_functions=functions)
