"""Formats: what each reader makes of a file of its kind, and how formats are told apart."""

import bz2
import csv
import datetime
import gzip
import io
import json
import lzma
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rag.domain import Paper
from rag.errors import InputError
from rag.readers import ReadOptions, Reject, read_papers

ADA: dict[str, Any] = {
    "id": "a1",
    "title": "Frogs & Toads",
    "authors": ["Ada Lovelace", "Alan Turing"],
    "abstract": "Frogs climb.\nThey use 50% of their toes.",
    "url": "https://example.org/a1",
    "year": 2025,
    "venue": "ICML 2025",
}


def read(path: Path, content: str | bytes, **options: Any) -> list[Paper | Reject]:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return list(read_papers(path, options=ReadOptions(**options)))


def papers(items: list[Paper | Reject]) -> list[Paper]:
    assert not [item for item in items if isinstance(item, Reject)], items
    return [item for item in items if isinstance(item, Paper)]


def facts(paper: Paper) -> tuple[object, ...]:
    return paper.paper_id, paper.title, paper.authors, paper.abstract, paper.url, paper.year, paper.venue


EXPECTED = ("a1", "Frogs & Toads", ("Ada Lovelace", "Alan Turing"), ADA["abstract"], ADA["url"], 2025, "ICML 2025")


def csv_text(delimiter: str, records: Sequence[Mapping[str, Any]] = (ADA,)) -> str:
    """The records as a table, the names of its columns with capitals."""
    out = io.StringIO()
    writer = csv.DictWriter(out, [name.capitalize() for name in records[0]], delimiter=delimiter)
    writer.writeheader()
    for record in records:
        cells = {key: "; ".join(value) if isinstance(value, list) else value for key, value in record.items()}
        writer.writerow({name.capitalize(): value for name, value in cells.items()})
    return out.getvalue()


def parquet_bytes() -> bytes:
    """The record as a Parquet file, with columns of a number that is none and of nothing."""
    out = io.BytesIO()
    pq.write_table(pa.Table.from_pylist([{**ADA, "score": float("nan"), "day": None}]), out)
    return out.getvalue()


BIBTEX = r"""% Encoding: UTF-8
@comment{not an entry}
@string{icml = "ICML"}

@inproceedings{a1,
  title = {{Frogs} \& {T}oads},
  author = "Lovelace, Ada and Turing, Alan",
  booktitle = icml # " 2025",
  year = 2025,
  abstract = {Frogs climb.
They use 50\% of their toes.},
  url = {https://example.org/a1}
}
"""

RIS = """TY  - CPAPER
ID  - a1
TI  - Frogs & Toads
AU  - Ada Lovelace
AU  - Alan Turing
T2  - ICML 2025
PY  - 2025/07/13/
AB  - Frogs climb.
UR  - https://example.org/a1
ER  - 
"""  # noqa: W291


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", json.dumps(ADA)),
        ("a.json", json.dumps([ADA])),
        ("a.json", json.dumps([ADA], indent=2)),
        ("a.json", json.dumps(ADA, indent=2)),
        ("a.json", json.dumps({"count": 1, "notes": [ADA]})),
        ("a.json", json.dumps({"meta": {"count": 1, "x": [1]}, "results": [ADA]}, indent=1)),
        ("a", json.dumps({"total": 1, "offset": 0, "data": [ADA], "next": {"data": [{"id": 1}]}})),
        ("a.csv", csv_text(",")),
        ("a.csv", csv_text(";")),
        ("a.tsv", csv_text("\t")),
        ("a.txt", csv_text(",")),
        ("a.csv", csv_text(",").encode("utf-16")),
        ("a.parquet", parquet_bytes()),
        ("a", parquet_bytes()),
        ("a.bib", BIBTEX),
        ("a.txt", BIBTEX),
        ("a.jsonl.gz", gzip.compress(json.dumps(ADA).encode())),
        ("a.bz2", bz2.compress(json.dumps([ADA]).encode())),
        ("a.csv.xz", lzma.compress(csv_text(",").encode())),
    ],
)
def test_a_paper_is_the_same_in_every_format(tmp_path: Path, name: str, content: str | bytes) -> None:
    (paper,) = papers(read(tmp_path / name, content))
    assert facts(paper) == EXPECTED


def test_ris_folds_its_lines_and_gives_the_same_paper(tmp_path: Path) -> None:
    first, second = papers(read(tmp_path / "a.ris", RIS + RIS.replace("a1", "b2").replace("AB  - ", "N2  - ")))
    assert facts(first) == (*EXPECTED[:3], "Frogs climb.", *EXPECTED[4:])
    assert (second.paper_id, second.abstract) == ("b2", "Frogs climb.")


