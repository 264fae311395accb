"""Fetching from servers that speak the interfaces of OpenReview, arXiv and PMLR."""

import os
import time
from collections.abc import Iterator
from email.utils import formatdate
from pathlib import Path

import pytest

from rag.domain import Paper
from rag.errors import FetchError
from rag.fetching import Fetching, fetch_papers, is_remote
from rag.fetching.web import Web
from rag.ingest import ingest_files
from rag.readers import ReadOptions, Reject
from tests.contract.paper_sites import FEED, Sites, entry, note, paper_sites
from tests.contract.test_cli import run
from tests.fake_embedder import FakeEmbedder

NO_PAUSE = {"openreview": 0.0, "arxiv": 0.0, "pmlr": 0.0}
BIBLIOGRAPHY = """@Proceedings{ICML-2025, booktitle = {Proceedings of ICML}, year = {2025}}
@InProceedings{pmlr-v267-cui25d,
  title = {An Augmentation-Aware Theory},
  author = {Cui, Jingyi and Wen, Hongwei},
  booktitle = {Proceedings of the 42nd International Conference on Machine Learning},
  year = {2025}, pdf = {https://example.org/cui25d.pdf}, url = {https://proceedings.mlr.press/v267/cui25d.html},
  abstract = {We bound the error by 50\\%.}
}
"""


@pytest.fixture
def sites() -> Iterator[Sites]:
    with paper_sites(
        notes=[note(number) for number in range(2300)],
        entries=[entry(number) for number in range(450)],
        bibliography=BIBLIOGRAPHY,
    ) as running:
        yield running


def fetching(sites: Sites, folder: Path, *, refresh: bool = False) -> Fetching:
    return Fetching(
        folder / "cache",
        openreview_url=sites.address,
        arxiv_url=sites.address,
        pmlr_url=f"{sites.address}/",
        refresh=refresh,
        pauses=NO_PAUSE,
    )


def fetch(source: str, given: Fetching) -> list[Paper | Reject]:
    return list(fetch_papers(source, fetching=given, options=ReadOptions()))


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """What was waited for, without waiting."""
    waited: list[float] = []
    monkeypatch.setattr("rag.fetching.web.sleep", lambda seconds: waited.append(seconds))
    return waited


def test_a_venue_is_read_page_by_page(sites: Sites, tmp_path: Path) -> None:
    told: list[tuple[int, int, str]] = []
    papers = list(
        fetch_papers(
            "openreview:ICML.cc/2025/Conference",
            fetching=fetching(sites, tmp_path),
            options=ReadOptions(),
            on_progress=lambda *step: told.append(step),
        )
    )
    assert [paper.paper_id for paper in papers if isinstance(paper, Paper)] == [f"note{n}" for n in range(2300)]
    first = papers[0]
    assert isinstance(first, Paper)
    assert (first.title, first.authors, first.abstract) == (
        "Title 0",
        ("Ada Lovelace", "Alan Turing"),
        "Abstract 0 says so.",
    )
    assert (first.venue, first.year) == ("ICML 2025 poster", 2025)
    assert first.url == "https://openreview.net/forum?id=note0"
    assert [query["offset"] for _, query in sites.requests] == ["0", "1000", "2000"]
    assert told == [(1000, 2300, "fetching"), (2000, 2300, "fetching"), (2300, 2300, "fetching")]


def test_arxiv_gives_ids_and_queries(sites: Sites, tmp_path: Path) -> None:
    given = fetching(sites, tmp_path)
    found = fetch("arxiv:cat:cs.LG AND ti:topic", given)
    assert len({paper.paper_id for paper in found if isinstance(paper, Paper)}) == 450
    assert [query["start"] for _, query in sites.requests] == ["0", "200", "400"]
    (paper,) = fetch("arxiv:2505.00007", given)
    assert isinstance(paper, Paper)
    assert (paper.paper_id, paper.arxiv_id, paper.url) == (
        "2505.00007",
        "2505.00007",
        "https://arxiv.org/abs/2505.00007",
    )
    assert (paper.title, paper.abstract) == ("On <topic> number 7", "We fold lines 7.\nAnd paragraphs.")
    assert (paper.authors, paper.categories, paper.year) == (("Ada Lovelace", "Alan Turing"), ("cs.LG",), 2025)


