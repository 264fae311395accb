"""No bytes break a reader: each format's reader gets mutated files of its kind, and every reader any bytes at all.

FUZZ_EXAMPLES says how many examples each test tries: 300 unless set, 10,000 with `pytest --nightly`.
"""

import bz2
import gzip
import io
import json
import lzma
import os
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rag.domain import Paper
from rag.errors import InputError
from rag.readers import Format, ReadOptions, Reject, read_papers
from rag.readers.formats import READERS
from rag.readers.found import papers_of
from rag.readers.source import Source, reading
from rag.records import Repair, from_line, to_line
from tests.unit.test_formats import ADA, BIBTEX, RIS, csv_text, parquet_bytes

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "300"))
fuzzed = settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

NOTE = {
    "id": "n",
    "forum": "n",
    "content": {"title": {"value": "T"}, "abstract": {"value": "w"}, "venueid": "a/2025/b"},
}
WORK = {"id": "https://openalex.org/W1", "abstract_inverted_index": {"a": [0, 2], "b": [1]}, "authorships": [{}]}
SNAPSHOT = {"id": "1", "authors_parsed": [["L", "A", ""]], "categories": "cs.LG", "abstract": " w\n", "versions": [{}]}
SCHOLAR = {"paperId": "p", "externalIds": {"ArXiv": "1"}, "authors": [{"name": "A"}], "title": "T", "abstract": None}
LISTED = {"title": "T", "author": "A;B", "status": "Poster", "abstract": "w", "site": "https://x.org", "rating": [1.5]}
RECORDS = [ADA, NOTE, WORK, SNAPSHOT, SCHOLAR, LISTED]
SAMPLES: dict[Format, bytes] = {
    "jsonl": "\n".join(map(json.dumps, RECORDS)).encode(),
    "json": json.dumps({"notes": RECORDS}, indent=1).encode(),
    "csv": csv_text(",").encode(),
    "tsv": csv_text("\t").encode(),
    "parquet": parquet_bytes(),
    "bibtex": BIBTEX.encode(),
    "ris": RIS.encode(),
    "text": b"A heading\n\nAn abstract.\nGoing on.\n\nAnother.",
    "markdown": b"# Title\n\nAbstract.\n\n## Next\nText\n---\n",
}
_pieces = st.binary(max_size=8) | st.sampled_from(
    [
        *(bytes([byte]) for byte in b'"{}[],\\\n\r\0@#$'),
        *(b"\\ud800", b"ER  - \n", b"TY  - J\n", b"---\n", b"null", b"NaN", b"1e999", b'"abstract": '),
        *(b"\xef\xbb\xbf", b"\xff\xfe", b"\xe2\x80\xae"),
    ]
)
_edits = st.lists(st.tuples(st.floats(0, 1), st.integers(0, 20), _pieces), min_size=1, max_size=6)
_marks = st.sampled_from([b"", b"", b"", b"\xef\xbb\xbf"])


def mutated(sample: bytes, edits: list[tuple[float, int, bytes]]) -> bytes:
    """`sample` with pieces put in the place of runs of its bytes."""
    for where, length, piece in edits:
        place = int(where * len(sample))
        sample = sample[:place] + piece + sample[place + length :]
    return sample


def read_all(content: bytes, form: Format) -> None:
    """Reads `content` to its end: papers and rejects that can be written down, or an InputError."""
    options = ReadOptions(format=form)
    try:
        with reading("x"):
            source = Source("x", io.BytesIO(content))
            items = list(papers_of(READERS[form](source, options), file="x", options=options))
    except InputError:
        return
    check(items)


def check(items: list[Paper | Reject | Repair] | list[Paper | Reject]) -> None:
    for item in items:
        if isinstance(item, Paper):
            assert from_line(to_line(item)) == item
        elif isinstance(item, Reject):
            assert item.reason
            json.dumps(item.reason + item.record).encode()


@pytest.mark.parametrize("form", SAMPLES)
@given(edits=_edits, mark=_marks)
@fuzzed
def test_no_mutated_file_breaks_its_reader(form: Format, edits: list[tuple[float, int, bytes]], mark: bytes) -> None:
    read_all(mark + mutated(SAMPLES[form], edits), form)


@pytest.mark.parametrize("form", SAMPLES)
@given(content=st.binary(max_size=300))
@fuzzed
def test_no_bytes_break_a_reader(form: Format, content: bytes) -> None:
    read_all(content, form)


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "plain": lambda content: content,
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zip": lambda content: _zipped(content),
}


def _zipped(content: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.jsonl", content)
        archive.writestr("../b.txt", b"An abstract.")
    return out.getvalue()


@pytest.mark.parametrize("packing", PACKERS)
@given(
    sample=st.sampled_from(sorted(SAMPLES.values())),
    edits=_edits,
    name=st.sampled_from(["a.jsonl", "a.txt", "a", "a.bib", "a.csv", "a.md", "a.json.gz"]),
)
@fuzzed
def test_no_packed_or_cut_file_breaks_the_reading(
    packing: str, sample: bytes, edits: list[tuple[float, int, bytes]], name: str
) -> None:
    content = mutated(PACKERS[packing](sample), edits)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(content)
        try:
            items = list(read_papers(path))
        except InputError:
            return
    check(items)


_texts = st.text(st.characters(exclude_categories=["Cs", "Cc", "Cf"]), min_size=1, max_size=60)


@given(
    st.lists(st.tuples(_texts, _texts.map(lambda text: f"{text}w")), min_size=1, max_size=4),
    st.sampled_from([",", ";", "\t"]),
)
@fuzzed
def test_what_is_written_as_csv_and_as_json_is_read_alike(rows: list[tuple[str, str]], delimiter: str) -> None:
    records = [{"id": f"r{number}", "title": t, "abstract": a} for number, (t, a) in enumerate(rows)]
    table = csv_text(delimiter, records)
    with tempfile.TemporaryDirectory() as folder:
        read: list[list[Paper | Reject]] = []
        for name, content in [
            ("a.csv", table),
            ("a.json", json.dumps(records, indent=2)),
            ("b.json", json.dumps({"results": records}, ensure_ascii=False)),
            ("a.jsonl", "\n".join(json.dumps(record, ensure_ascii=False) for record in records)),
        ]:
            Path(folder, name).write_bytes(content.encode())
            read.append(list(read_papers(Path(folder, name))))
    assert read[1] == read[2] == read[3] or all(isinstance(item, Reject) for items in read for item in items)
    assert [item for item in read[0] if isinstance(item, Paper)] == [
        item for item in read[3] if isinstance(item, Paper)
    ]
