"""`citewise eval ...`: how good answers and retrieval are, on gold cases and benchmarks."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from rag.cli.eval_cases import lint_command, schema_command
from rag.cli.eval_compare import GateCommand, baseline_app, compare_command, gate_command, power_command
from rag.cli.eval_draft import new_cases_command
from rag.cli.eval_feedback import feedback_app
from rag.cli.eval_judge import judge_app
from rag.cli.eval_label import label_command
from rag.cli.eval_load import load_command
from rag.cli.eval_optimize import optimize_command
from rag.cli.eval_page import page_command
from rag.cli.eval_perf import perf_command
from rag.cli.eval_redteam import redteam_command
from rag.cli.eval_report import report_command
from rag.cli.eval_run import list_command, run_command, score_command
from rag.cli.eval_screen import wide_console
from rag.cli.screen import CorpusOption, HomeOption, JsonOption, progress_bar

eval_app = typer.Typer(help="Measure answers and retrieval.", no_args_is_help=True, add_completion=False)


eval_app.command("schema")(schema_command)
eval_app.command("lint")(lint_command)
eval_app.command("new-cases")(new_cases_command)
eval_app.command("run")(run_command)
eval_app.command("score")(score_command)
eval_app.command("list")(list_command)
eval_app.command("label")(label_command)
eval_app.command("redteam")(redteam_command)
eval_app.command("report")(report_command)
eval_app.command("compare")(compare_command)
eval_app.command("gate", cls=GateCommand)(gate_command)
eval_app.command("power")(power_command)
eval_app.command("optimize")(optimize_command)
eval_app.command("perf")(perf_command)
eval_app.command("load")(load_command)
eval_app.command("page")(page_command)
eval_app.add_typer(baseline_app, name="baseline")
eval_app.add_typer(judge_app, name="judge")
eval_app.add_typer(feedback_app, name="feedback")


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
    rerank: Annotated[
        str | None,
        typer.Option("--rerank", help="Also measure with maxsim or a node postprocessor. [default: CITEWISE_RERANK]"),
    ] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", help="Queries to ask of each benchmark. [default: all]", min=1)
    ] = None,
    corpus: CorpusOption = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Measure retrieval: nDCG@10, recall, MRR with intervals, paired differences, time. Indexes stay in the home."""
    from evals.retrieval import MODES, run, to_record, to_table
    from rag.answer_json import dump
    from rag.ingest import ensure_corpus
    from rag.settings import load_settings
    from rag.wiring import build_embedder, build_reranker

    if not datasets and gold is None:
        raise typer.BadParameter("name a benchmark with --dataset or gold cases with --gold")
    settings = load_settings(home=home, corpus=corpus, rerank=rerank)
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
            reranker=build_reranker(settings, embedder=embedder),
            limit=limit,
            on_progress=on_progress,
        )
    if as_json:
        for result in results:
            print(dump(to_record(result)))
        return
    wide_console().print(to_table(results))