def test_a_volume_of_pmlr_is_its_bibliography(sites: Sites, tmp_path: Path) -> None:
    items = fetch("pmlr:v267", fetching(sites, tmp_path))
    assert [item.record for item in items if isinstance(item, Reject)] == ["ICML-2025"]
    (paper,) = (item for item in items if isinstance(item, Paper))
    assert (paper.paper_id, paper.authors) == ("pmlr-v267-cui25d", ("Jingyi Cui", "Hongwei Wen"))
    assert (paper.abstract, paper.year) == ("We bound the error by 50%.", 2025)


def test_what_came_before_a_fault_is_not_asked_for_again(sites: Sites, tmp_path: Path, waits: list[float]) -> None:
    given = fetching(sites, tmp_path)
    items = fetch_papers("openreview:ICML.cc/2025/Conference", fetching=given, options=ReadOptions())
    for _ in range(1000):
        next(items)
    sites.fail_next[:] = [(500, {})] * 5
    with pytest.raises(FetchError, match="did not answer 5 times"):
        next(items)
    assert [wait for wait in waits if wait] == [2.0, 4.0, 8.0, 16.0]
    sites.requests.clear()
    assert len(fetch("openreview:ICML.cc/2025/Conference", given)) == 2300
    assert [query["offset"] for _, query in sites.requests] == ["1000", "2000"]


def test_what_is_kept_is_fetched_anew_on_request_and_after_a_day(sites: Sites, tmp_path: Path) -> None:
    fetch("pmlr:v267", fetching(sites, tmp_path))
    fetch("pmlr:v267", fetching(sites, tmp_path))
    assert len(sites.requests) == 1
    fetch("pmlr:v267", fetching(sites, tmp_path, refresh=True))
    assert len(sites.requests) == 2
    (kept,) = (tmp_path / "cache").iterdir()
    os.utime(kept, (0, time.time() - 25 * 3600))
    fetch("pmlr:v267", fetching(sites, tmp_path))
    assert len(sites.requests) == 3


@pytest.mark.parametrize("asked", ["7", "date"])
def test_it_waits_for_as_long_as_it_is_asked_to(sites: Sites, tmp_path: Path, waits: list[float], asked: str) -> None:
    value = formatdate(time.time() + 7.9, usegmt=True) if asked == "date" else asked
    sites.fail_next.append((429, {"Retry-After": value}))
    fetch("pmlr:v267", fetching(sites, tmp_path))
    (wait,) = (wait for wait in waits if wait)
    assert 6 <= wait <= 8
    assert len(sites.requests) == 2


def test_it_does_not_wait_for_an_hour(sites: Sites, tmp_path: Path, waits: list[float]) -> None:
    sites.fail_next.append((429, {"Retry-After": "3600"}))
    with pytest.raises(FetchError, match=r"answered 429 and asks to wait 3,600 s"):
        fetch("pmlr:v267", fetching(sites, tmp_path))
    assert not any(waits)


def test_requests_are_paced(sites: Sites, tmp_path: Path) -> None:
    waited: list[float] = []
    with Web(tmp_path / "cache", pause=3.0, wait=waited.append) as web:
        for start in ("0", "200"):
            web.get(f"{sites.address}/query", query={"search_query": "x", "start": start, "max_results": "1"})
    assert waited[0] == 0
    assert 2.5 < waited[1] <= 3.0