def test_a_folded_line_of_ris_may_begin_like_an_end_tag(tmp_path: Path) -> None:
    content = "TY  - J\nID  - x\nAB  - We minimise\nERM  and more.\nER  - \n"
    assert "ERM  and more." in papers(read(tmp_path / "a.ris", content))[0].abstract


def test_xz_in_several_streams_is_read_to_the_end(tmp_path: Path) -> None:
    lines = [json.dumps({**ADA, "id": str(number)}).encode() + b"\n" for number in range(2)]
    items = papers(read(tmp_path / "a.jsonl.xz", b"".join(map(lzma.compress, lines))))
    assert [paper.paper_id for paper in items] == ["0", "1"]


def test_markdown_has_a_paper_a_heading(tmp_path: Path) -> None:
    content = "# My papers\n\n## Frogs ##\n\nFrogs climb.\n\nThey do.\n### Toads\nToads sit.\n"
    assert [(paper.title, paper.abstract) for paper in papers(read(tmp_path / "a.md", content))] == [
        ("Frogs", "Frogs climb.\n\nThey do."),
        ("Toads", "Toads sit."),
    ]


def test_markdown_without_headings_is_paragraphs(tmp_path: Path) -> None:
    items = papers(read(tmp_path / "a.md", "One *abstract*.\n\nAnother,\ngoing on.\n"))
    assert [paper.abstract for paper in items] == ["One *abstract*.", "Another,\ngoing on."]


def test_front_matter_is_reported_and_not_taken_for_an_abstract(tmp_path: Path) -> None:
    reject, paper = read(tmp_path / "a.md", "---\ntitle: x\n---\n# Frogs\nFrogs climb.\n")
    assert isinstance(reject, Reject)
    assert "front matter" in reject.reason
    assert isinstance(paper, Paper)
    assert paper.title == "Frogs"


def test_bibtex_accents_become_letters_and_math_and_macros_stay(tmp_path: Path) -> None:
    entry = (
        r"@misc{k, author={L{\"o}we, Jr., Zo{\'e} and Erd{\H{o}}s, P. and {\O}rsted, H. and The {ACL} Team},"
        r" title={On $x_{i}^{2}$ and \emph{Na{\"\i}ve {B}ayes} for {SITA}lign}, eprint={2505.1},"
        r" archiveprefix={arXiv}, abstract={A \cite{x} of 5\% \LaTeX{} and \OurName{} with $\{a\}$.}, month=jan}"
    )
    (paper,) = papers(read(tmp_path / "a.bib", entry))
    assert paper.authors == ("Zoé Löwe Jr.", "P. Erdős", "H. Ørsted", "The ACL Team")
    assert paper.title == r"On $x_{i}^{2}$ and \emph{Naïve Bayes} for SITAlign"
    assert paper.abstract == r"A \cite{x} of 5% \LaTeX{} and \OurName{} with $\{a\}$."
    assert paper.arxiv_id == "2505.1"


def test_a_broken_bibtex_entry_costs_itself_alone(tmp_path: Path) -> None:
    content = (
        "@misc{a, abstract={One.}}\n@misc{b, abstract={Two.\n@misc{c, abstract={Three.}} @misc{d, abstract={Four.}}\n"
    )
    items = read(tmp_path / "a.bib", content)
    assert [item.paper_id if isinstance(item, Paper) else item.line for item in items] == ["a", 2, "c", "d"]


def test_a_json_array_loses_only_its_broken_records(tmp_path: Path) -> None:
    content = (
        '[{"id": "1", "abstract": "w"},\n {"id": "2", "abstract": broken},\n 7, "text", null, [1],\n'
        ' {"id": "3", "abstract": "a } ] , { [ \\" b"},\n {"id": "4", "abstract": "open\n },\n'
        ' {"id": "5", "abstract": "w"}]'
    )
    items = read(tmp_path / "a.json", content)
    assert [item.paper_id for item in items if isinstance(item, Paper)] == ["1", "3", "5"]
    rejects = [(item.line, item.reason[:12]) for item in items if isinstance(item, Reject)]
    assert rejects == [(2, "broken JSON "), *[(3, "not a JSON o")] * 4, (5, "broken JSON ")]


def test_a_cut_json_document_says_so(tmp_path: Path) -> None:
    for cut in ('[{"id": "1", "abstract": "w"}', '[{"id": "1", "abstract": "w"}, {"id": "2", "abs'):
        paper, reject = read(tmp_path / "a.json", cut)
        assert isinstance(paper, Paper)
        assert isinstance(reject, Reject)
        assert "the file ends" in reject.reason


