"""`citewise eval report`: a run as one HTML file or as Markdown."""

from pathlib import Path
from typing import Annotated

import typer

from rag.cli.eval_screen import OutOption, RunArgument
from rag.cli.screen import HomeOption, console


def report_command(
    run: RunArgument,
    html: Annotated[
        Path | None, typer.Option("--html", help="Write one HTML file there, which needs nothing else.", dir_okay=False)
    ] = None,
    markdown: Annotated[
        Path | None, typer.Option("--md", help="Write Markdown there. [default: printed]", dir_okay=False)
    ] = None,
    home: HomeOption = None,
    out: OutOption = None,
) -> None:
    """A run's figures with intervals, plots, and each case with its answer, evidence and reasons."""
    from evals.report.html import render_report
    from evals.report.loading import load_report
    from evals.report.markdown import render_markdown
    from evals.running.folder import find_run
    from evals.running.log import write_whole
    from evals.running.session import runs_folder
    from rag.settings import load_settings

    report = load_report(find_run(runs_folder(load_settings(home=home), out), run))
    for path, render in ((html, render_report), (markdown, render_markdown)):
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, render(report))
            console().print(f"Written: {path}", soft_wrap=True)
    if html is None and markdown is None:
        print(render_markdown(report))