def test_an_empty_page_of_arxiv_is_asked_for_again(
    sites: Sites, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = sites.answer
    bodies = [b"".join((answer("/query", {"start": "999", "max_results": "1"}) or b"",))]
    monkeypatch.setattr(sites, "answer", lambda path, query: bodies.pop() if bodies else answer(path, query))
    assert len(fetch("arxiv:cat:cs.LG", fetching(sites, tmp_path))) == 450


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("openreview:ICML", "no id of a venue"),
        ("openreview:ICML.cc/1900/Conference", "has no papers"),
        ("arxiv:9999.99999", "no paper that fits"),
        ("pmlr:267", "no volume"),
        ("pmlr:v999", "answered 404"),
    ],
)
def test_what_is_not_there_is_an_error(sites: Sites, tmp_path: Path, source: str, problem: str) -> None:
    with pytest.raises(FetchError, match=problem):
        fetch(source, fetching(sites, tmp_path))


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>busy</html>",
        b"{",
        b'{"notes": 5}',
        b"[" * 100_000,
        b"\xff\xfe<\x00!\x00D\x00",
        b'<!DOCTYPE x [<!ENTITY a "b">]><feed>&a;</feed>',
        b"<feed><totalResults>1</totalResults></feed>",
    ],
)
@pytest.mark.parametrize("source", ["openreview:ICML.cc/2025/Conference", "arxiv:cat:cs.LG"])
def test_what_is_not_understood_is_an_error(sites: Sites, tmp_path: Path, body: bytes, source: str) -> None:
    sites.instead = body
    with pytest.raises(FetchError):
        fetch(source, fetching(sites, tmp_path))


def test_a_refused_query_says_why(sites: Sites, tmp_path: Path) -> None:
    error = "<entry><id>http://arxiv.org/api/errors#x</id><summary>incorrect id format</summary></entry>"
    sites.instead = FEED.format(total=1, entries=error).encode()
    with pytest.raises(FetchError, match="refused the query: incorrect id format"):
        fetch("arxiv:2505.00001", fetching(sites, tmp_path))


def test_a_page_that_never_ends_is_an_error(sites: Sites, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag.fetching.web.MAX_BYTES", 100)
    with pytest.raises(FetchError, match="more than 100 bytes"):
        fetch("pmlr:v267", fetching(sites, tmp_path))


def test_an_unreachable_site_is_an_error(tmp_path: Path, waits: list[float]) -> None:
    given = Fetching(tmp_path / "cache", pmlr_url="http://127.0.0.1:9", pauses=NO_PAUSE)
    with pytest.raises(FetchError, match=r"127\.0\.0\.1:9 did not answer"):
        fetch("pmlr:v267", given)


def test_bad_records_of_a_page_are_rejected_one_by_one(sites: Sites, tmp_path: Path) -> None:
    withdrawn = note(1)
    withdrawn["content"]["venueid"]["value"] = "ICML.cc/2025/Conference"
    withdrawn["ddate"] = 1
    bare = note(2)
    del bare["content"]["abstract"]
    sites.notes[:] = [note(0), withdrawn, bare, 7]
    items = fetch("openreview:ICML.cc/2025/Conference", fetching(sites, tmp_path))
    assert [(item.line, item.field) for item in items if isinstance(item, Reject)] == [
        (2, "ddate"),
        (3, "abstract"),
        (4, None),
    ]


def test_a_fetched_source_is_ingested_and_a_second_time_changes_nothing(sites: Sites, tmp_path: Path) -> None:
    for added, unchanged in ((450, 0), (0, 450)):
        report = ingest_files(
            tmp_path / "home",
            "c",
            ["arxiv:cat:cs.LG"],
            embedder=FakeEmbedder(),
            fetching=fetching(sites, tmp_path),
            duplicates="keep",
        )
        assert (report.added, report.unchanged) == (added, unchanged)


def test_the_command_fetches_from_where_the_settings_say(sites: Sites, tmp_path: Path) -> None:
    process = run("ingest", "pmlr:v267", "--corpus", "p", home=tmp_path / "home", CITEWISE_PMLR_URL=sites.address)
    assert process.returncode == 0, process.stderr
    assert "p: 1 papers (1 added" in process.stdout


def test_only_sources_with_a_known_scheme_are_remote() -> None:
    assert [is_remote(source) for source in ("arxiv:x", "pmlr:v1", "openreview:a/b", "a.jsonl", "c:x", "-")] == [
        *[True] * 3,
        *[False] * 3,
    ]