def test_a_row_that_does_not_fit_or_does_not_end_costs_itself_alone(tmp_path: Path) -> None:
    content = 'id,abstract\n1,"One, a"\n2,Two,more\n3\n4,"no end\n5,Five\n6,"Six\nlines"\n,Seven\n'
    items = read(tmp_path / "a.csv", content)
    found = [item.abstract if isinstance(item, Paper) else (item.line, item.reason[:10]) for item in items]
    assert found == ["One, a", (3, "3 cells, a"), (4, "1 cells, a"), (5, "broken row"), "Five", "Six\nlines", "Seven"]


@pytest.mark.parametrize(
    ("header", "problem"),
    [
        ("id,text\n1,x\n", "no column abstract; it has: id, text"),
        ("abstract,Abstract\n1,x\n", "two columns 'abstract'"),
    ],
)
def test_a_header_without_abstracts_is_an_error(tmp_path: Path, header: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        read(tmp_path / "a.csv", header)


def test_a_mapping_names_columns_and_nested_fields(tmp_path: Path) -> None:
    (paper,) = papers(
        read(tmp_path / "a.csv", "Paper,Summary\nT,Words.\n", mapping={"title": "Paper", "abstract": "Summary"})
    )
    assert (paper.title, paper.abstract, paper.metadata) == ("T", "Words.", {})
    nested = json.dumps({"id": 1, "meta": {"text": "Words."}})
    (paper,) = papers(read(tmp_path / "a.jsonl", nested, mapping={"abstract": "meta.text"}))
    assert (paper.abstract, paper.metadata) == ("Words.", {"meta": {"text": "Words."}})
    with pytest.raises(InputError, match="no column 'Nix'; it has: abstract, x"):
        read(tmp_path / "a.csv", "abstract,x\nw,w\n", mapping={"title": "Nix"})


def test_constants_are_for_records_that_do_not_say(tmp_path: Path) -> None:
    lines = '{"abstract": "One."}\n{"abstract": "Two.", "year": 2020}\n{"abstract": "Three.", "year": null}'
    items = papers(read(tmp_path / "a.jsonl", lines, constants={"year": "2025", "venue": "ICML"}))
    assert [(paper.year, paper.venue) for paper in items] == [(2025, "ICML"), (2020, "ICML"), (2025, "ICML")]


def test_a_format_can_be_forced(tmp_path: Path) -> None:
    (paper,) = papers(read(tmp_path / "a.log", "A line of text.", format="text"))
    assert paper.abstract == "A line of text."
    items = read(tmp_path / "a.txt", "not json", format="jsonl")
    assert [item.reason[:11] for item in items if isinstance(item, Reject)] == ["broken JSON"]


def test_lines_that_end_in_carriage_returns_alone_are_lines(tmp_path: Path) -> None:
    items = papers(read(tmp_path / "a.csv", "id,abstract\r1,One.\r2,Two.\r"))
    assert [paper.abstract for paper in items] == ["One.", "Two."]


def test_bad_bytes_are_replaced_on_request(tmp_path: Path) -> None:
    for name, content in [
        ("a.jsonl", b'{"abstract": "caf\xe9"}'),
        ("a.json", b'[{"abstract": "caf\xe9"}]'),
        ("a.csv", b"id,abstract\n1,caf\xe9\n"),
    ]:
        (reject,) = read(tmp_path / name, content)
        assert isinstance(reject, Reject)
        assert reject.reason.startswith("not UTF-8")
        (paper,) = papers(read(tmp_path / name, content, encoding_errors="replace"))
        assert paper.abstract == "caf\ufffd"


def test_parquet_without_pyarrow_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(InputError, match="pyarrow is not installed") as error:
        read(tmp_path / "a.parquet", b"PAR1")
    assert "citewise[parquet]" in error.value.fix


def test_parquet_types_that_json_has_not_are_made_text_or_rejected(tmp_path: Path) -> None:
    rows = [
        {"abstract": "One.", "year": 2025.0, "day": datetime.date(2025, 7, 13), "price": Decimal("1.50"), "raw": None},
        {"abstract": "Two.", "year": float("nan"), "day": None, "price": None, "raw": b"bytes"},
    ]
    path = tmp_path / "a.parquet"
    pq.write_table(pa.Table.from_pylist(rows), path)
    first, second = read_papers(path)
    assert isinstance(first, Paper)
    assert (first.year, first.metadata) == (2025, {"day": "2025-07-13", "price": "1.50"})
    assert isinstance(second, Reject)
    assert (second.line, second.field, second.reason) == (2, "raw", "bytes cannot be stored")
