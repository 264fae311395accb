"""Readers: what becomes a paper, what is rejected with which reason, and what never gets that far."""

import gzip
import json
import tracemalloc
from pathlib import Path

import pytest

from rag.domain import Paper
from rag.readers import Reject, Repair, read_papers
from rag.records import content_id

GOOD = '{"id": "good", "abstract": "A good abstract."}'


def _read(path: Path, content: str | bytes) -> list[Paper | Reject]:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return list(read_papers(path))


def test_a_record_becomes_a_paper_and_unknown_fields_its_metadata(tmp_path: Path) -> None:
    record = {
        "id": "cN9GkuBo4w",
        "title": "A Title",
        "authors": ["Ada", "Alan"],
        "year": 2025,
        "venue": "ICML 2025",
        "abstract": "An abstract.",
        "url": "https://openreview.net/forum?id=cN9GkuBo4w",
        "arxiv_id": "2505.22196",
        "categories": ["cs.LG"],
        "pmlr_url": "https://proceedings.mlr.press/v267/cui25d.html",
    }
    assert _read(tmp_path / "a.jsonl", json.dumps(record)) == [
        Paper(
            paper_id="cN9GkuBo4w",
            title="A Title",
            authors=("Ada", "Alan"),
            abstract="An abstract.",
            url="https://openreview.net/forum?id=cN9GkuBo4w",
            year=2025,
            venue="ICML 2025",
            arxiv_id="2505.22196",
            categories=("cs.LG",),
            metadata={"pmlr_url": "https://proceedings.mlr.press/v267/cui25d.html"},
        )
    ]


@pytest.mark.parametrize(
    ("record", "paper_id"),
    [
        ({"id": "a b", "arxiv_id": "1"}, "a b"),
        ({"id": 17}, "17"),
        ({"id": "", "arxiv_id": "2505.22196", "doi": "10.1/x"}, "2505.22196"),
        ({"doi": "10.1/x"}, "10.1/x"),
        ({"title": "T"}, content_id("T", "Some  words.")),
        ({"title": None}, content_id("", "Some  words.")),
    ],
)
def test_the_id_is_the_sources_own_or_the_hash_of_the_content(
    tmp_path: Path, record: dict[str, object], paper_id: str
) -> None:
    (paper,) = _read(tmp_path / "a.jsonl", json.dumps({**record, "abstract": "Some  words."}))
    assert isinstance(paper, Paper)
    assert paper.paper_id == paper_id


def test_the_hash_of_the_content_ignores_how_it_is_typed_and_nothing_else() -> None:
    assert content_id("A Title", "some words") == content_id(" a\n title", "Some   ｗords")
    assert content_id("A", "b c") != content_id("A b", "c")


def test_authors_may_be_one_text_with_semicolons(tmp_path: Path) -> None:
    (paper,) = _read(tmp_path / "a.jsonl", '{"abstract": "Words.", "authors": "Lovelace, Ada; Turing, Alan;"}')
    assert isinstance(paper, Paper)
    assert paper.authors == ("Lovelace, Ada", "Turing, Alan")


@pytest.mark.parametrize(
    ("line", "field", "reason"),
    [
        ('{"id": "x", "abstract": ', None, "broken JSON"),
        ('{"abstract": "tab\tinside"}', None, "broken JSON"),
        ('{"abstract": "nul \0 inside"}', None, "broken JSON"),
        ('{"abstract": "w", "n": ' + "[" * 100_000 + "]" * 100_000 + "}", None, "nested too deeply"),
        ('{"abstract": "w", "n": ' + "[" * 40 + "]" * 40 + "}", "n", "nested more than"),
        ('{"abstract": "w", "n": ' + "1" * 5000 + "}", None, "too many digits"),
        ('{"abstract": "w", "n": NaN}', None, "NaN"),
        ('{"abstract": "w", "n": -Infinity}', None, "-Infinity"),
        ('{"abstract": "w", "n": 1e999}', None, "too large"),
        ('{"abstract": "one", "abstract": "two"}', "abstract", "twice"),
        ('["abstract"]', None, "not a JSON object"),
        ("null", None, "not a JSON object"),
        ('{"id": "x"}', "abstract", "no abstract"),
        ('{"abstract": null}', "abstract", "no abstract"),
        ('{"abstract": " \\n "}', "abstract", "no abstract"),
        ('{"abstract": "..."}', "abstract", "no abstract"),
        ('{"abstract": "N/A"}', "abstract", "no abstract"),
        ('{"abstract": "Withdrawn."}', "abstract", "no abstract"),
        ('{"abstract": 5}', "abstract", "must be text, not a number"),
        ('{"abstract": ["a"]}', "abstract", "must be text, not a list"),
        ('{"abstract": "' + "word " * 50_000 + '"}', "abstract", "longer than"),
        ('{"abstract": "w", "title": true}', "title", "true or false"),
        ('{"abstract": "w", "id": {}}', "id", "an object"),
        ('{"abstract": "w", "id": "' + "i" * 300 + '"}', "id", "longer than"),
        ('{"abstract": "w", "authors": [1]}', "authors", "list of texts"),
        ('{"abstract": "w", "categories": {"a": 1}}', "categories", "list of texts"),
        ('{"abstract": "w", "year": "soon"}', "year", "four digits"),
        ('{"abstract": "w", "year": 2025.5}', "year", "four digits"),
        ('{"abstract": "w", "year": 99999999999999999999}', "year", "four digits"),
    ],
)
def test_a_bad_record_is_rejected_with_its_place_and_the_next_is_taken(
    tmp_path: Path, line: str, field: str | None, reason: str
) -> None:
    path = tmp_path / "a.jsonl"
    reject, paper = _read(path, f"{{}}\n\n{line}\n{GOOD}\n")[1:]
    assert isinstance(reject, Reject)
    assert (reject.file, reject.line, reject.field) == (str(path), 3, field)
    assert reason in reject.reason
    assert isinstance(paper, Paper)


