"""Records of other sources: what of each becomes which field, and what is no paper."""

import json
from pathlib import Path
from typing import Any

import pytest

from rag.domain import Paper
from rag.readers import Reject, read_papers


def read(tmp_path: Path, record: dict[str, Any]) -> Paper | Reject:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(record))
    (item,) = read_papers(path)
    return item


def paper(tmp_path: Path, record: dict[str, Any]) -> Paper:
    item = read(tmp_path, record)
    assert isinstance(item, Paper), item
    return item


def test_the_arxiv_snapshot(tmp_path: Path) -> None:
    record = {
        "id": "0704.0001",
        "submitter": "Pavel Nadolsky",
        "authors": "C. Bal\\'azs, E. L. Berger",
        "title": "Calculation of prompt diphoton production\n  cross sections",
        "comments": "37 pages",
        "journal-ref": None,
        "doi": "10.1103/PhysRevD.76.013009",
        "categories": "hep-ph cs.LG",
        "abstract": "  A fully differential calculation\nin perturbative QCD.\n  A second paragraph.\n",
        "versions": [{"version": "v1", "created": "Mon, 2 Apr 2007 19:18:42 GMT"}, {"version": "v2", "created": "x"}],
        "update_date": "2008-11-26",
        "authors_parsed": [["Balázs", "C.", ""], ["Berger", "E. L.", "Jr"]],
    }
    assert paper(tmp_path, record) == Paper(
        paper_id="0704.0001",
        title="Calculation of prompt diphoton production cross sections",
        authors=("C. Balázs", "E. L. Berger Jr"),
        abstract="A fully differential calculation in perturbative QCD.\nA second paragraph.",
        url="https://arxiv.org/abs/0704.0001",
        year=2007,
        arxiv_id="0704.0001",
        categories=("hep-ph", "cs.LG"),
        metadata={
            "submitter": "Pavel Nadolsky",
            "comments": "37 pages",
            "doi": "10.1103/PhysRevD.76.013009",
            "update_date": "2008-11-26",
        },
    )


@pytest.mark.parametrize("with_value", [True, False])
def test_openreview_notes_of_both_versions(tmp_path: Path, with_value: bool) -> None:
    content = {
        "title": "Frogs",
        "authors": ["Ada Lovelace", "Alan Turing"],
        "abstract": "Frogs climb.",
        "venue": "ICML 2025 poster",
        "venueid": "ICML.cc/2025/Conference",
        "keywords": ["frogs"],
        "TLDR": "",
    }
    fields = {key: {"value": value} for key, value in content.items()} if with_value else content
    found = paper(tmp_path, {"id": "n1", "forum": "n1", "invitations": ["x"], "content": fields, "cdate": 1})
    assert found == Paper(
        paper_id="n1",
        title="Frogs",
        authors=("Ada Lovelace", "Alan Turing"),
        abstract="Frogs climb.",
        url="https://openreview.net/forum?id=n1",
        year=2025,
        venue="ICML 2025 poster",
        metadata={"keywords": ["frogs"], "venueid": "ICML.cc/2025/Conference"},
    )


@pytest.mark.parametrize("state", ["Withdrawn", "Rejected", "Desk_Rejected"])
def test_submissions_that_are_no_papers_of_the_venue_are_rejected(tmp_path: Path, state: str) -> None:
    content = {
        "title": {"value": "T"},
        "abstract": {"value": "w"},
        "venueid": {"value": f"A/2025/B/{state}_Submission"},
    }
    item = read(tmp_path, {"id": "n1", "forum": "n1", "content": content})
    assert isinstance(item, Reject)
    assert (item.record, item.field) == ("n1", "venueid")
    assert state.replace("_", " ").lower() in item.reason


