"""`citewise model list|pull`: the models that `--writer local` can run."""

from typing import TYPE_CHECKING, Annotated

import typer

from rag.cli.screen import HomeOption, console, safe

if TYPE_CHECKING:
    from rag.local.machine import Machine

model_app = typer.Typer(
    help="Models that citewise runs itself (--writer local).", no_args_is_help=True, add_completion=False
)


@model_app.command("list")
def list_command(home: HomeOption = None) -> None:
    """List the models that are here, those that can be fetched by name, and what this machine can run."""
    from rag.local.catalog import KNOWN_MODELS
    from rag.local.files import list_models, models_folder
    from rag.local.machine import GB, this_machine
    from rag.settings import load_settings

    settings, machine, out = load_settings(home=home), this_machine(), console()
    memory = f"{machine.memory / GB:.1f} GB of memory" if machine.memory else "memory unknown"
    out.print(f"This machine: {machine.cores} cores, {memory}.\n")
    here = list_models(settings.home)
    out.print(f"Here ({safe(str(models_folder(settings.home)))}):" if here else "No model is here yet.")
    for model in here:
        out.print(_line(safe(model.name), model.size, "weak: a demonstration" if model.is_weak else "", machine))
    files = {model.path.name.lower() for model in here}
    out.print("\nTo fetch (citewise model pull NAME):")
    for known in KNOWN_MODELS:
        if known.file.lower() not in files:
            out.print(_line(known.name, known.size, known.terms, machine))
    out.print("\nUse one: citewise ask --writer local --model NAME, or CITEWISE_WRITER=local CITEWISE_MODEL_FILE=NAME")


def _line(name: str, size: int, remark: str, machine: "Machine") -> str:
    from rag.local.machine import GB, memory_needed

    fits = f"about {machine.seconds_per_answer(size):.0f} s an answer" if machine.can_run(size) else "too large"
    needs = f"needs {memory_needed(size) / GB:.1f} GB"
    return f"  {name:36} {size / GB:5.2f} GB  {needs:13}  {fits:25} {remark}".rstrip()


@model_app.command("pull")
def pull_command(
    wish: Annotated[str, typer.Argument(help="A name of `citewise model list`, or REPO:FILE.gguf.", metavar="NAME")],
    home: HomeOption = None,
) -> None:
    """Fetch a model file from the Hugging Face hub (HF_ENDPOINT: a mirror); goes on where it broke off."""
    from rag.local.files import models_folder
    from rag.local.machine import GB, memory_needed, this_machine
    from rag.local.pull import pull, read_wish
    from rag.settings import load_settings

    wanted, err = read_wish(wish), console(stderr=True)
    err.print(f"Fetching {wanted.file} of {wanted.repo}.")
    path = pull(wanted, folder=models_folder(load_settings(home=home).home))
    size, machine = path.stat().st_size, this_machine()
    if not machine.can_run(size):
        needs = memory_needed(size) / GB
        err.print(f"Note: it needs about {needs:.1f} GB of memory, which this machine does not have.", style="yellow")
    console().print(f"{safe(str(path))}: {size / GB:.2f} GB, SHA-256 checked.")
    err.print(f"Use it: citewise chat --writer local --model {safe(path.stem)}")