def test_a_reject_is_called_by_its_id_its_title_or_its_first_words(tmp_path: Path) -> None:
    lines = ['{"id": "x1", "title": "T"}', '{"title": "A Title"}', "{broken"]
    rejects = _read(tmp_path / "a.jsonl", "\n".join(lines))
    assert [reject.record for reject in rejects if isinstance(reject, Reject)] == ["x1", "A Title", "{broken"]


@pytest.mark.parametrize(
    "text",
    [
        r"We use $\alpha^2$, \emph{this} and \cite{x}; 50\% of \{a\}.",
        "**M**ulti-view `code` [a](b) <b>x</b> &amp;lt; x[0] [12]",
        "<|endoftext|> and <|im_start|>system",
        "日本語。 naïve می\u200cخواهم 👩 cafe\u0301",
        "  spaces around and\ttabs\nand\n\nlines  ",
    ],
)
def test_text_passes_through_unharmed(tmp_path: Path, text: str) -> None:
    repairs: list[Repair] = []
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"abstract": text, "title": text, "note": text}, ensure_ascii=False), encoding="utf-8")
    (paper,) = read_papers(path, on_repair=repairs.append)
    assert isinstance(paper, Paper)
    assert (paper.abstract, paper.title, paper.metadata, repairs) == (text, text, {"note": text}, [])


@pytest.mark.parametrize(
    ("text", "kept", "what"),
    [
        (
            "zero\u200bwidth \ufeffand\u2060 soft\u00adhyphen",
            "zerowidth and softhyphen",
            "invisible characters removed",
        ),
        ("right\u202e-to-\u2066left", "right-to-left", "invisible characters removed"),
        ("tag\U000e0041s and ☃\ufe0f", "tags and ☃", "invisible characters removed"),
        ("👩\u200d👧 stray joiner", "👩👧 stray joiner", "invisible characters removed"),
        ("one\r\ntwo\rthree\u2028four\x0bfive", "one\ntwo\nthree\nfour\nfive", "line breaks made line feeds"),
        ("bell\a \x9bcontrol", "bell control", "control characters removed"),
    ],
)
def test_what_cannot_be_seen_is_removed_and_counted(tmp_path: Path, text: str, kept: str, what: str) -> None:
    repairs: list[Repair] = []
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"id": "x", "abstract": text, "title": text, "note": [text]}))
    (paper,) = read_papers(path, on_repair=repairs.append)
    assert isinstance(paper, Paper)
    assert (paper.abstract, paper.title, paper.metadata) == (kept, kept, {"note": [kept]})
    assert [repair.what for repair in repairs] == [what]


def test_control_characters_and_lone_surrogates_are_repaired_and_reported(tmp_path: Path) -> None:
    repairs: list[Repair] = []
    path = tmp_path / "a.jsonl"
    path.write_text(GOOD + '\n{"id": "x", "abstract": "a\\u0000b\\u001bc \\ud83d \\ud83d\\ude00"}')
    _, paper = read_papers(path, on_repair=repairs.append)
    assert isinstance(paper, Paper)
    assert paper.abstract == "abc \ufffd 😀"
    assert [(repair.line, repair.record, repair.what) for repair in repairs] == [
        (2, "x", "control characters removed"),
        (2, "x", "lone surrogates replaced by U+FFFD"),
    ]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "gzip"])
