"""`citewise eval run`, `score` and `list`: asks the cases of a suite, scores the answers, shows the figures."""

from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rag.cli.eval_screen import OutOption, RunArgument, question_bar, wide_console
from rag.cli.screen import (
    EXIT_FAILED,
    ContextOption,
    CorpusOption,
    HomeOption,
    JsonOption,
    ModelOption,
    PapersOption,
    WriterOption,
    console,
    progress_bar,
    safe,
    with_model,
)

if TYPE_CHECKING:
    from evals.cases.suites import Suite
    from evals.running.runner import Outcome
    from evals.running.session import Opened
    from rag.building import Progress
    from rag.settings import Settings

CHAT_JOBS = 4


def run_command(
    suite: Annotated[str | None, typer.Argument(help="A suite's name, or a file or folder of gold cases.")] = None,
    corpus: CorpusOption = None,
    home: HomeOption = None,
    writer: WriterOption = None,
    model: ModelOption = None,
    k: PapersOption = None,
    context: ContextOption = None,
    repeat: Annotated[int, typer.Option("--repeat", help="How often each case is asked.", min=1)] = 1,
    limit: Annotated[int | None, typer.Option("--limit", help="Ask only the first cases.", min=1)] = None,
    budget: Annotated[
        float | None, typer.Option("--budget", help="Stop when the calls have cost so many US dollars.", min=0)
    ] = None,
    jobs: Annotated[
        int | None, typer.Option("--jobs", help="Questions at once, at most. [default: 4 with a model]", min=1, max=64)
    ] = None,
    resume: Annotated[str | None, typer.Option("--resume", help="Go on with this run, as it began.")] = None,
    as_json: JsonOption = False,
    out: OutOption = None,
) -> None:
    """Ask the cases of a suite and score the answers. The same command again goes on with an unfinished run."""
    from evals.cases.suites import load_suite, own_suites
    from evals.running.session import check_budget
    from rag.settings import load_settings

    if (suite is None) == (resume is None):
        raise typer.BadParameter("name a suite or file, or a run with --resume")
    settings = with_model(load_settings(home=home, corpus=corpus, writer=writer, k=k, context=context), model)
    asked = load_suite(suite, own=own_suites(settings.home)) if suite else None
    if budget is not None:
        check_budget(settings)
    with ExitStack() as stack:
        with progress_bar() as on_progress:
            opening = _opening(asked, resume, settings, out, repeats=repeat, limit=limit, on_progress=on_progress)
            opened = stack.enter_context(opening)
        outcome = _ask_and_score(opened, settings=settings, jobs=jobs, budget=budget)
    _tell(opened, outcome, as_json=as_json)
    if asked and asked.drafts:
        told = (
            f"Not asked: {asked.drafts} drafts that nobody has accepted. See: citewise eval new-cases {suite} --review"
        )
        console(stderr=True).print(safe(told), style="yellow", soft_wrap=True)
    raise typer.Exit(EXIT_FAILED if outcome.stopped else 0)


def _opening(
    suite: "Suite | None",
    resume: str | None,
    settings: "Settings",
    out: Path | None,
    *,
    repeats: int,
    limit: int | None,
    on_progress: "Progress",
) -> "AbstractContextManager[Opened]":
    """The run that was named, or that of the suite."""
    from evals.running.folder import find_run
    from evals.running.session import opened_run, reopened_run, runs_folder

    runs = runs_folder(settings, out)
    if suite is None:
        return reopened_run(find_run(runs, resume or ""), settings=settings, runs=runs, on_progress=on_progress)
    return opened_run(suite, settings=settings, runs=runs, repeats=repeats, limit=limit, on_progress=on_progress)


def score_command(
    run: RunArgument,
    home: HomeOption = None,
    as_json: JsonOption = False,
    out: OutOption = None,
) -> None:
    """Score the answers of a run anew, without a call."""
    from evals.running.folder import find_run
    from evals.running.session import known_to, runs_folder, score_run
    from rag.settings import load_settings

    settings = load_settings(home=home)
    found = find_run(runs_folder(settings, out), run)
    with progress_bar() as on_progress, known_to(found, settings=settings, on_progress=on_progress) as known:
        score_run(found, known)
    print_summary(found.path, as_json=as_json)


def list_command(home: HomeOption = None, as_json: JsonOption = False, out: OutOption = None) -> None:
    """List the runs, oldest first."""
    from rich.table import Table

    from evals.running.folder import list_runs
    from evals.running.session import runs_folder
    from rag.answer_json import dump
    from rag.settings import load_settings

    table = Table("run", "suite", "writer", "model", "corpus", "answered", "commit", "")
    for run in list_runs(runs_folder(load_settings(home=home), out)):
        about, answered = run.about(), len(run.done())
        identity = about["identity"]
        state = "complete" if run.is_complete() else "unfinished"
        if as_json:
            print(dump({"run": run.name, "answered": answered, "state": state, **about}))
        cells = [run.name, identity["suite"], identity["writer"], identity["model"] or "", identity["corpus"]]
        table.add_row(*map(safe, cells), f"{answered}/{about['planned']}", about["commit"] or "", state)
    if not as_json:
        wide_console().print(table)


def _ask_and_score(opened: "Opened", *, settings: "Settings", jobs: int | None, budget: float | None) -> "Outcome":
    from evals.running.runner import ask_missing
    from evals.running.session import known_of, score_run

    if opened.is_resumed:
        console(stderr=True).print(f"Going on with the run {safe(opened.run.name)}.")
    most = jobs or (CHAT_JOBS if opened.assistant.writer_name == "chat" else 1)
    with question_bar("asking") as on_progress:
        outcome = ask_missing(opened.run, assistant=opened.assistant, jobs=most, budget=budget, on_progress=on_progress)
    known = known_of(opened.assistant.corpus, settings=settings, identity=opened.run.identity())
    score_run(opened.run, known)
    return outcome


def _tell(opened: "Opened", outcome: "Outcome", *, as_json: bool) -> None:
    print_summary(opened.run.path, as_json=as_json)
    told = f"{outcome.answered} of {outcome.planned} answered, {outcome.failed} failed, ${outcome.dollars:.4f}"
    console(stderr=True).print(f"{told}. The run is {opened.run.path}", soft_wrap=True)
    if outcome.stopped:
        console(stderr=True).print(f"It stopped: {outcome.stopped}. The same command goes on.", style="yellow")


def print_summary(run: Path, *, as_json: bool) -> None:
    """The figures of a scored run: a table, or one JSON object a metric and group."""
    from evals.report.terminal import summary_records, summary_table
    from evals.results.loading import load_results
    from evals.results.summary import summarise
    from evals.running.folder import RunFolder
    from rag.answer_json import dump

    results = load_results(RunFolder(run))
    summary = summarise(results)
    if as_json:
        for record in summary_records(summary, run=results.name):
            print(dump(record))
    else:
        wide = wide_console()
        wide.print(summary_table(summary, title=results.name, console=wide))
