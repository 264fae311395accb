"""The matrix of bad inputs: a test a row, named after it.

Rows on files and archives are in `test_bad_input_files`, on what a single record holds in `test_bad_records`, on what
happens behind the readers elsewhere: two ingests at once in `test_two_writers`, full disks and read-only homes in
`test_faults`, kills in `test_kill`, a batch that cannot be embedded in `test_ingest_corpora`, and what a prompt drops
of chat-template tokens in `test_guarding`.
"""

import io
import json
import tracemalloc
from pathlib import Path
from typing import BinaryIO, cast

import pytest

from rag.domain import Paper
from rag.errors import InputError
from rag.ingest import ingest_files
from rag.ingest_report import NothingToIndex
from rag.readers import Format, ReadOptions, Reject, Repair, read_papers
from rag.readers.formats import READERS
from rag.readers.found import papers_of
from rag.readers.source import Source
from tests.corpora import held, ingest, some_papers
from tests.fake_embedder import FakeEmbedder
from tests.unit.test_formats import papers, read

GOOD = '{"id": "good", "abstract": "A good abstract."}'
MEMORY = 16 << 20


def reasons(items: list[Paper | Reject]) -> list[str]:
    return [item.reason for item in items if isinstance(item, Reject)]


def ids(items: list[Paper | Reject]) -> list[str]:
    return [item.paper_id for item in items if isinstance(item, Paper)]


