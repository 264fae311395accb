"""`citewise eval page`: how soon the page can be used, how heavy it is, and how soon it cites."""

from typing import Annotated

import typer

from rag.cli.eval_screen import print_report
from rag.cli.screen import CorpusOption, HomeOption, JsonOption, progress_bar


def page_command(
    corpus: CorpusOption = None,
    home: HomeOption = None,
    loads: Annotated[int, typer.Option("--loads", help="First loads of the page, and of the bare one.", min=1)] = 10,
    questions: Annotated[int, typer.Option("--questions", help="Questions asked one by one.", min=1)] = 30,
    readers: Annotated[int, typer.Option("--readers", help="Readers that ask at the same moment.", min=1)] = 16,
    as_json: JsonOption = False,
) -> None:
    """Measure the page in Chromium, beside Gradio's bare chat. Needs Playwright. Exit code 1 for what must not be."""
    from evals.page.report import failures, to_record, to_table
    from evals.page.run import measure
    from evals.perf.queries import derive_queries
    from rag.ingest import ensure_corpus
    from rag.settings import load_settings
    from rag.wiring import build_embedder

    settings = load_settings(home=home, corpus=corpus)
    with progress_bar() as on_progress:
        opened = ensure_corpus(
            settings.home, settings.corpus, embedder=build_embedder(settings), on_progress=on_progress
        )
        report = measure(
            home=settings.home,
            corpus=settings.corpus,
            papers=len(opened),
            questions=derive_queries(opened, limit=questions),
            loads=loads,
            readers=readers,
            on_progress=on_progress,
        )
    print_report(to_record(report), to_table(report), as_json=as_json)
    if failures(report):
        raise typer.Exit(1)
