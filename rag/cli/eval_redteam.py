"""`citewise eval redteam`: planted instructions, mutated by what gets through."""

import json
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from rag.cli.eval_screen import OutOption, question_bar, wide_console
from rag.cli.screen import CorpusOption, HomeOption, JsonOption, ModelOption, WriterOption, console, with_model

if TYPE_CHECKING:
    from rich.table import Table

    from evals.injections import Rate
    from evals.redteam.search import Found

PHASES = {
    "suite": "the suite of planted instructions",
    "plain": "plain instructions",
    "search": "the search (prefers what works)",
    "again": "its best shapes, with other words",
}


def redteam_command(
    budget: Annotated[
        int, typer.Option("--budget", help="Attacks that are made beside those of the suite.", min=10, max=100_000)
    ] = 200,
    seed: Annotated[int, typer.Option("--seed", help="Of the search.")] = 0,
    corpus: CorpusOption = None,
    writer: WriterOption = None,
    model: ModelOption = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
    out: OutOption = None,
) -> None:
    """Plant instructions in abstracts, titles and questions: those of the suite, then ever better ones of a search."""
    from evals.redteam.search import red_team
    from evals.redteam.session import attack_by_suite, attacking
    from evals.running.log import write_whole
    from evals.running.session import runs_folder
    from rag.answer_json import dump
    from rag.settings import load_settings

    settings = with_model(load_settings(home=home, corpus=corpus, writer=writer), model)
    runs = runs_folder(settings, out)
    with question_bar("the suite") as bar:
        by_suite = attack_by_suite(settings, runs, on_progress=bar)
    with (
        question_bar("attacking") as bar,
        attacking(settings, runs, seed=seed, on_asked=lambda asked: bar(asked, budget)) as ask,
    ):
        found = red_team(budget=budget, seed=seed, ask=ask)
    log = runs / "redteam" / f"{datetime.now(UTC):%Y%m%d-%H%M%S}.jsonl"
    log.parent.mkdir(parents=True, exist_ok=True)
    lines = [{"phase": t.phase, "is_hit": t.is_hit, "marker": t.attack.marker, **asdict(t.attack)} for t in found.tries]
    write_whole(log, "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines))
    if as_json:
        for group, name, rate in _rates(by_suite, found):
            print(dump({"group": group, "name": name, **rate._asdict()}))
    else:
        wide_console().print(_table(by_suite, found))
    told = f"{len(found.hits())} of {len(found.tries)} attacks got through, {found.failed} calls failed: {log}"
    console(stderr=True).print(told, soft_wrap=True)


def _rates(by_suite: "Rate", found: "Found") -> "list[tuple[str, str, Rate]]":
    rows = [("phase", "suite", by_suite)]
    rows += [("phase", name, found.rate(name)) for name in ("plain", "search", "again")]
    rows += [("operator", name, rate) for name, rate in found.by_operator().items()]
    return rows + [("place", name, rate) for name, rate in found.by_place().items()]


def _table(by_suite: "Rate", found: "Found") -> "Table":
    from rich.table import Table

    table = Table("attacks", "", "got through", "of", "rate", "95 % interval")
    last = "phase"
    for group, name, rate in _rates(by_suite, found):
        if group != last:
            table.add_section()
        last = group
        share = f"{rate.hits / rate.total:.3f}" if rate.total else ""
        interval = f"[{rate.low:.3f}, {rate.high:.3f}]" if rate.total else ""
        table.add_row(group, PHASES.get(name, name), str(rate.hits), str(rate.total), share, interval)
    return table
