"""`citewise eval label`: a person says of a run's sentences whether the cited abstracts support them."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rag.cli.eval_screen import OutOption, RunArgument, wide_console
from rag.cli.screen import HomeOption, console, safe, typeset

if TYPE_CHECKING:
    from evals.judging.labelling import Labelling
    from evals.judging.labels import Checked
    from rag.domain import Support

WORDS: "dict[str, Support]" = {"s": "supported", "p": "partly", "u": "unsupported"}
ASK = "[s]upported, [p]artly, [u]nsupported, [n]ext, [b]ack, [q]uit: "


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
    """Label sentences of a run, blind to what citewise thinks of them. What you have labelled is not asked again.

    When all are labelled, it tells how citewise's own check agrees with the labels.
    """
    from evals.judging.labelling import open_labelling
    from evals.report.judging import agreement_tables
    from evals.running.folder import find_run
    from evals.running.session import runs_folder
    from rag.settings import load_settings

    found = find_run(runs_folder(load_settings(home=home), out), run)
    labelling = open_labelling(found, annotator=annotator, file=file, seed=seed)
    _label(labelling, limit=limit)
    told = f"{len(labelling.said)} of {len(labelling)} sentences labelled: {labelling.file}"
    console().print(safe(told), soft_wrap=True)
    if labelling.said and labelling.following() is None:
        agreed, human = labelling.agreement()
        for table in agreement_tables(agreed, human=human, by="check"):
            wide_console().print(table)


def _label(labelling: "Labelling", *, limit: int | None) -> None:
    """Asks of each sentence once, until the person stops or has given `limit` labels."""
    before, skipped = len(labelling.said), set[str]()
    sentence = labelling.following()
    while sentence is not None and len(labelling.said) - before != limit:
        _show(sentence, labelling)
        typed = _typed()
        if typed == "q":
            return
        if typed == "b":
            sentence = labelling.take_back() or sentence
            continue
        if typed == "n":
            skipped.add(sentence.claim.claim_id)
        else:
            labelling.say(sentence, WORDS[typed])
        sentence = labelling.following(sentence.claim.claim_id, skipped=skipped)


def _show(sentence: "Checked", labelling: "Labelling") -> None:
    screen = console()
    screen.rule(f"{len(labelling.said) + 1} of {len(labelling)}")
    for paper in sentence.claim.papers:
        screen.print(safe(paper.title), style="bold")
        screen.print(typeset(paper.abstract, out=screen))
    screen.print(f"\n{safe(sentence.claim.sentence)}\n", style="reverse")


def _typed() -> str:
    """The letter of one of the choices; "q" where nothing more is typed."""
    typed = ""
    while typed not in {*WORDS, "n", "b", "q"}:
        try:
            typed = input(ASK).strip().lower()[:1]
        except EOFError:
            return "q"
    return typed
