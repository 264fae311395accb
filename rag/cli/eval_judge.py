"""`citewise eval judge`: a model's verdicts on a run's sentences, and how well it agrees with people."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rag.cli.eval_screen import OutOption, RunArgument, question_bar, wide_console
from rag.cli.screen import HomeOption, JsonOption, console, safe

if TYPE_CHECKING:
    from evals.judging.asking import Opened
    from rag.settings import Settings

judge_app = typer.Typer(help="Let a model judge support.", no_args_is_help=True, add_completion=False)
JobsOption = Annotated[int, typer.Option("--jobs", help="Sentences at once.", min=1, max=64)]


@judge_app.command("run")
def judge_run_command(
    run: RunArgument,
    jobs: JobsOption = 4,
    home: HomeOption = None,
    out: OutOption = None,
) -> None:
    """Let the judge of the settings say of each cited sentence of a run whether it is supported, and score it anew."""
    from evals.judging.asking import ask_judge, dollars
    from evals.judging.labels import claims_of
    from evals.running.folder import find_run
    from evals.running.session import known_to, runs_folder, score_run
    from rag.cli.eval_run import print_summary
    from rag.settings import load_settings

    settings = load_settings(home=home)
    runs = runs_folder(settings, out)
    found = find_run(runs, run)
    claims = claims_of(found.samples().values())
    with _judge(settings, runs) as opened, question_bar("judging") as on_progress:
        verdicts = ask_judge(claims, opened=opened, jobs=jobs, on_progress=on_progress)
    said = {claim.key: verdict.support for claim, verdict in zip(claims, verdicts, strict=True)}
    found.write_verdicts(opened.name, said)
    with known_to(found, settings=settings) as known:
        score_run(found, known)
    print_summary(found.path, as_json=False)
    unscored = sum(verdict is None for verdict in said.values())
    cost = dollars(verdicts)
    told = f"{len(said)} sentences judged by {opened.name}, {unscored} without a verdict, "
    console(stderr=True).print(safe(told + ("cost n/a" if cost is None else f"${cost:.4f}")))


@judge_app.command("calibrate")
def judge_calibrate_command(
    labels: Annotated[Path, typer.Argument(help="Labels, as citewise eval label writes them.", dir_okay=False)],
    jobs: JobsOption = 4,
    home: HomeOption = None,
    as_json: JsonOption = False,
    out: OutOption = None,
) -> None:
    """How well the judge agrees with people, and whether it sees negated sentences and changed numbers."""
    from dataclasses import asdict

    from evals.judging.calibration import calibrate, save_calibration
    from evals.judging.labels import read_labels
    from evals.report.judging import calibration_tables
    from evals.running.session import runs_folder
    from rag.answer_json import dump
    from rag.settings import load_settings

    settings = load_settings(home=home)
    runs, given = runs_folder(settings, out), read_labels(labels)
    with _judge(settings, runs) as opened, question_bar("judging") as on_progress:
        calibration = calibrate(given, opened=opened, jobs=jobs, on_progress=on_progress)
    save_calibration(calibration, runs)
    doubts = calibration.doubts()
    if as_json:
        print(dump({**asdict(calibration), "doubts": doubts}))
        return
    for table in calibration_tables(calibration):
        wide_console().print(table)
    may = "A gate may use it." if not doubts else f"A gate may not use it: {'; '.join(doubts)}."
    console().print(may, style="green" if not doubts else "yellow")


@contextmanager
def _judge(settings: "Settings", runs: Path) -> "Iterator[Opened]":
    from evals.judging.asking import opened_judge
    from evals.running.call_cache import CallCache
    from evals.running.session import CACHE

    with CallCache(runs / CACHE) as cache, opened_judge(settings, cache=cache) as opened:
        yield opened