class Endless(io.RawIOBase):
    """`start`, then `size` bytes made as they are read, then `end`."""

    def __init__(self, start: bytes, filler: bytes, size: int, end: bytes) -> None:
        self._parts = [start, *[filler] * (size // len(filler)), end]
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        while not self._rest and self._parts:
            self._rest = self._parts.pop(0)
        taken, self._rest = self._rest[: len(buffer)], self._rest[len(buffer) :]
        buffer[: len(taken)] = taken
        return len(taken)


def read_stream(raw: io.RawIOBase, form: Format) -> tuple[list[Paper | Reject], int]:
    """What is read of `raw`, and the memory that it took at most."""
    options = ReadOptions(format=form)
    tracemalloc.start()
    try:
        source = Source("stream", cast(BinaryIO, raw))
        items = [
            item
            for item in papers_of(READERS[form](source, options), file="stream", options=options)
            if not isinstance(item, Repair)
        ]
        return items, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", ["a.jsonl", "a.json", "a.csv", "a.bib", "a.ris", "a.txt", "a.md"])
def test_empty_file_blank_lines_only(home: Path, tmp_path: Path, name: str) -> None:
    ingest(home, some_papers([1]))
    for content in ("", " \n\n \r\n"):
        (tmp_path / name).write_text(content)
        with pytest.raises(NothingToIndex, match="nothing to index"):
            ingest_files(home, "c", [tmp_path / name], embedder=FakeEmbedder())
    assert list(held(home)) == ["p1"]


@pytest.mark.parametrize(
    "content",
    [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", b"\x7fELF\2\1\1\0", b"text with \0 in it", bytes(range(256)), b"%PDF-1.7\n"],
)
def test_binary_image_nul_bytes(tmp_path: Path, content: bytes) -> None:
    for name in ("a.jsonl", "a.csv", "a.bib", "a.txt", "a"):
        with pytest.raises(InputError, match="cannot be told"):
            read(tmp_path / name, content)


@pytest.mark.slow
def test_1_gib_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag.readers.source.MAX_FILE", 2 << 30)
    raw = Endless(b'{"abstract": "', b"a" * (1 << 20), 1 << 30, b'"}\n' + GOOD.encode())
    items, memory = read_stream(raw, "jsonl")
    assert reasons(items) == ["longer than 1,048,576 bytes"]
    assert ids(items) == ["good"]
    assert memory < MEMORY


@pytest.mark.parametrize(
    ("form", "start", "filler", "end", "reason"),
    [
        ("json", b'[{"abstract": "', b"a" * 4096, b'"}, ' + GOOD.encode() + b"]", "longer than"),
        ("json", b'[{"a": ', b"[" * 4096, b"}, " + GOOD.encode() + b"]", "longer than"),
        ("csv", b"id,abstract\n1,", b"a" * 4096, b"\ngood,w\n", "longer than"),
        ("csv", b'id,abstract\n1,"', b"a" * 4000 + b",b\n", b'"\ngood,w\n', "broken row"),
        ("bibtex", b"@misc{x, abstract={", b"word word.\n" * 400, b"}}\n@misc{good, abstract={w}}", "longer than"),
        (
            "ris",
            b"TY  - J\nAB  - ",
            b"word word.\n" * 400,
            b"ER  - \nTY  - J\nID  - good\nAB  - w\nER  - \n",
            "longer than",
        ),
        ("text", b"", b"word word.\n" * 400, b"\n\nA good one.\n", "longer than"),
        ("markdown", b"# T\n", b"word word.\n" * 400, b"\n# Good\nA good one.\n", "longer than"),
    ],
)
def test_long_records_of_every_format(form: Format, start: bytes, filler: bytes, end: bytes, reason: str) -> None:
    items, memory = read_stream(Endless(start, filler, 4 << 20, end), form)
    assert reason in reasons(items)[0]
    assert memory < MEMORY
    # What is nested without an end swallows the rest of its document.
    assert (ids(items)[-1:] == [] and b"[[" in filler) or isinstance(items[-1], Paper)


def test_json_nested_100_000_deep(tmp_path: Path) -> None:
    deep = '{"abstract": "w", "n": ' + "[" * 100_000 + "]" * 100_000 + "}"
    for name, content in [("a.jsonl", f"{deep}\n{GOOD}"), ("a.json", f"[{deep},\n{GOOD}]")]:
        items = read(tmp_path / name, content)
        assert (reasons(items), ids(items)) == (["JSON nested too deeply"], ["good"])


def test_integer_of_5_000_digits(tmp_path: Path) -> None:
    items = read(tmp_path / "a.jsonl", f'{{"abstract": "w", "n": {"1" * 5000}}}\n{GOOD}')
    assert (reasons(items), ids(items)) == (["a number has too many digits"], ["good"])
    items = read(tmp_path / "a.csv", f"id,year,abstract\n1,{'1' * 5000},w\ngood,,w\n")
    assert (reasons(items), ids(items)) == (["must be a year of four digits"], ["good"])


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_nan_infinity(tmp_path: Path, number: str) -> None:
    items = read(tmp_path / "a.json", f'[{{"abstract": "w", "n": {number}}}, {GOOD}]')
    assert len(reasons(items)) == 1
    assert ids(items) == ["good"]


def test_duplicate_keys(tmp_path: Path) -> None:
    items = read(tmp_path / "a.json", f'[{{"abstract": "one", "abstract": "two"}}, {GOOD}]')
    assert (reasons(items), ids(items)) == (["the field is given twice"], ["good"])


FILES = {
    "a.jsonl": GOOD + "\n",
    "a.json": f"[{GOOD}]",
    "a.csv": "id,abstract\ngood,A good abstract.\n",
    "a.bib": "@misc{good, abstract={A good abstract.}}\n",
    "a.ris": "TY  - J\nID  - good\nAB  - A good abstract.\nER  - \n",
    "a.txt": "A good abstract.\n",
    "a.md": "A good abstract.\n",
}


@pytest.mark.parametrize("name", FILES)
def test_bom(tmp_path: Path, name: str) -> None:
    assert papers(read(tmp_path / name, FILES[name].encode("utf-8-sig"))) == papers(read(tmp_path / name, FILES[name]))


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_utf_16_32(tmp_path: Path, name: str, encoding: str) -> None:
    assert papers(read(tmp_path / name, FILES[name].encode(encoding))) == papers(read(tmp_path / name, FILES[name]))
    cut = FILES[name].encode(encoding)[:-1]
    with pytest.raises(InputError, match=f"is not {encoding.upper()}"):
        read(tmp_path / name, cut)


@pytest.mark.parametrize("name", FILES)
def test_bad_utf_8(tmp_path: Path, name: str) -> None:
    items = read(tmp_path / name, FILES[name].replace("abstract.", "caf\xe9.").encode("latin-1"))
    assert ids(items) == []
    assert any(reason.startswith("not UTF-8") for reason in reasons(items))
    replaced = papers(
        read(tmp_path / name, FILES[name].replace("abstract.", "caf\xe9.").encode("latin-1"), encoding_errors="replace")
    )
    assert replaced[0].abstract == "A good caf\ufffd."


def test_lone_surrogate(tmp_path: Path) -> None:
    for name, content in [
        ("a.jsonl", rb'{"abstract": "a \ud800 b."}'),
        ("a.json", rb'[{"abstract": "a \ud800 b."}]'),
        ("a.txt", "\ufeffa \ud800 b.".encode("utf-16-le", "surrogatepass")),
        ("a.csv", "\ufeffid,abstract\n1,a \ud800 b.\n".encode("utf-16-le", "surrogatepass")),
    ]:
        repairs: list[Repair] = []
        (tmp_path / name).write_bytes(content)
        (paper,) = read_papers(tmp_path / name, on_repair=repairs.append)
        assert isinstance(paper, Paper)
        assert paper.abstract == "a \ufffd b."
        assert [repair.what for repair in repairs] == ["lone surrogates replaced by U+FFFD"]


@pytest.mark.parametrize(
    "hidden", ["\0", "\x1b", "\x9f", "\u202e", "\u2066", "\u200b", "\ufeff", "\U000e0041", "\u00ad"]
)
def test_controls_bidi_zero_width_tag_characters(tmp_path: Path, hidden: str) -> None:
    repairs: list[Repair] = []
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"id": f"x{hidden}1", "title": f"a{hidden}b", "abstract": f"w{hidden}x", "k": [hidden]}))
    (paper,) = read_papers(path, on_repair=repairs.append)
    assert isinstance(paper, Paper)
    assert (paper.paper_id, paper.title, paper.abstract, paper.metadata) == ("x1", "ab", "wx", {"k": [""]})
    assert len(repairs) == 1


