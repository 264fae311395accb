"""The real page under a short load: no error, nobody else's answer, a full queue that says so, and an orderly end."""

from pathlib import Path

import pytest

from evals.load.run import Plan, run_load
from evals.load.server import LoadError
from evals.perf.queries import derive_queries
from rag.embedding import MiniLMEmbedder
from rag.ingest import ensure_corpus
from rag.recovery import DEFAULT_CORPUS


@pytest.mark.slow
def test_twelve_sessions_with_a_scripted_endpoint(home: Path) -> None:
    corpus = ensure_corpus(home, DEFAULT_CORPUS, embedder=MiniLMEmbedder())
    questions = derive_queries(corpus, limit=len(corpus))
    corpus.close()
    plan = Plan(sessions=12, seconds=3.0, endpoint_seconds=0.5, flood=90, dying=8, ingest=True)
    report = run_load(plan, home=home, corpus=DEFAULT_CORPUS, papers=19, questions=questions)
    assert report.beside_ingest is not None
    for tally in (report.tally, report.beside_ingest, report.flood):
        assert (dict(tally.errors), tally.strangers) == ({}, 0)
        assert tally.seconds
    assert len(report.flood.seconds) + sum(report.flood.refused.values()) == 90
    assert report.flood.refused
    assert all("full" in told.lower() for told in report.flood.refused)
    assert report.exit_code is not None
    assert report.end_seconds < 10
    assert report.left_open == 0
    assert len(report.ending.seconds) + sum(report.ending.errors.values()) == 8


def test_a_page_that_does_not_start_is_an_error(home: Path) -> None:
    (home / "corpora" / "c").mkdir(parents=True)
    with pytest.raises(LoadError, match="did not start"):
        run_load(Plan(sessions=1, seconds=1.0), home=home, corpus="c", papers=0, questions=["x"])
