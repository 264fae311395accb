"""Adding to a served corpus and removing from it: library, command line and page, on a real corpus."""

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rag.assistant import Assistant
from rag.cli import app
from rag.domain import Paper
from rag.errors import InputError
from tests.builders import paper
from ui.corpus_changes import MAX_PASTED_CHARS, MAX_UPLOAD_BYTES, CorpusChanges, Done, Step

RECORD = {
    "id": "zeta-1",
    "title": "Zetafold: Folding Quantum Maps",
    "abstract": "Zetafold folds quantum maps in 17 steps. It needs no supervision at all.",
    "year": 2024,
}


@pytest.fixture
def own(seed_home: Path, tmp_path: Path) -> Assistant:
    """An assistant on a corpus of its own, which may be changed."""
    shutil.copytree(seed_home, tmp_path / "own")
    return Assistant.open(home=tmp_path / "own", writer="extractive")


def last(items: object) -> object:
    """What a change gives."""
    *steps, done = items  # type: ignore[misc]
    assert all(isinstance(step, Step) for step in steps)
    assert isinstance(done, Done)
    return done.value


def test_a_pasted_record_is_asked_about_at_once_removed_and_taken_back(own: Assistant) -> None:
    changes = CorpusChanges(own)
    report = last(changes.add_text(json.dumps(RECORD) + '\n{"id": "bad"}\nnot json'))
    assert (report.added, report.total) == (1, 20)  # type: ignore[attr-defined]
    told = [(reject.file, reject.line, reject.reason) for reject in report.rejects]  # type: ignore[attr-defined]
    assert told[0] == ("pasted text", 2, "no abstract")
    assert told[1][:2] == ("pasted text", 3)
    answer = own.ask("In how many steps does Zetafold fold quantum maps?")
    assert answer.citations[0].paper.paper_id == "zeta-1"
    row = own.corpus.row_of("zeta-1")
    assert row is not None
    assert last(changes.remove(own.corpus.paper(row))) == 19
    assert own.corpus.row_of("zeta-1") is None
    assert own.ask("In how many steps does Zetafold fold quantum maps?").outcome == "not_in_corpus"
    last(changes.restore("zeta-1"))
    assert own.corpus.row_of("zeta-1") is not None
    assert Assistant.open(home=own.corpus.folder.parents[2], writer="extractive").corpus.row_of("zeta-1") is not None


def test_uploaded_files_are_read_and_deleted(own: Assistant, tmp_path: Path) -> None:
    good, bad = tmp_path / "good.jsonl", tmp_path / "bad.pdf"
    good.write_text(json.dumps(RECORD))
    last(CorpusChanges(own).add_files([good]))
    assert not good.exists()
    bad.write_bytes(b"%PDF-1.4")
    with pytest.raises(InputError) as raised:
        last(CorpusChanges(own).add_files([bad]))
    assert "bad.pdf" in raised.value.problem
    assert str(tmp_path) not in f"{raised.value.problem} {raised.value.fix}"
    assert not bad.exists()


def test_what_is_empty_or_too_large_is_refused(own: Assistant, tmp_path: Path) -> None:
    changes = CorpusChanges(own)
    for text, told in ((" \n", "Nothing was pasted"), ("x" * (MAX_PASTED_CHARS + 1), "characters")):
        with pytest.raises(InputError, match=told):
            last(changes.add_text(text))
    large = tmp_path / "large.jsonl"
    with large.open("wb") as file:
        file.truncate(MAX_UPLOAD_BYTES + 1)
    with pytest.raises(InputError, match="20,000,001 bytes"):
        last(changes.add_files([large]))
    assert not large.exists()
    with pytest.raises(InputError, match="not kept"):
        changes.restore("unknown")


def test_similar_papers_are_near_and_never_the_paper_itself(assistant: Assistant) -> None:
    corpus = assistant.corpus
    row = corpus.row_of("cEhLObwvvu")  # on aligning language models at inference time
    assert row is not None
    near = corpus.similar(row, n=5)
    assert len(set(near)) == 5
    assert row not in near
    titles = [corpus.paper(other).title for other in near[:3]]
    assert any("Language Model" in title or "LLM" in title for title in titles)
    assert abs(float(corpus.paper_vector(row) @ corpus.paper_vector(row)) - 1) < 1e-5


def test_the_command_removes_papers_and_asks_first(own: Assistant) -> None:
    own.add_papers([_paper("a"), _paper("b")])
    home = str(own.corpus.folder.parents[2])
    runner = CliRunner()
    refused = runner.invoke(app, ["corpus", "remove", "a", "--home", home], input="n\n")
    assert refused.exit_code == 1
    done = runner.invoke(app, ["corpus", "remove", "a", "b", "--home", home, "--yes"])
    assert done.exit_code == 0, done.output
    assert "19 papers" in done.output
    own.refresh()
    assert own.corpus.row_of("a") is None
    unknown = runner.invoke(app, ["corpus", "remove", "a", "--home", home, "--yes"])
    assert "no paper a" in str(unknown.exception)


def _paper(paper_id: str) -> Paper:
    return paper(paper_id, title=f"Title {paper_id}", abstract=f"Abstract {paper_id} begins. It ends.")
