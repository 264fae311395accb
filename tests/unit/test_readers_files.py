"""Readers: which files are read at all, and which are an error as a whole."""

import gzip
import io
import json
import os
import sys
from pathlib import Path

import pytest

from rag.errors import InputError
from rag.readers import STDIN, read_papers
from tests.unit.test_bad_input_files import zipped
from tests.unit.test_bad_inputs import GOOD, ids


def _read(path: Path, content: str | bytes) -> list[object]:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return list(read_papers(path))


def test_a_file_without_records_gives_nothing(tmp_path: Path) -> None:
    assert _read(tmp_path / "a.jsonl", "") == []
    assert _read(tmp_path / "b.txt", " \n\n \n") == []
    assert _read(tmp_path / "c.bin", "") == []


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.pdf", b"%PDF-1.7\n"),
        ("a.txt", b"%PDF-1.7\n"),
        ("a.jsonl", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"),
        ("a.txt", b"text with a \0 in it"),
        ("a.doc", b"{\\rtf1 text}"),
        ("a.xyz", b"text of some kind"),
        ("a.xml", b'<?xml version="1.0"?><paper/>'),
        ("a.html", b"<!DOCTYPE html><p>Text"),
        ("a.jsonl.gz", gzip.compress(gzip.compress(GOOD.encode()))),
    ],
)
def test_a_file_of_another_format_is_an_error_that_says_what_to_give(tmp_path: Path, name: str, content: bytes) -> None:
    with pytest.raises(InputError, match="cannot be told") as error:
        _read(tmp_path / name, content)
    assert "JSON lines" in error.value.fix


def test_only_regular_files_are_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(InputError, match="not a regular file"):
            list(read_papers(path))
    for missing in (tmp_path / "missing.jsonl", Path("nul\0byte")):
        with pytest.raises(InputError, match="cannot be read"):
            list(read_papers(missing))


def test_a_cut_gzip_file_is_an_error(tmp_path: Path) -> None:
    content = gzip.compress("\n".join(json.dumps({"abstract": f"Abstract {i}."}) for i in range(5000)).encode())
    with pytest.raises(InputError, match="cannot be read to its end"):
        _read(tmp_path / "a.jsonl.gz", content[: len(content) // 2])


def test_a_gzip_bomb_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="compressed more than 100:1"):
        _read(tmp_path / "a.jsonl.gz", gzip.compress(b"{" + b"\n" * (40 << 20)))


def test_a_file_past_the_limit_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag.readers.source.MAX_FILE", 100)
    with pytest.raises(InputError, match="more than 100 bytes"):
        _read(tmp_path / "a.jsonl", f"{GOOD}\n" * 10)


def test_a_file_that_changes_while_it_is_read_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(f"{GOOD}\n")
    items = read_papers(path)
    next(items)
    path.write_text(f"{GOOD}\n{GOOD}\n")
    with pytest.raises(InputError, match="changed while it was read"):
        list(items)


def test_standard_input(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for content in (
        GOOD.encode(),
        gzip.compress(f"[{GOOD}]".encode()),
        zipped({"a.jsonl": GOOD.encode()}),
        b"id,abstract\ngood,w\n",
    ):
        reader, writer = os.pipe()
        os.write(writer, content)
        os.close(writer)
        with os.fdopen(reader, "rb") as pipe:
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(pipe))
            assert ids(list(read_papers(STDIN))) == ["good"]
