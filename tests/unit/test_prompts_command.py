"""`citewise prompts`: what is listed, shown and compared."""

from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from rag.cli import app
from rag.errors import SettingsError
from rag.prompting import load_prompt


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["prompts", *arguments])


OTHERS = ("brief", "cases", "confirm", "judge", "propose", "revise", "rows", "standalone")


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of the user's own with a second version of the answer prompt."""
    package, folder = load_prompt("answer", "v1"), tmp_path / "own" / "answer" / "v2"
    folder.mkdir(parents=True)
    (folder / "system.md").write_text(package.system + "\n- Be [brief].")
    (folder / "user.md").write_text(package.user)
    monkeypatch.setenv("CITEWISE_PROMPTS", str(tmp_path / "own"))
    return tmp_path / "own"


def test_list_names_versions_fingerprints_origins_and_which_are_in_use(own: Path) -> None:
    rows = [line.split(maxsplit=1) for line in run("list").stdout.splitlines()]
    assert [label.split("@")[0] for label, _ in rows] == ["answer/v1", "answer/v2", *(f"{n}/v1" for n in OTHERS)]
    assert rows[0] == [load_prompt("answer", "v1").label, "in use   citewise"]
    assert rows[1][1] == str(own)


def test_show_prints_a_prompt_as_it_is() -> None:
    for name in ("answer", "answer/v1"):
        shown = run("show", name).stdout
        prompt = load_prompt("answer", "v1")
        assert prompt.label in shown
        assert prompt.system in shown
        assert prompt.user in shown


def test_diff_prints_what_changes_and_nothing_for_the_same(own: Path) -> None:
    lines = run("diff", "answer/v1", "answer/v2").stdout.splitlines()
    assert lines[:2] == ["--- answer/v1/system.md", "+++ answer/v2/system.md"]
    assert [line for line in lines[2:] if line[0] in "+-"] == ["+- Be [brief]."]
    assert run("diff", "answer/v1", "answer/v1").stdout == ""


@pytest.mark.parametrize("name", ["nope", "answer/v9", "../answer", "answer/../answer"])
def test_an_unknown_prompt_is_an_error_that_lists_the_known_ones(name: str) -> None:
    error = run("show", name).exception
    assert isinstance(error, SettingsError)
    assert ", ".join(f"{each}/v1" for each in ("answer", *OTHERS)) in error.fix
