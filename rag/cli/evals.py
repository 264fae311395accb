"""`citewise eval ...`: how good answers and retrieval are, on gold cases and benchmarks."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from rag.cli.screen import CorpusOption, HomeOption, JsonOption, WriterOption, console, progress_bar

if TYPE_CHECKING:
    from rich.console import Console

eval_app = typer.Typer(help="Measure answers and retrieval.", no_args_is_help=True, add_completion=False)


@eval_app.command("answers")
def answers_command(
    gold: Annotated[Path, typer.Argument(help="Gold cases, JSONL.", exists=True, dir_okay=False)],
    corpus: CorpusOption = None,
    home: HomeOption = None,
    writer: WriterOption = None,
    as_json: JsonOption = False,
    misses: Annotated[bool, typer.Option("--misses", help="List the cases with a miss.")] = False,
) -> None:
    """Ask gold cases and score the answers: citations, facts, quotes, refusals, time."""
    from rich.table import Table

    from evals.answers import SCORES, run_cases, summarise
    from evals.cases import load_cases
    from rag.answer_json import dump
    from rag.assistant import Assistant
    from rag.settings import load_settings

    settings = load_settings(home=home, corpus=corpus, writer=writer)
    with progress_bar() as on_progress:
        assistant = Assistant.from_settings(settings, on_progress=on_progress)
        samples = run_cases(load_cases(gold), assistant=assistant, on_progress=on_progress)
    summaries = summarise(samples)
    if as_json:
        for summary in summaries:
            print(dump(summary._asdict() | {"means": dict(summary.means)}))
        return
    table = Table("questions", "n", "failed", *SCORES)
    for summary in summaries:
        cells = ["-" if (value := summary.means[name]) is None else f"{value:.3g}" for name in SCORES]
        table.add_row(summary.group, str(summary.questions), str(summary.failed), *cells)
    _wide_console().print(table)
    for sample in samples if misses else []:
        missed = sample.case.answerable == (sample.answer.outcome == "not_in_corpus")
        if missed or any((sample.scores[name] or 1) < 1 or sample.scores[name] == 0 for name in _MISSES):
            scores = {name: sample.scores[name] for name in (*_MISSES, "refused")}
            console().print(f"{sample.case.case_id} {sample.case.question}\n    {scores}")
            console().print(f"    {sample.answer.text}")


_MISSES = ("first cited", "vital nuggets")


@eval_app.command("retrieval")
def retrieval_command(
    datasets: Annotated[
        list[Path] | None,
        typer.Option(
            "--dataset", help="Folder of a benchmark: corpus.jsonl[.gz], queries.jsonl, qrels.tsv.", exists=True
        ),
    ] = None,
    gold: Annotated[Path | None, typer.Option("--gold", help="Gold cases, asked of --corpus.", exists=True)] = None,
    mode: Annotated[
        Literal["keyword", "dense", "rrf", "hybrid", "all"], typer.Option("--mode", help="What to measure.")
    ] = "all",
    corpus: CorpusOption = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Measure retrieval: nDCG@10, recall, MRR with intervals, paired differences, time. Indexes stay in the home."""
    from evals.retrieval import MODES, run, to_record, to_table
    from rag.answer_json import dump
    from rag.ingest import ensure_corpus
    from rag.settings import load_settings
    from rag.wiring import build_embedder

    if not datasets and gold is None:
        raise typer.BadParameter("name a benchmark with --dataset or gold cases with --gold")
    settings = load_settings(home=home, corpus=corpus)
    embedder = build_embedder(settings)
    with progress_bar() as on_progress:
        asked = None
        if gold is not None:
            asked = ensure_corpus(settings.home, settings.corpus, embedder=embedder, on_progress=on_progress)
        results = run(
            datasets or [],
            gold=gold,
            corpus=asked,
            modes=MODES if mode == "all" else (mode,),
            home=settings.home,
            embedder=embedder,
            on_progress=on_progress,
        )
    if as_json:
        for result in results:
            print(dump(to_record(result)))
        return
    _wide_console().print(to_table(results))


def _wide_console() -> "Console":
    """A terminal as it is; piped output as wide as its tables."""
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else 200)
