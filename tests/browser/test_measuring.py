"""`citewise eval page` in Chromium: the page is as light and silent as promised, and a wrong answer is noticed."""

import json
import subprocess
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser

from evals.page import asking
from evals.page.asking import ask_at_once
from evals.page.report import WEIGHT_KB
from tests.contract.test_cli import CITEWISE

pytestmark = pytest.mark.browser


def test_the_page_is_light_asks_no_other_host_and_answers_all(seed_home: Path) -> None:
    options = ("--loads", "1", "--questions", "3", "--readers", "3", "--json")
    done = subprocess.run(
        [*CITEWISE, "eval", "page", *options, "--home", str(seed_home)],
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert done.returncode == 0, done.stderr + done.stdout
    report = json.loads(done.stdout)
    assert report["failures"] == []
    (load,), (later,), (bare,) = report["loads"], report["later"], report["bare"]
    assert load["sent"] <= 1000 * WEIGHT_KB
    assert load["document"] < load["sent"] < load["decoded"]
    assert later["sent"] < load["sent"] / 5
    assert 0 < bare["requests"] < load["requests"]
    assert [asked["outcome"] for asked in report["asked"] + report["hasty"]] == 4 * ["Answer ready"]
    assert all(asked["cited"] > 0 for asked in report["asked"])
    assert len(report["together"]["seconds"]) == 3


def test_readers_at_once_notice_an_answer_that_is_not_theirs(
    browser: Browser, site: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = urlsplit(site).port
    assert port
    questions = ["What are memory traces?", "hostile: and what is this?", "Is it nowhere?"]
    own = ask_at_once(browser, port, questions)
    assert own.errors == ()
    assert len(own.seconds) == 3
    monkeypatch.setattr(asking, "_papers_by_api", lambda port, question: {"somebody-else"})
    (wrong,) = ask_at_once(browser, port, questions[:1]).errors
    assert "somebody-else" in wrong