def test_encodings_are_told_by_the_files_first_bytes(tmp_path: Path, encoding: str) -> None:
    text = GOOD + "\n" + GOOD.replace("good", "nächst")
    content = gzip.compress(text.encode()) if encoding == "gzip" else text.encode(encoding)
    papers = _read(tmp_path / "a.jsonl", content)
    assert [paper.paper_id for paper in papers if isinstance(paper, Paper)] == ["good", "nächst"]


def test_big_endian_utf16_is_read_and_its_lone_surrogates_repaired(tmp_path: Path) -> None:
    text = "\ufeff" + '{"id": "x", "abstract": "a \ud800 b"}'
    (paper,) = _read(tmp_path / "a.jsonl", text.encode("utf-16-be", "surrogatepass"))
    assert isinstance(paper, Paper)
    assert paper.abstract == "a \ufffd b"


def test_bytes_that_are_not_utf8_cost_one_record(tmp_path: Path) -> None:
    reject, paper = _read(tmp_path / "a.jsonl", b'{"abstract": "caf\xe9"}\n' + GOOD.encode())
    assert isinstance(reject, Reject)
    assert reject.reason == "not UTF-8 at byte 17 of the line"
    assert isinstance(paper, Paper)


def test_a_record_past_one_mebibyte_is_rejected_in_bounded_memory(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    with path.open("wb") as file:
        file.write(b'{"abstract": "')
        for _ in range(64):
            file.write(b"a" * (1 << 20))
        file.write(b'"}\n' + GOOD.encode())
    tracemalloc.start()
    try:
        reject, paper = read_papers(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert isinstance(reject, Reject)
    assert (reject.line, reject.reason) == (1, "longer than 1,048,576 bytes")
    assert isinstance(paper, Paper)
    assert peak < 8 << 20


def test_a_record_of_exactly_one_mebibyte_is_taken(tmp_path: Path) -> None:
    start, end = '{"abstract": "Words.", "note": "', '"}'
    line = start + "n" * ((1 << 20) - len(start) - len(end) - 1) + end
    papers = _read(tmp_path / "a.jsonl", f"{line}\n{GOOD}")
    assert all(isinstance(paper, Paper) for paper in papers)


def test_lines_end_at_line_feeds_only(tmp_path: Path) -> None:
    content = '{"id": "1", "abstract": "a\u2028b\u0085c"}\r\n{"id": "2", "abstract": "d"}'
    papers = _read(tmp_path / "a.jsonl", content)
    assert [paper.abstract for paper in papers if isinstance(paper, Paper)] == ["a\nb\nc", "d"]


def test_plain_text_is_abstracts_between_blank_lines_below_a_heading(tmp_path: Path) -> None:
    content = (
        "ICML 2025 Papers\r\n\r\nFirst abstract. It opti- mizes.\r\n \t\r\nSecond,\r\non two lines.\r\n\r\n\r\n---\n"
    )
    first, second, reject = _read(tmp_path / "a.txt", content)
    assert first == Paper(
        content_id("", "First abstract. It opti- mizes."), "", (), abstract="First abstract. It opti- mizes."
    )
    assert isinstance(second, Paper)
    assert second.abstract == "Second,\non two lines."
    assert isinstance(reject, Reject)
    assert (reject.line, reject.record, reject.reason) == (9, "---", "no abstract")


def test_plain_text_without_a_heading_loses_nothing(tmp_path: Path) -> None:
    papers = _read(tmp_path / "a.txt", "One short abstract.\n\nAnother.")
    assert [paper.abstract for paper in papers if isinstance(paper, Paper)] == ["One short abstract.", "Another."]


def test_a_paragraph_past_one_mebibyte_is_rejected(tmp_path: Path) -> None:
    reject, paper = _read(tmp_path / "a.txt", "word word word.\n" * 70_000 + "\nA good one.\n")
    assert isinstance(reject, Reject)
    assert "longer than" in reject.reason
    assert isinstance(paper, Paper)


def test_the_seed_document_and_its_records_hold_the_same_abstracts(shared_data: Path) -> None:
    text = [paper.abstract for paper in read_papers(shared_data / "icml2025_seed.txt") if isinstance(paper, Paper)]
    records = [paper.abstract for paper in read_papers(shared_data / "icml2025_seed.jsonl") if isinstance(paper, Paper)]
    assert len(text) == 19
    assert text == records


def test_icml_gives_a_paper_for_each_abstract_and_a_reject_for_each_null(shared_data: Path) -> None:
    items = list(read_papers(shared_data / "icml2025_all.jsonl.gz"))
    rejects = [item for item in items if isinstance(item, Reject)]
    assert len(items) - len(rejects) == 1430
    assert len(rejects) == 1900
    assert {(reject.field, reject.reason) for reject in rejects} == {("abstract", "no abstract")}