def test_semantic_scholar(tmp_path: Path) -> None:
    record = {
        "paperId": "649def34",
        "corpusId": 5,
        "externalIds": {"ArXiv": "2505.1", "DOI": "10.1/x"},
        "url": "https://www.semanticscholar.org/paper/649def34",
        "title": "Frogs",
        "abstract": "Frogs climb.",
        "venue": "ICML",
        "year": 2025,
        "authors": [{"authorId": "1", "name": "Ada Lovelace"}, {"authorId": None, "name": "Alan Turing"}],
        "tldr": None,
    }
    found = paper(tmp_path, record)
    assert (found.paper_id, found.arxiv_id, found.authors) == ("649def34", "2505.1", ("Ada Lovelace", "Alan Turing"))
    assert (found.year, found.venue, found.metadata) == (2025, "ICML", {"corpusId": 5, "doi": "10.1/x"})
    item = read(tmp_path, {**record, "abstract": None})
    assert isinstance(item, Reject)
    assert (item.field, item.reason) == ("abstract", "no abstract")
    assert paper(tmp_path, {"corpusid": 5, "title": "T", "abstract": "w"}).paper_id == "CorpusId:5"


def test_openalex_abstracts_are_put_together(tmp_path: Path) -> None:
    record = {
        "id": "https://openalex.org/W123",
        "doi": "https://doi.org/10.1/abc",
        "display_name": "Frogs",
        "publication_year": 2025,
        "authorships": [{"author": {"display_name": "Ada Lovelace"}}, {"author": {"display_name": None}}],
        "primary_location": {"landing_page_url": "https://x.org/1", "source": {"display_name": "ICML"}},
        "abstract_inverted_index": {"climb.": [2], "Frogs": [0], "and": [3], "always": [1, 4]},
    }
    found = paper(tmp_path, record)
    assert (found.paper_id, found.title, found.abstract) == ("W123", "Frogs", "Frogs always climb. and always")
    assert (found.authors, found.year, found.venue) == (("Ada Lovelace",), 2025, "ICML")
    assert (found.url, found.metadata["doi"]) == ("https://x.org/1", "10.1/abc")


@pytest.mark.parametrize(
    ("index", "reason"),
    [
        ({"a": list(range(60_000))}, "more than 50,000 words"),
        ({"a": ["x"]}, "whole numbers"),
        ({"a": 1}, "lists of positions"),
        ([1], "lists of positions"),
        (None, "no abstract"),
    ],
)
def test_an_abstract_that_cannot_be_put_together_is_rejected(tmp_path: Path, index: object, reason: str) -> None:
    item = read(tmp_path, {"id": "https://openalex.org/W1", "title": "T", "abstract_inverted_index": index})
    assert isinstance(item, Reject)
    assert reason in item.reason


def test_a_position_beyond_all_others_costs_no_memory(tmp_path: Path) -> None:
    index = {"Frogs": [0], "climb": [10**15]}
    assert paper(tmp_path, {"abstract_inverted_index": index, "title": "T"}).abstract == "Frogs climb"


def test_paper_lists(tmp_path: Path) -> None:
    record = {
        "id": "2XAAdvSlP2",
        "title": "Frogs",
        "track": "main",
        "status": "Poster",
        "tldr": "",
        "abstract": "Frogs climb.",
        "author": "Ada Lovelace;Alan Turing",
        "site": "https://openreview.net/forum?id=2XAAdvSlP2",
    }
    found = paper(tmp_path, record)
    assert (found.authors, found.url) == (("Ada Lovelace", "Alan Turing"), record["site"])
    assert (found.year, found.venue, found.metadata) == (None, None, {"track": "main", "status": "Poster"})
    item = read(tmp_path, {**record, "status": "Withdraw"})
    assert isinstance(item, Reject)
    assert item.field == "status"


def test_records_of_ones_own_are_left_alone(tmp_path: Path) -> None:
    record = {"id": "1", "abstract": "w", "content": {"note": "mine"}, "status": "read", "author": "me"}
    assert paper(tmp_path, record).metadata == {"content": {"note": "mine"}, "status": "read", "author": "me"}
