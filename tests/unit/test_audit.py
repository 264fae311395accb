"""The audit of the dependencies finds what must not be there."""

import runpy
from pathlib import Path

import pytest

AUDIT = runpy.run_path(str(Path(__file__).resolve().parents[2] / ".ci" / "audit"))
HASH = " \\\n    --hash=sha256:00\n"


def test_the_lock_passes() -> None:
    assert AUDIT["problems"](AUDIT["LOCK"].read_text("utf-8")) == []


@pytest.mark.parametrize(
    ("lock", "problem"),
    [
        (f"numpy>=2{HASH}", "numpy is not pinned to one version"),
        ("numpy==2.0\n", "numpy has no hash"),
        (f"--index-url https://example.org\nnumpy==2.0{HASH}", "the lock names a host"),
    ],
)
def test_a_fault_is_found(lock: str, problem: str) -> None:
    assert problem in AUDIT["problems"](lock)


@pytest.mark.parametrize("told", ["GPL-3.0-only", "GNU Affero General Public License v3", ""])
def test_an_unwanted_licence_is_found(told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(AUDIT["problems"].__globals__, "licence", lambda name: told)
    assert "licence" in AUDIT["problems"](f"numpy==2.0{HASH}")[0]
