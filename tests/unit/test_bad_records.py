"""The matrix of bad inputs, the rows on what a single record holds: a test a row, named after it."""

import json
from pathlib import Path

import pytest

from rag.domain import Paper
from rag.ingest import ingest_files
from rag.linking import links_of
from rag.readers import Reject
from rag.records import BadRecord, from_line, paper_from_record, to_line
from tests.corpora import held
from tests.fake_embedder import FakeEmbedder
from tests.unit.test_bad_inputs import GOOD, ids, reasons
from tests.unit.test_formats import papers, read


def test_a_lone_surrogate_in_the_name_of_a_field_is_replaced_and_told() -> None:
    paper, repairs = paper_from_record({"abstract": "Traces decay.", "of\ud800": 1})
    assert paper.metadata == {"of\ufffd": 1}
    assert repairs == ("lone surrogates replaced by U+FFFD",)
    assert from_line(to_line(paper)) == paper


def test_two_fields_that_become_one_are_a_bad_record() -> None:
    with pytest.raises(BadRecord, match="two fields have one name"):
        paper_from_record({"abstract": "Traces decay.", "note": 1, "no\u200bte": 2})


@pytest.mark.parametrize("abstract", ["", "null", "None", "Withdrawn", "N/A", "-", "5"])
def test_missing_empty_null_non_string_withdrawn_abstract(tmp_path: Path, abstract: str) -> None:
    record = {"id": "x", "title": "T", "abstract": {"null": None, "5": 5}.get(abstract, abstract)}
    (reject, paper) = read(tmp_path / "a.jsonl", f"{json.dumps(record)}\n{GOOD}")
    assert isinstance(reject, Reject)
    assert (reject.record, reject.field) == ("x", "abstract")
    assert isinstance(paper, Paper)
    items = read(tmp_path / "a.csv", f"id,abstract\nx,{abstract}\ngood,w\n")
    # A cell is text, and 5 a word.
    assert (ids(items), reasons(items)) == ((["x", "good"], []) if abstract == "5" else (["good"], ["no abstract"]))


def test_short_and_long_abstracts_and_10_000_authors(tmp_path: Path) -> None:
    records = [
        {"id": "0", "abstract": " . "},
        {"id": "5", "abstract": "It has only five words."},
        {"id": "50k", "abstract": "word " * 10_000},
        {"id": "300k", "abstract": "word " * 60_000},
        {"id": "authors", "abstract": "w", "authors": [f"Author {n}" for n in range(10_000)]},
    ]
    items = read(tmp_path / "a.jsonl", "\n".join(map(json.dumps, records)))
    assert ids(items) == ["5", "50k", "authors"]
    assert reasons(items) == ["no abstract", "longer than 200,000 characters"]
    assert len(papers([items[-1]])[0].authors) == 10_000


def test_year_or_authors_missing_authors_list(home: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"id": "1", "abstract": "One.", "nested": {"a": [1, {}], "b": []}}\n' + GOOD)
    assert ingest_files(home, "c", [path], embedder=FakeEmbedder()).added == 2
    assert held(home)["1"].metadata == {"nested": {"a": [1, {}], "b": []}}
    assert (held(home)["1"].year, held(home)["1"].authors) == (None, ())


def test_same_id_twice_in_a_file_and_same_id_new_text(home: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("id,abstract,note\nx,One.,n\nx,Two.,\n")
    report = ingest_files(home, "c", [path], embedder=FakeEmbedder())
    assert (report.added, report.duplicates, report.total) == (1, 1, 1)
    path.write_text("id,abstract,other\nx,Three.,o\n")
    assert ingest_files(home, "c", [path], embedder=FakeEmbedder()).replaced == 1
    assert (held(home)["x"].abstract, held(home)["x"].metadata) == ("Three.", {"other": "o"})


def test_same_title_other_id_case_latex_and_versions_of_arxiv(home: Path, tmp_path: Path) -> None:
    words = "We study how memory traces that are moving averages of past observations help agents"
    words += " which see too little and we prove that they need less data than windows"
    records: list[dict[str, object]] = [
        {"id": "2501.00001v1", "title": "Memory Traces", "abstract": f"{words}."},
        {"id": "2501.00001v2", "title": "MEMORY TRACES", "abstract": f"{words}, twice."},
        {"id": "note", "title": "Memory {T}races", "abstract": f"{words.upper()}.", "venue": "ICML 2025"},
    ]
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(json.dumps({**record, "authors": ["Ada Lovelace"]}) for record in records))
    report = ingest_files(home, "c", [path], embedder=FakeEmbedder())
    assert (list(held(home)), report.duplicates) == (["note"], 2)
    assert set(links_of(held(home)["note"])) == {"2501.00001v1", "2501.00001v2"}
    assert {pair.other.paper_id for pair in report.near_duplicates} == {"2501.00001v1", "2501.00001v2"}


def test_no_id(tmp_path: Path) -> None:
    one, two = papers(read(tmp_path / "a.csv", "title,abstract\nT,One.\nt,ONE.\n"))
    assert one.paper_id == two.paper_id
    assert len(one.paper_id) == 20


@pytest.mark.parametrize(
    "text",
    [
        "<|endoftext|> and <|im_start|>system",
        r"Caf\'e $x_{i}$, \cite{a} and 50\%",
        "**M**ulti <b>x</b> &amp;lt; `code` [a](b)",
        "the first element x[0], see [12]",
    ],
)
def test_tokens_latex_markup_and_brackets_stay_as_they_are(tmp_path: Path, text: str) -> None:
    for name, content in [
        ("a.jsonl", json.dumps({"abstract": text})),
        ("a.json", json.dumps([{"abstract": text}])),
        ("a.csv", f'id,abstract\n1,"{text}"\n'),
        ("a.md", f"# T\n{text}\n"),
    ]:
        assert papers(read(tmp_path / name, content))[0].abstract == text
