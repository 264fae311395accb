"""Nobody but its owner can look into a home, whatever made it and whatever umask the user has."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from evals.running.call_cache import CallCache
from rag.cli import app
from rag.fetching.web import Web
from rag.private_folder import make_private
from tests.corpora import ingest, some_papers


@pytest.fixture(autouse=True)
def open_umask() -> Iterator[None]:
    umask = os.umask(0)
    yield
    os.umask(umask)


def assert_private(home: Path) -> None:
    """The home itself is closed, and so is each folder right below it."""
    for folder in [home, *(path for path in home.iterdir() if path.is_dir())]:
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700, folder


def test_after_an_ingest(home: Path) -> None:
    ingest(home, some_papers(range(3)))
    assert_private(home)
    assert [path for path in home.glob("corpora/**/*") if path.stat().st_mode & 0o077] == []


def test_after_a_fetch_and_a_run_of_evals(home: Path) -> None:
    with Web(home / "cache" / "fetched", pause=0.0), CallCache(home / "runs" / "calls.sqlite3"):
        assert_private(home)


def test_a_folder_that_is_there_keeps_its_mode(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    make_private(tmp_path / "a" / "b")
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (tmp_path, tmp_path / "a", tmp_path / "a" / "b")]
    assert modes == [0o755, 0o700, 0o700]


def test_a_file_in_its_place_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("")
    with pytest.raises(OSError, match="exists"):
        make_private(tmp_path / "a")


def test_doctor_finds_an_open_home(home: Path) -> None:
    ingest(home, some_papers(range(3)))
    home.chmod(0o755)
    output = CliRunner().invoke(app, ["doctor", "--corpus", "c", "--home", str(home)]).output
    assert "others may look into the home" in output.replace("\n", " ")
