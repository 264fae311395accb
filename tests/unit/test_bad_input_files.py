"""The matrix of bad inputs, rows on files, archives and what is no text: a test a row, named after it."""

import gzip
import io
import json
import os
import pickle
import stat
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rag.errors import InputError
from rag.readers import Reject, read_papers
from tests.unit.test_bad_inputs import GOOD, ids, reasons
from tests.unit.test_formats import read

BOMBS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "bzip2": __import__("bz2").compress,
    "xz": __import__("lzma").compress,
}


@pytest.mark.parametrize("packing", BOMBS)
def test_gzip_bomb(tmp_path: Path, packing: str) -> None:
    for content in (b"{" + b"\n" * (40 << 20), b"[" + b" " * (40 << 20)):
        with pytest.raises(InputError, match="compressed more than 100:1"):
            read(tmp_path / "a.jsonl", BOMBS[packing](content))


def zipped(members: dict[str, bytes], *, kind: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", kind) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return out.getvalue()


def test_zip_bomb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    items = read(tmp_path / "a.zip", zipped({"a.jsonl": b"{" + b"\n" * (40 << 20), "b.jsonl": GOOD.encode()}))
    assert "compressed more than 100:1" in reasons(items)[0]
    assert ids(items) == ["good"]
    monkeypatch.setattr("rag.readers.containers.MAX_FILE", 100)
    with pytest.raises(InputError, match="unpacks to more than 100 bytes"):
        read(tmp_path / "a.zip", zipped({f"{n}.jsonl": GOOD.encode() for n in range(5)}))
    monkeypatch.setattr("rag.readers.containers.MAX_ENTRIES", 3)
    with pytest.raises(InputError, match="more than 3 entries"):
        read(tmp_path / "a.zip", zipped({f"{n}.jsonl": b"" for n in range(5)}))
    monkeypatch.setattr("rag.readers.containers._MAX_DIRECTORY", 200)
    with pytest.raises(InputError, match="table of contents"):
        read(tmp_path / "a.zip", zipped({f"{n}.jsonl": b"" for n in range(5)}))


def test_archives_in_archives(tmp_path: Path) -> None:
    inner = zipped({"a.jsonl": GOOD.encode()})
    items = read(
        tmp_path / "a.zip", zipped({"b.zip": inner, "c.jsonl.gz": gzip.compress(b"{}"), "d.jsonl": GOOD.encode()})
    )
    assert reasons(items) == ["An archive within an archive is not read."] * 2
    assert ids(items) == ["good"]


def test_zip_with_a_path_that_leads_out_a_symlink_or_a_device(tmp_path: Path) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name in ("../../out.jsonl", "/etc/abs.jsonl", "C:\\x.jsonl"):
            archive.writestr(name, GOOD)
        for name, kind in (("link", stat.S_IFLNK), ("device", stat.S_IFCHR)):
            info = zipfile.ZipInfo(name)
            info.create_system, info.external_attr = 3, (kind | 0o777) << 16
            archive.writestr(info, "/etc/passwd")
    folder = tmp_path / "in"
    folder.mkdir()
    items = read(folder / "a.zip", out.getvalue())
    assert len(ids(items)) == 3
    assert reasons(items) == ["not a regular file"] * 2
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["a.zip", "in"]


def test_tar_with_a_path_that_leads_out(tmp_path: Path) -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        info = tarfile.TarInfo("../../out.jsonl")
        info.size = len(GOOD)
        archive.addfile(info, io.BytesIO(GOOD.encode()))
    for name, content in (("a.tar", out.getvalue()), ("a.tar.gz", gzip.compress(out.getvalue()))):
        with pytest.raises(InputError, match="cannot be told"):
            read(tmp_path / name, content)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["a.tar", "a.tar.gz"]


def test_zip_members_that_are_encrypted_or_broken(tmp_path: Path) -> None:
    content = bytearray(zipped({"a.jsonl": GOOD.encode(), "b.jsonl": GOOD.encode()}, kind=zipfile.ZIP_STORED))
    content[content.index(b"good")] ^= 1  # the checksum of the first no longer fits
    directory = content.rindex(b"PK\x01\x02")
    content[directory + 8] |= 1  # the second says that it is encrypted
    items = read(tmp_path / "a.zip", bytes(content))
    assert ids(items) in ([], ["food"])
    assert [reason.partition(":")[0] for reason in reasons(items)] == ["cannot be unpacked", "encrypted"]


def test_symlink_fifo_dev_zero_folder(tmp_path: Path) -> None:
    folder, outside = tmp_path / "in", tmp_path / "outside"
    (folder / "sub" / ".hidden").mkdir(parents=True)
    outside.mkdir()
    for path in (
        outside / "o.jsonl",
        folder / "a.jsonl",
        folder / "sub" / "b.jsonl",
        folder / "sub" / ".hidden" / "c.jsonl",
    ):
        path.write_text(json.dumps({"id": path.name, "abstract": "w"}))
    (folder / "leaves.jsonl").symlink_to(outside / "o.jsonl")
    (folder / "leaves").symlink_to(outside)
    (folder / "stays.jsonl").symlink_to(folder / "a.jsonl")
    (folder / "loop").symlink_to(folder)
    os.mkfifo(folder / "pipe")
    (folder / "zero").symlink_to("/dev/zero")
    (folder / "notes.pdf").write_bytes(b"%PDF-1.7")
    items = list(read_papers(folder))
    assert ids(items) == ["a.jsonl", "b.jsonl"]
    rejects = {item.record: item.reason for item in items if isinstance(item, Reject)}
    assert set(rejects) == {"leaves.jsonl", "leaves", "pipe", "zero", "notes.pdf"}
    assert all("leaves the folder" in rejects[name] for name in ("leaves.jsonl", "leaves", "zero"))
    for path in (folder / "pipe", Path("/dev/zero")):
        with pytest.raises(InputError, match="not a regular file"):
            list(read_papers(path))


class Bang:
    """Runs code when it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return (os.abort, ())


def test_xml_yaml_pickle_npz(tmp_path: Path) -> None:
    entities = b'<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]><l>&b;</l>'
    for name, content in [
        ("a.xml", entities),
        ("a.txt", entities),
        ("a.yaml", b"abstract: !!python/object/apply:os.abort []"),
        ("a.pkl", pickle.dumps(Bang())),
        ("a.jsonl", pickle.dumps(Bang())),
        ("a.npy", b"\x93NUMPY\x01\x00"),
    ]:
        with pytest.raises(InputError, match="cannot be told"):
            read(tmp_path / name, content)
    np.savez(tmp_path / "a.npz", x=np.array([Bang()], dtype=object))
    assert reasons(list(read_papers(tmp_path / "a.npz"))) == [
        f"The format of {tmp_path / 'a.npz'}/x.npy cannot be told."
    ]


def test_foreign_chroma_folder(tmp_path: Path) -> None:
    (tmp_path / "chroma.sqlite3").write_bytes(b"SQLite format 3\0" + bytes(84))
    assert [item.record for item in read_papers(tmp_path) if isinstance(item, Reject)] == ["chroma.sqlite3"]


def test_file_changes_while_read(tmp_path: Path) -> None:
    for name in ("a.jsonl", "in/b.jsonl"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"{GOOD}\n")
        items = read_papers(path.parent if "/" in name else path)
        next(items)
        path.write_text(f"{GOOD}\n{GOOD}\n")
        if "/" in name:
            *_, reject = items
            assert isinstance(reject, Reject)
            assert "changed while it was read" in reject.reason
        else:
            with pytest.raises(InputError, match="changed while it was read"):
                list(items)


def test_parquet_that_unpacks_to_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.parquet"
    long = "word " * 400_000
    bomb = pa.table({"abstract": [long] * 20})
    pq.write_table(bomb, path, compression="zstd", use_dictionary=False)
    with pytest.raises(InputError, match="compressed more than 100:1"):
        list(read_papers(path))
    pq.write_table(pa.table({"abstract": [long] * 199 + ["Good."]}), path, compression="none")
    assert path.stat().st_size < 5 << 20
    items = list(read_papers(path))
    assert reasons(items) == ["longer than 1,048,576 bytes"] * 199
    assert len(ids(items)) == 1
    monkeypatch.setattr("rag.readers.parquet.MAX_FILE", 1000)
    with pytest.raises(InputError, match="holds more than 1,000 bytes"):
        list(read_papers(path))
