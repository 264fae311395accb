"""Records of one work under several ids: which are found, which stays, and what a second ingest makes of them."""

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from rag.domain import Paper
from rag.ingest import IngestReport, ingest_papers, remove_papers
from rag.linking import Duplicates, links_of
from rag.near_duplicates import find_matches, same_work
from tests.builders import paper
from tests.corpora import held
from tests.fake_embedder import FakeEmbedder

WORDS = (
    "We study how memory traces that are moving averages of past observations help agents which act under partial "
    "observability and we prove that they need less data than windows of fixed length while the regret stays bounded"
)
PREPRINT = paper("2501.00001", abstract=f"{WORDS}.", venue=None, authors=("A. Lovelace", "A. Turing"))
PUBLISHED = paper("note1", abstract=f"{WORDS}. Code is available.", title="Memory {T}races")
OTHER = paper("note2", abstract="Graphs of proteins are drawn by equivariant networks. " * 4, title="Protein Graphs")


def edited(text: str, *, every: int) -> str:
    """`text` with one word in `every` replaced."""
    return " ".join(f"other{n}" if n % every == 0 else word for n, word in enumerate(text.split(), start=1))


def ingest(home: Path, papers: Iterable[Paper], duplicates: Duplicates = "merge") -> IngestReport:
    return ingest_papers(home, "c", papers, embedder=FakeEmbedder(), duplicates=duplicates)


@pytest.mark.parametrize(
    "other",
    [
        PUBLISHED,
        paper("a", abstract=edited(WORDS, every=20), title="MEMORY TRACES!", authors=("Ada Lovelace",)),
        paper("b", abstract=edited(WORDS, every=20), title="On Memory Traces in Agents"),
        paper("c", abstract=WORDS, title=""),
        paper("d", abstract=edited(WORDS, every=6), arxiv_id="2501.00001v3"),
        paper("e", abstract="Another text altogether.", metadata={"doi": "https://doi.org/10.1/x"}),
    ],
)
def test_one_work(other: Paper) -> None:
    one = replace(PREPRINT, metadata={"doi": "10.1/x"})
    assert same_work(one, other)
    assert same_work(other, one)


@pytest.mark.parametrize(
    "other",
    [
        OTHER,
        paper("f", abstract=edited(WORDS, every=2)),  # of one title, but not of one text
        paper("g", abstract=edited(WORDS, every=8), authors=("Emmy Noether", "David Hilbert")),
        paper("h", abstract=edited(WORDS, every=9), title="Memory Traces Challenge 2024"),
        paper("i", abstract=WORDS, title="Findings of Protein Folding", authors=("Ada Lovelace",)),
        paper("j", abstract=edited(WORDS, every=12), title=""),
        replace(OTHER, metadata={"doi": "10.1/x"}),  # a volume's DOI on each of its papers
    ],
)
def test_other_works(other: Paper) -> None:
    assert not same_work(replace(PREPRINT, metadata={"doi": "10.1/x"}), other)


def test_short_abstracts_are_not_compared() -> None:
    short = paper("s", abstract="We win.")
    assert not same_work(short, replace(short, paper_id="t"))


def test_papers_that_both_were_there_are_not_compared_again() -> None:
    papers = [PREPRINT, PUBLISHED, replace(PREPRINT, paper_id="2501.00001v2")]
    assert not list(find_matches(3, papers.__getitem__, is_new=[False] * 3))
    assert [(m.first, m.other) for m in find_matches(3, papers.__getitem__, is_new=[False, False, True])] == [(0, 2)]


def test_the_record_with_a_venue_stays_and_knows_the_other_id(home: Path) -> None:
    report = ingest(home, [PREPRINT, PUBLISHED, OTHER])
    assert (report.added, report.duplicates, report.total) == (2, 1, 3 - 1)
    assert list(held(home)) == ["note1", "note2"]
    assert list(links_of(held(home)["note1"])) == ["2501.00001"]
    (pair,) = report.near_duplicates
    assert (pair.kept, pair.other.paper_id) == ("note1", "2501.00001")
    (told,) = (home / "corpora" / "c" / "near-duplicates.jsonl").read_text().splitlines()
    assert json.loads(told)["record"]["abstract"] == PREPRINT.abstract


def test_the_same_again_changes_nothing(home: Path) -> None:
    first = ingest(home, [PREPRINT, PUBLISHED, OTHER])
    again = ingest(home, [PREPRINT, PUBLISHED, OTHER])
    assert (again.added, again.replaced, again.unchanged, again.duplicates) == (0, 0, 2, 1)
    assert again.generation == first.generation


def test_a_published_record_displaces_the_preprint_that_was_there(home: Path) -> None:
    ingest(home, [PREPRINT, OTHER])
    report = ingest(home, [PUBLISHED])
    assert (report.added, report.replaced, report.total) == (0, 1, 2)
    assert set(held(home)) == {"note1", "note2"}


def test_a_merged_record_whose_text_becomes_another_comes_back(home: Path) -> None:
    ingest(home, [PREPRINT, PUBLISHED])
    changed = replace(OTHER, paper_id="2501.00001")
    assert ingest(home, [changed]).added == 1
    assert held(home)["2501.00001"].abstract == OTHER.abstract


def test_links_go_with_their_record(home: Path) -> None:
    ingest(home, [PREPRINT, PUBLISHED, OTHER])
    remove_papers(home, "c", ["note1"], embedder=FakeEmbedder())
    assert ingest(home, [PREPRINT]).added == 1


@pytest.mark.parametrize(("duplicates", "pairs"), [("keep", 0), ("report", 1)])
def test_duplicates_can_be_kept(home: Path, duplicates: Duplicates, pairs: int) -> None:
    report = ingest(home, [PREPRINT, PUBLISHED], duplicates)
    assert (report.added, len(report.near_duplicates)) == (2, pairs)
    assert len(held(home)) == 2
