"""`citewise prompts list|show|diff`: what is sent to a model, in which version, and what a version changes."""

from difflib import unified_diff
from typing import TYPE_CHECKING, Annotated

import typer

from rag.cli.screen import console, safe
from rag.errors import SettingsError

if TYPE_CHECKING:
    from rag.prompting import Prompt
    from rag.settings import Settings

prompts_app = typer.Typer(help="Look at the prompts.", no_args_is_help=True, add_completion=False)


@prompts_app.command("list")
def list_command() -> None:
    """List the prompts with their versions, fingerprints, where they come from, and which are in use."""
    from rag.prompting import IN_USE, is_own, load_prompt, prompt_versions
    from rag.settings import load_settings

    folder = load_settings().prompts
    for name, used in IN_USE.items():
        for version in prompt_versions(name, folder=folder):
            prompt = load_prompt(name, version, folder=folder)
            origin = str(folder) if is_own(name, version, folder=folder) else "citewise"
            console().print(f"{prompt.label:28} {'in use' if version == used else '':8} {safe(origin)}")


@prompts_app.command("show")
def show_command(
    name: Annotated[str, typer.Argument(help="NAME for the version in use, or NAME/VERSION.", metavar="NAME")],
) -> None:
    """Print a prompt's two texts."""
    from rag.settings import load_settings

    prompt = _find(name, settings=load_settings())
    console().print(f"{prompt.label}\n\n--- system.md\n{safe(prompt.system)}\n\n--- user.md\n{safe(prompt.user)}")


@prompts_app.command("diff")
def diff_command(
    old: Annotated[str, typer.Argument(help="NAME/VERSION.", metavar="OLD")],
    new: Annotated[str, typer.Argument(help="NAME/VERSION.", metavar="NEW")],
) -> None:
    """Print what changes from one version to another, as a unified diff; nothing where they are the same."""
    from rag.settings import load_settings

    settings = load_settings()
    one, other = _find(old, settings=settings), _find(new, settings=settings)
    for role in ("system", "user"):
        before, after = (getattr(prompt, role).splitlines() for prompt in (one, other))
        source, target = (f"{prompt.name}/{prompt.version}/{role}.md" for prompt in (one, other))
        for line in unified_diff(before, after, source, target, lineterm=""):
            console().print(safe(line))


def _find(name: str, *, settings: "Settings") -> "Prompt":
    """The prompt called NAME or NAME/VERSION. Raises SettingsError that lists what there is for an unknown one."""
    from rag.prompting import IN_USE, load_prompt, prompt_versions

    prompt, _, version = name.partition("/")
    version = version or IN_USE.get(prompt, "")
    if version not in prompt_versions(prompt, folder=settings.prompts):
        known = [f"{one}/{each}" for one in IN_USE for each in prompt_versions(one, folder=settings.prompts)]
        raise SettingsError(f"There is no prompt {name}.", fix=f"Known: {', '.join(known)}.")
    return load_prompt(prompt, version, folder=settings.prompts)
