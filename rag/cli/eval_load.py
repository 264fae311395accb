"""`citewise eval load`: what the page's server holds."""

from typing import Annotated

import typer

from rag.cli.eval_screen import print_report
from rag.cli.screen import CorpusOption, HomeOption, JsonOption, progress_bar


def load_command(
    corpus: CorpusOption = None,
    home: HomeOption = None,
    sessions: Annotated[int, typer.Option("--sessions", help="Readers that ask at the same time.", min=1)] = 16,
    seconds: Annotated[float, typer.Option("--seconds", help="How long they ask.", min=1)] = 60.0,
    pause: Annotated[float, typer.Option("--pause", help="Seconds that each waits between questions.", min=0)] = 0.0,
    endpoint: Annotated[
        float | None,
        typer.Option(
            "--endpoint", help="Answer by a scripted endpoint that takes so many seconds. [default: quotes]", min=0
        ),
    ] = None,
    questions: Annotated[
        int | None,
        typer.Option("--questions", help="Different questions that are asked in turns: few fill caches soon.", min=1),
    ] = None,
    flood: Annotated[int, typer.Option("--flood", help="Questions that then come all at once.", min=0)] = 100,
    ingest: Annotated[
        bool, typer.Option("--ingest", help="Then build the corpus anew while they go on asking.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Measure the page under load, on a copy of a corpus. Exit code 1 for an error or somebody else's answer."""
    from evals.load.report import failures, to_record, to_table
    from evals.load.run import Plan, run_load
    from evals.perf.queries import derive_queries
    from rag.ingest import ensure_corpus
    from rag.settings import load_settings
    from rag.wiring import build_embedder

    settings = load_settings(home=home, corpus=corpus)
    with progress_bar() as on_progress:
        opened = ensure_corpus(
            settings.home, settings.corpus, embedder=build_embedder(settings), on_progress=on_progress
        )
    report = run_load(
        Plan(sessions, seconds, pause=pause, endpoint_seconds=endpoint, flood=flood, ingest=ingest),
        home=settings.home,
        corpus=settings.corpus,
        papers=len(opened),
        questions=derive_queries(opened, limit=questions or len(opened)),
    )
    print_report(to_record(report), to_table(report), as_json=as_json)
    if failures(report):
        raise typer.Exit(1)
