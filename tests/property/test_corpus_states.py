"""A corpus through any run of ingests, removals, rebuilds, damage and searches, with a dictionary beside it."""

import shutil
import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from rag.backup import back_up, restore
from rag.corpus_folder import CorpusFolder
from rag.domain import Paper
from rag.errors import InputError
from rag.generation import verify_generation
from rag.ingest import ensure_corpus, ingest_files, ingest_papers, remove_papers
from rag.repair import repair_corpus
from tests.builders import paper
from tests.fake_embedder import FakeEmbedder

EMBEDDER = FakeEmbedder()
_ids = st.integers(0, 7)
_versions = st.integers(0, 2)
_batches = st.lists(st.tuples(_ids, _versions), min_size=1, max_size=4)
_DAMAGED = ("records.jsonl", "vectors.npy", "ids.json", "chunks.npy", "manifest.json")


def made(number: int, version: int) -> Paper:
    """Paper p<number>, a word of whose abstract tells number and version."""
    return paper(
        f"p{number}",
        title=f"Title{number}",
        abstract=f"Word{number}x{version} begins what number{number} says. It ends.",
        metadata={"version": version},
    )


class CorpusStates(RuleBasedStateMachine):
    """`model` is what the corpus must hold: papers by id, in the order in which their ids first came."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.home = self.folder / "home"
        self.model: dict[str, Paper] = {}

    def teardown(self) -> None:
        shutil.rmtree(self.folder)

    @rule(batch=_batches)
    def ingest(self, batch: list[tuple[int, int]]) -> None:
        before = dict(self.model)
        incoming = [made(number, version) for number, version in batch]
        self.model |= {one.paper_id: one for one in incoming}
        report = ingest_papers(self.home, "c", incoming, embedder=EMBEDDER, duplicates="keep")
        last = {one.paper_id: one for one in incoming}
        assert report.added == len(last.keys() - before.keys())
        assert report.unchanged == sum(before.get(key) == one for key, one in last.items())
        assert report.replaced == len(last) - report.added - report.unchanged
        assert report.duplicates == len(incoming) - len(last)

    @precondition(lambda self: self.model)
    @rule(number=_ids)
    def remove(self, number: int) -> None:
        paper_id = f"p{number}"
        try:
            remove_papers(self.home, "c", [paper_id], embedder=EMBEDDER)
        except InputError:
            assert paper_id not in self.model or len(self.model) == 1
        else:
            del self.model[paper_id]

    @precondition(lambda self: self.model)
    @rule()
    def rebuild(self) -> None:
        ingest_files(self.home, "c", [], embedder=EMBEDDER, rebuild=True)

    @precondition(lambda self: self.model)
    @rule(name=st.sampled_from(_DAMAGED), deep=st.booleans())
    def damage(self, name: str, deep: bool) -> None:
        folder = CorpusFolder(self.home, "c")
        served = folder.current()
        assert served is not None
        path = folder.generation(served.generation) / name
        path.write_bytes(path.read_bytes()[:-7])
        if deep:
            assert repair_corpus(self.home, "c", embedder=EMBEDDER).problems

    @precondition(lambda self: self.model)
    @rule()
    def back_up_and_restore(self) -> None:
        ensure_corpus(self.home, "c", embedder=EMBEDDER).close()
        target, other = self.folder / "c.zip", self.folder / "other"
        back_up(self.home, "c", target, embedder=EMBEDDER)
        shutil.rmtree(self.home)
        restore(other, target, embedder=EMBEDDER)
        other.rename(self.home)

    @precondition(lambda self: self.model)
    @rule(number=_ids)
    def search(self, number: int) -> None:
        corpus = ensure_corpus(self.home, "c", embedder=EMBEDDER)
        held = self.model.get(f"p{number}")
        words = held.abstract.split()[0] if held else f"Word{number}x0"
        found = [corpus.paper_ids[row] for row in corpus.keyword.search(words, n=1).paper_rows]
        corpus.close()
        assert found == ([held.paper_id] if held else [])

    @invariant()
    def it_holds_what_the_model_holds(self) -> None:
        if not self.model:
            return
        corpus = ensure_corpus(self.home, "c", embedder=EMBEDDER)
        assert {key: corpus.paper(row) for row, key in enumerate(corpus.paper_ids)} == self.model
        assert list(corpus.paper_ids) == list(self.model)
        assert verify_generation(corpus.folder, corpus.manifest) == ()
        corpus.close()


TestCorpusStates = CorpusStates.TestCase
TestCorpusStates.settings = settings(max_examples=6, stateful_step_count=12, deadline=None)
