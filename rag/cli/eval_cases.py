"""`citewise eval schema` and `citewise eval lint`: the format of gold cases, and what is wrong with a file."""

import json
from pathlib import Path
from typing import Annotated

import typer

from rag.cli.screen import EXIT_FAILED, console, safe


def schema_command() -> None:
    """Print the JSON schema of a gold case: one line of a JSONL file."""
    from evals.cases.schema import json_schema

    print(json.dumps(json_schema(), indent=1))


def lint_command(
    file: Annotated[Path, typer.Argument(help="Gold cases, JSONL or CSV, or a folder of them.", exists=True)],
    strict: Annotated[bool, typer.Option("--strict", help="Fail for unknown fields too.")] = False,
) -> None:
    """Check gold cases; each fault names file, line and field. Exit code 1 if there is one."""
    from evals.cases.case import expand
    from evals.cases.files import read_items
    from evals.cases.suites import suite_files

    items, problems = read_items(*suite_files(file))
    for problem in problems:
        console().print(safe(str(problem)), style="red" if problem.is_error else "yellow")
    faults = sum(problem.is_error or strict for problem in problems)
    console().print(f"{len(items)} items, {len(expand(items))} cases, {faults} faults")
    raise typer.Exit(EXIT_FAILED if faults else 0)
