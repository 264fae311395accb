"""Small corpora on disk, made with the embedder that needs no model."""

from collections.abc import Iterable
from pathlib import Path

from rag.domain import Paper
from rag.ingest import IngestReport, ensure_corpus, ingest_papers
from tests.builders import paper
from tests.fake_embedder import FakeEmbedder


def some_papers(numbers: Iterable[int]) -> list[Paper]:
    """Papers p0, p1, ... of two sentences each."""
    return [
        paper(f"p{number}", title=f"Title {number}", abstract=f"Abstract {number} begins. It ends.")
        for number in numbers
    ]


def held(home: Path, name: str = "c") -> dict[str, Paper]:
    """What a corpus holds, by id and in its order."""
    corpus = ensure_corpus(home, name, embedder=FakeEmbedder())
    return {paper_id: corpus.paper(row) for row, paper_id in enumerate(corpus.paper_ids)}


def ingest(home: Path, papers: Iterable[Paper], *, embedder: FakeEmbedder | None = None) -> IngestReport:
    """Ingests `papers` into the corpus c."""
    return ingest_papers(home, "c", papers, embedder=embedder or FakeEmbedder())
