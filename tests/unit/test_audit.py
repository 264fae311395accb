"""The audit of the dependencies finds what must not be there."""

import runpy
import tomllib
from datetime import date, timedelta
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


def advisory(**fields: str) -> dict[str, str]:
    return {"id": "CVE-1", "package": "numpy", "affected": "<=2.0", **fields}


def test_a_known_vulnerability_is_found_unless_there_is_a_reason() -> None:
    lock = f"numpy==2.0{HASH}"
    vulnerable = AUDIT["vulnerable"]
    assert vulnerable(lock, [advisory()]) == ["numpy==2.0 is hit by CVE-1"]
    assert vulnerable(lock, [advisory(because="It is never called.")]) == []
    assert vulnerable(lock, [advisory(affected="<2.0")]) == []
    assert vulnerable(lock, [advisory(package="scipy")]) == []


def test_a_list_of_more_than_90_days_is_found_and_says_what_to_do() -> None:
    reviewed = tomllib.loads(AUDIT["ADVISORIES"].read_text("utf-8"))["reviewed"]
    assert AUDIT["outdated"](reviewed, today=reviewed + timedelta(days=90)) == []
    (told,) = AUDIT["outdated"](reviewed, today=reviewed + timedelta(days=91))
    assert "is 91 days old: run `python3 -m uv audit`" in told


def test_each_advisory_is_about_a_locked_version_and_has_a_date() -> None:
    """Others are to be deleted, so that the list stays true."""
    lock = AUDIT["LOCK"].read_text("utf-8")
    for told in tomllib.loads(AUDIT["ADVISORIES"].read_text("utf-8"))["advisory"]:
        assert isinstance(told["reviewed"], date)
        assert AUDIT["vulnerable"](lock, [told]) == []
        assert AUDIT["vulnerable"](lock, [{**told, "because": ""}]) != []
