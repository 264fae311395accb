"""`citewise eval label`: a person says of a run's sentences whether the cited abstracts support them."""

import getpass
import random
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rag.cli.eval_screen import OutOption, RunArgument
from rag.cli.screen import HomeOption, console, safe

if TYPE_CHECKING:
    from evals.judging.labels import Claim
    from rag.domain import Support

WORDS: "dict[str, Support]" = {"s": "supported", "p": "partly", "u": "unsupported"}
ASK = "[s]upported, [p]artly, [u]nsupported, [n]ext, [q]uit: "


def label_command(
    run: RunArgument,
    file: Annotated[
        Path | None, typer.Option("--file", help="Where labels are added. [default: in the run]", dir_okay=False)
    ] = None,
    annotator: Annotated[str | None, typer.Option("--annotator", help="Who labels. [default: the user]")] = None,
    limit: Annotated[int | None, typer.Option("--limit", help="Stop after so many labels.", min=1)] = None,
    seed: Annotated[int, typer.Option("--seed", help="Of the order, which is random.")] = 0,
    home: HomeOption = None,
    out: OutOption = None,
) -> None:
    """Label sentences of a run, blind to what citewise thinks of them. What you have labelled is not asked again."""
    from evals.judging.labels import claims_of, read_labels, write_label
    from evals.running.folder import find_run
    from evals.running.log import Log
    from evals.running.session import runs_folder
    from rag.settings import load_settings

    found = find_run(runs_folder(load_settings(home=home), out), run)
    path, name = file or found.path / "labels.jsonl", annotator or getpass.getuser()
    labels = read_labels(path) if path.exists() and path.stat().st_size else []
    done = {label.id for label in labels if label.annotator == name}
    claims = [claim for claim in claims_of(found.samples().values()) if claim.claim_id not in done]
    random.Random(seed).shuffle(claims)  # noqa: S311 - an order, no secret
    added = 0
    path.parent.mkdir(parents=True, exist_ok=True)
    with Log(path) as log:
        for claim, said in _answers(claims):
            write_label(log, claim, annotator=name, label=said)
            added += 1
            if added == limit:
                break
    console().print(f"{added} labels added, {len(claims) - added} sentences left: {path}", soft_wrap=True)


def _answers(claims: "list[Claim]") -> "Iterator[tuple[Claim, Support]]":
    """What the person says of each claim, until they stop."""
    for place, claim in enumerate(claims, start=1):
        screen = console()
        screen.rule(f"{place} of {len(claims)}")
        for paper in claim.papers:
            screen.print(safe(paper.title), style="bold")
            screen.print(safe(paper.abstract))
        screen.print(f"\n{safe(claim.sentence)}\n", style="reverse")
        while True:
            try:
                typed = input(ASK).strip().lower()[:1]
            except EOFError:
                return
            if typed == "q":
                return
            if typed == "n":
                break
            if typed in WORDS:
                yield claim, WORDS[typed]
                break
