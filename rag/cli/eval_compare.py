"""`citewise eval compare`, `gate`, `baseline` and `power`: what two runs say of each other."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from rag.cli.eval_screen import OutOption, RunArgument, wide_console
from rag.cli.screen import EXIT_FAILED, HomeOption, JsonOption, console, print_error, safe
from rag.errors import CitewiseError

if TYPE_CHECKING:
    from evals.results.gate import Verdict
    from evals.results.loading import Results

EITHER = "A run: its name or folder; or a baseline file."
baseline_app = typer.Typer(help="Keep the run that gates compare with.", no_args_is_help=True, add_completion=False)


class GateCommand(TyperCommand):
    """Wrong usage of a gate is exit code 1: 2 says that a run is incomplete."""

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        try:
            return super().make_context(info_name, args, parent=parent, **extra)
        except typer.TyperException as error:
            vars(error)["exit_code"] = EXIT_FAILED
            raise


def compare_command(
    before: Annotated[str, typer.Argument(help=EITHER, metavar="A")],
    after: Annotated[str, typer.Argument(help=EITHER, metavar="B")],
    html: Annotated[
        Path | None, typer.Option("--html", help="Write one HTML file there, which needs nothing else.", dir_okay=False)
    ] = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
    out: OutOption = None,
) -> None:
    """How run B differs from run A: paired differences, what flipped and why, where it helped and hurt."""
    from evals.report.terminal import comparison_records, comparison_table, flips_table, slices_table
    from evals.results.comparison import compare
    from evals.results.loading import find_results
    from rag.answer_json import dump

    runs = _runs(home, out)
    comparison = compare(find_results(runs, before), find_results(runs, after))
    if html is not None:
        from evals.report.comparing import render_comparison
        from evals.running.log import write_whole

        html.parent.mkdir(parents=True, exist_ok=True)
        write_whole(html, render_comparison(comparison))
        console(stderr=True).print(f"Written: {html}", soft_wrap=True)
    if as_json:
        for record in comparison_records(comparison):
            print(dump(record))
        return
    for table in (comparison_table(comparison), flips_table(comparison), slices_table(comparison)):
        wide_console().print(table)
    if comparison.only:
        console().print(f"{len(comparison.only)} cases are in one run only, or asked differently.", style="yellow")


def gate_command(
    run: RunArgument,
    baseline: Annotated[
        str | None, typer.Option("--baseline", help=f"{EITHER} [default: that of the suite, if set]")
    ] = None,
    floors: Annotated[Path | None, typer.Option("--floors", help="TOML with the least values.", dir_okay=False)] = None,
    junit: Annotated[Path | None, typer.Option("--junit", help="Write JUnit XML there.", dir_okay=False)] = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
    out: OutOption = None,
) -> None:
    """May this run pass? Exit code 0: yes, 1: usage, 2: incomplete, 3: worse than the baseline, 4: below a floor."""
    from evals.report.terminal import verdict_table
    from evals.results.junit import write_junit
    from rag.answer_json import dump

    try:
        results, verdict = _judge(_runs(home, out), run, baseline=baseline, floors=floors)
        if junit is not None:
            write_junit(verdict, results, junit)
    except CitewiseError as error:
        print_error(error)
        raise typer.Exit(EXIT_FAILED) from error
    if as_json:
        for rule in verdict.rules:
            print(dump(rule._asdict()))
    else:
        wide_console().print(verdict_table(verdict, title=results.name))
    for rule in verdict.broken:
        console(stderr=True).print(safe(f"{rule.kind}: {rule.name}: {rule.told}"), style="bold red")
    raise typer.Exit(verdict.exit_code)


@baseline_app.command("set")
def baseline_set_command(
    run: RunArgument,
    file: Annotated[
        Path | None, typer.Option("--file", help="Where to write it. [default: among the runs]", dir_okay=False)
    ] = None,
    home: HomeOption = None,
    out: OutOption = None,
) -> None:
    """Make a run the baseline of its suite: one file with its cases and scores."""
    from evals.results.loading import baseline_path, write_baseline
    from evals.running.folder import find_run

    runs = _runs(home, out)
    found = find_run(runs, run)
    path = file or baseline_path(runs, found.identity().suite)
    write_baseline(found, path)
    console().print(f"{found.name} is the baseline: {path}", soft_wrap=True)


def power_command(
    run: RunArgument,
    metric: Annotated[str, typer.Option("--metric", help="Of which metric.")] = "nugget_recall",
    other: Annotated[str | None, typer.Option("--with", help=f"The other side of a comparison. {EITHER}")] = None,
    chance: Annotated[float, typer.Option("--power", help="The chance to see it.", min=0.5, max=0.99)] = 0.8,
    home: HomeOption = None,
    as_json: JsonOption = False,
    out: OutOption = None,
) -> None:
    """How many cases it takes to see a difference, from the run's own variance."""
    from evals.report.terminal import power_records, power_table
    from evals.results.loading import find_results
    from evals.results.power import power_of
    from rag.answer_json import dump

    runs = _runs(home, out)
    second = find_results(runs, other) if other else None
    power = power_of(find_results(runs, run), metric=metric, other=second, chance=chance)
    if as_json:
        for record in power_records(power):
            print(dump(record))
        return
    wide_console().print(power_table(power, chance=chance))


def _judge(runs: Path, run: str, *, baseline: str | None, floors: Path | None) -> "tuple[Results, Verdict]":
    from evals.judging.calibration import find_calibration
    from evals.results.comparison import compare
    from evals.results.gate import judge, load_floors
    from evals.results.loading import baseline_path, find_results

    results = find_results(runs, run)
    stored = baseline_path(runs, str(results.about["identity"]["suite"]))
    named = baseline or (str(stored) if stored.exists() else None)
    comparison = compare(find_results(runs, named), results) if named else None
    judged_by = results.about.get("judged_by")
    calibration = find_calibration(runs, judged_by) if judged_by else None
    return results, judge(results, floors=load_floors(floors), comparison=comparison, calibration=calibration)


def _runs(home: Path | None, out: Path | None) -> Path:
    from evals.running.session import runs_folder
    from rag.settings import load_settings

    return runs_folder(load_settings(home=home), out)