@pytest.mark.parametrize("name", FILES)
def test_crlf_cr_mixed_u_2028(tmp_path: Path, name: str) -> None:
    text = FILES[name] + ("" if name.endswith(("json", "txt", "md")) else FILES[name].replace("good", "next"))
    if name == "a.csv":
        text = FILES[name] + "next,Another.\n"
    expected = ids(read(tmp_path / name, text))
    assert ids(read(tmp_path / name, text.replace("\n", "\r\n"))) == expected
    assert ids(read(tmp_path / name, text.replace("\n", "\r"))) == expected
    assert len(read(tmp_path / name, text.replace("good abstract", "good\u2028ab\u0085st\x1cract"))) == len(expected)


def test_csv_field_over_131_072_characters(tmp_path: Path) -> None:
    (paper,) = papers(read(tmp_path / "a.csv", f"abstract,note\nw,{'n' * 200_000}\n"))
    assert len(str(paper.metadata["note"])) == 200_000


def test_csv_unclosed_quote(tmp_path: Path) -> None:
    items = read(tmp_path / "a.csv", 'id,abstract\n1,"open\n' + "".join(f"{n},Abstract {n}.\n" for n in range(2, 5000)))
    assert [item.line for item in items if isinstance(item, Reject)] == [2]
    assert len(ids(items)) == 4998


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_csv_semicolon_tab_cr_only(tmp_path: Path, delimiter: str) -> None:
    text = delimiter.join(["id", "abstract"]) + "\n" + delimiter.join(["1", "One, two."]) + "\n"
    for content in (text, text.replace("\n", "\r")):
        assert [paper.abstract for paper in papers(read(tmp_path / "a.csv", content))] == ["One, two."]
