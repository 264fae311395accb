"""Secrets may stand in a file that nobody else reads; the environment comes first."""

import os
from pathlib import Path

import pytest

from rag.errors import SettingsError
from rag.settings import load_settings


def written(home: Path, text: str, mode: int = 0o600) -> Path:
    home.mkdir(exist_ok=True)
    path = home / "secrets.env"
    path.write_text(text)
    path.chmod(mode)
    return path


def value(home: Path, name: str) -> str | None:
    secret = getattr(load_settings(home=home), name)
    return secret.get_secret_value() if secret else None


def test_what_the_environment_does_not_hold_is_read(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(home, "# keys\n\nCITEWISE_API_KEY=from-file=1\nCITEWISE_AUTH = ada:correct horse\n")
    assert value(home, "api_key") == "from-file=1"
    assert value(home, "auth") == "ada:correct horse"
    assert value(home, "judge_api_key") is None
    monkeypatch.setenv("CITEWISE_API_KEY", "from-environment")
    assert value(home, "api_key") == "from-environment"


def test_without_a_file_nothing_changes(home: Path) -> None:
    assert value(home, "api_key") is None


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o644])
def test_a_file_that_others_may_touch_is_refused(home: Path, mode: int) -> None:
    path = written(home, "CITEWISE_API_KEY=hidden\n", mode)
    with pytest.raises(SettingsError, match=f"mode is {mode:04o}") as error:
        load_settings(home=home)
    assert error.value.fix == f"Run: chmod 600 {path}"
    assert "hidden" not in str(error.value)


@pytest.mark.skipif(os.getuid() != 0, reason="only root gives files away")
def test_a_file_of_another_user_is_refused(home: Path) -> None:
    os.chown(written(home, "CITEWISE_API_KEY=x\n"), 65534, -1)
    with pytest.raises(SettingsError, match="another user"):
        load_settings(home=home)


def test_a_link_a_folder_and_a_pipe_are_refused(home: Path) -> None:
    path = written(home, "CITEWISE_API_KEY=x\n")
    path.rename(home / "elsewhere")
    path.symlink_to(home / "elsewhere")
    with pytest.raises(SettingsError, match="cannot be read"):
        load_settings(home=home)
    path.unlink()
    os.mkfifo(path, 0o600)
    with pytest.raises(SettingsError, match="no regular file"):
        load_settings(home=home)
    path.unlink()
    path.mkdir(0o700)
    with pytest.raises(SettingsError, match="no regular file"):
        load_settings(home=home)


@pytest.mark.parametrize("line", ["secret-without-a-name", "CITEWISE_HOME=/tmp", "=x"])
def test_what_is_no_secret_is_refused_and_not_shown(home: Path, line: str) -> None:
    written(home, f"CITEWISE_API_KEY=hidden\n{line}\n")
    with pytest.raises(SettingsError, match="Line 2") as error:
        load_settings(home=home)
    assert "secret-without" not in str(error.value)
    assert "hidden" not in str(error.value)
