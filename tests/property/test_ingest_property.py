"""Properties of the second path: any text survives, every chunk fits, twice is once, no bytes break a reader."""

import json
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from rag.chunking import chunk_abstract
from rag.domain import Paper
from rag.ingest import ensure_corpus, ingest_papers
from rag.merging import merge
from rag.readers import read_papers
from rag.record_file import RecordFile, write_records
from rag.records import clean_text, from_line, to_line
from rag.tokens import count_tokens
from tests.builders import paper
from tests.fake_embedder import FakeEmbedder

_storable = st.characters(exclude_categories=["Cs", "Cc"]) | st.sampled_from("\n\t$\\{}<|&")
_texts = st.text(_storable, max_size=200).map(lambda text: clean_text(text, set()))
_abstracts = _texts.map(lambda text: f"{text}w")
_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | _texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_texts, inner, max_size=3),
    max_leaves=8,
)
_ids = st.sampled_from("abcd")
_papers = st.lists(
    st.builds(
        lambda paper_id, title, abstract, year: paper(paper_id, title=title, abstract=abstract, year=year),
        _ids,
        st.sampled_from(["", "One", "Two"]),
        st.sampled_from(["First abstract.", "first  ABSTRACT.", "Second abstract.", "Third."]),
        st.sampled_from([None, 2025]),
    ),
    max_size=6,
)


@given(_abstracts, _texts, st.dictionaries(_texts.map(lambda key: f"x{key}"), _json, max_size=3))
@settings(deadline=None)
def test_any_text_survives_the_way_from_the_file_to_the_record(
    abstract: str, title: str, metadata: dict[str, object]
) -> None:
    record = {**metadata, "id": "p", "abstract": abstract, "title": title}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.jsonl")
        path.write_text(json.dumps(record, ensure_ascii=False) + "\n", encoding="utf-8", newline="")
        (read,) = read_papers(path)
    assert isinstance(read, Paper)
    assert read.abstract == abstract
    assert read.title == (title if title.strip() else "")
    assert read.metadata == metadata
    assert from_line(to_line(read)) == read
    assert to_line(read).count(b"\n") == 1


@given(st.text())
def test_cleaned_text_can_be_written_and_is_left_alone_the_second_time(text: str) -> None:
    cleaned = clean_text(text, set())
    cleaned.encode()
    changes: set[str] = set()
    assert clean_text(cleaned, changes) == cleaned
    assert not changes


@given(st.text(_storable, max_size=1500).map(lambda text: f"{text} word. ") | st.text("ab. ,\n", max_size=1500))
@settings(deadline=None)
def test_every_chunk_fits_and_is_a_part_of_the_abstract_and_together_they_hold_it(text: str) -> None:
    chunks = chunk_abstract(paper(abstract=text), chunk_tokens=24)
    rest, end = "", 0
    for chunk in chunks:
        assert chunk.span.start >= end
        assert text[chunk.span.start : chunk.span.end] == chunk.text
        assert count_tokens(chunk.text) <= 24
        rest += text[end : chunk.span.start]
        end = chunk.span.end
    assert not (rest + text[end:]).strip()


@given(_papers, _papers)
@settings(deadline=None)
def test_merging_twice_is_merging_once_and_its_numbers_add_up(before: list[Paper], incoming: list[Paper]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        empty = RecordFile(folder / "0", offsets=write_records(folder / "0", []))
        base = _merged(empty, before, folder / "1")
        once = _merged(base, incoming, folder / "2")
        again = merge(once, incoming, base_ids=_paper_ids(once), staging=folder / "again")
        assert not again.changes_anything
        assert again.unchanged + again.duplicates == len(incoming)
        merged = merge(base, incoming, base_ids=_paper_ids(base), staging=folder / "counts")
        assert merged.added + merged.replaced + merged.unchanged + merged.duplicates == len(incoming)
        assert len(set(_paper_ids(once))) == len(once)


def _merged(base: RecordFile, incoming: list[Paper], path: Path) -> RecordFile:
    merged = merge(base, incoming, base_ids=_paper_ids(base), staging=path.with_suffix(".staging"))
    return RecordFile(path, offsets=write_records(path, merged.lines()))


def _paper_ids(records: RecordFile) -> list[str]:
    return [paper_.paper_id for paper_ in records.papers()]


@given(_papers.filter(bool), _papers.filter(bool))
@settings(max_examples=5, deadline=None)
def test_ingesting_twice_is_ingesting_once(before: list[Paper], incoming: list[Paper]) -> None:
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        ingest_papers(home, "c", before, embedder=FakeEmbedder())
        once = ingest_papers(home, "c", incoming, embedder=FakeEmbedder())
        corpus = ensure_corpus(home, "c", embedder=FakeEmbedder())
        held = [corpus.paper(row) for row in range(len(corpus))]
        embedder = FakeEmbedder()
        again = ingest_papers(home, "c", incoming, embedder=embedder)
        assert (again.added, again.replaced, again.generation) == (0, 0, once.generation)
        assert embedder.embedded == []
        corpus = ensure_corpus(home, "c", embedder=FakeEmbedder())
        assert [corpus.paper(row) for row in range(len(corpus))] == held
