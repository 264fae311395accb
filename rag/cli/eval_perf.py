"""`citewise eval perf`: how fast and how large a corpus is."""

from pathlib import Path
from typing import Annotated

import typer

from rag.cli.eval_screen import print_report
from rag.cli.screen import CorpusOption, HomeOption, JsonOption, progress_bar


def perf_command(
    corpus: CorpusOption = None,
    home: HomeOption = None,
    queries: Annotated[
        Path | None,
        typer.Option(
            "--queries",
            help="Queries, one a line: text, or JSON with question or text. [default: titles and first sentences]",
            exists=True,
            dir_okay=False,
        ),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", help="Queries to ask.", min=1)] = 200,
    papers: Annotated[int, typer.Option("--papers", help="Papers to embed twice; 0 embeds none.", min=0)] = 64,
    as_json: JsonOption = False,
) -> None:
    """Measure a corpus's speed and size, in turns with Chroma, numpy, LlamaIndex and the model alone."""
    from evals.perf.queries import derive_queries, read_query_file
    from evals.perf.report import to_record, to_table
    from evals.perf.run import measure
    from rag.ingest import ensure_corpus
    from rag.settings import load_settings
    from rag.wiring import build_embedder

    settings = load_settings(home=home, corpus=corpus)
    embedder = build_embedder(settings)
    with progress_bar() as on_progress:
        opened = ensure_corpus(settings.home, settings.corpus, embedder=embedder, on_progress=on_progress)
        report = measure(
            opened,
            home=settings.home,
            embedder=embedder,
            queries=read_query_file(queries, limit=limit) if queries else derive_queries(opened, limit=limit),
            ingest_papers=papers,
            on_progress=on_progress,
        )
    print_report(to_record(report), to_table(report), as_json=as_json)
