"""`citewise eval optimize`: a model proposes prompts, the metrics choose, cases that nothing saw report."""

from pathlib import Path
from typing import Annotated

import typer

from rag.cli.eval_screen import OutOption, question_bar, wide_console
from rag.cli.screen import CorpusOption, HomeOption, ModelOption, console, safe, with_model
from rag.errors import SettingsError


def optimize_command(
    prompt: Annotated[
        str, typer.Argument(help="answer, rows, brief (of local models), revise or standalone.", metavar="PROMPT")
    ],
    suite: Annotated[str, typer.Option("--suite", help="A suite's name, or a file or folder of gold cases.")],
    rounds: Annotated[int, typer.Option("--rounds", help="Proposals that are tried.", min=1, max=100)] = 5,
    keep: Annotated[
        Path | None, typer.Option("--keep", help="Folder of prompts for the new version. [default: CITEWISE_PROMPTS]")
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", help="Questions at once.", min=1, max=64)] = 4,
    seed: Annotated[int, typer.Option("--seed", help="Of how the cases are parted.")] = 0,
    corpus: CorpusOption = None,
    model: ModelOption = None,
    home: HomeOption = None,
    out: OutOption = None,
) -> None:
    """Look for a better prompt: half of the papers are tuned on, a quarter chooses, and only the last is reported."""
    from evals.cases.suites import load_suite, own_suites
    from evals.optimizing.search import COMPARISON, keep_prompt, optimise
    from evals.optimizing.session import asker, check_model, proposer
    from evals.report.terminal import comparison_table
    from evals.results.loading import load_results
    from evals.running.session import runs_folder
    from rag.prompting import IN_USE, load_prompt
    from rag.settings import load_settings

    settings = check_model(with_model(load_settings(home=home, corpus=corpus), model), prompt=prompt)
    runs, folder = runs_folder(settings, out), keep or settings.prompts
    if folder is None:
        raise SettingsError("There is no folder for a new prompt.", fix="Name one with --keep, or CITEWISE_PROMPTS.")
    start = load_prompt(prompt, IN_USE[prompt], folder=settings.prompts)
    with proposer(settings, runs) as propose, question_bar("asking") as bar:
        ask = asker(settings, runs, jobs=jobs if settings.writer == "chat" else 1, on_progress=lambda part: bar)
        found = optimise(
            load_suite(suite, own=own_suites(settings.home)),
            start=start,
            rounds=rounds,
            seed=seed,
            ask=ask,
            propose=propose,
            read=load_results,
        )
    for each in found.rounds:
        told = each.label or f"no prompt: {each.problem}"
        console().print(safe(f"round {each.number}: {told}{', the best so far' if each.is_best else ''}"))
    if found.comparison is None:
        console().print("No proposal is better on cases that it was not tuned on: nothing is kept.")
        return
    wide_console().print(comparison_table(found.comparison))
    name = keep_prompt(found.chosen, folder, comparison=found.comparison)
    console().print(
        f"Kept as {name} in {safe(str(folder))}, with {COMPARISON}: on papers it was neither tuned nor chosen on.\n"
        f"To answer by it, copy its two texts to {start.name}/{start.version} of the folder CITEWISE_PROMPTS.",
        soft_wrap=True,
    )
