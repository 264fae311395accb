"""Labelling sentences: the way through them, taking back, agreement with the check, and what the page may ask."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evals.judging.labelling import Labelling
from evals.judging.labels import Checked, checked_of, labels_in, read_labels
from evals.running.errors import RunError
from evals.running.folder import RunFolder
from evals.running.records import Calls, Sample, papers_of, sample_record
from rag.domain import Span
from rag.errors import InputError
from rag.records import to_line
from tests.eval_builders import OTHER, TRACES, answer
from ui.labelling import labelling_functions

SAID = ["Traces decay.", "They need less data.", "It is called CoLA.", "Both forget."]


def sample() -> Sample:
    """Three sentences that the check supports and one that it does not, with evidence."""
    given = answer(*SAID[:3], (SAID[3], (1, 2)), papers=(TRACES, OTHER))
    sentences = [replace(each, evidence=((Span(0, 13),), ())[: len(each.citations)]) for each in given.sentences]
    sentences[3] = replace(sentences[3], support="unsupported", reason="no abstract says <b>both</b>")
    return Sample("c", 0, replace(given, sentences=tuple(sentences)), Calls())


@pytest.fixture
def labelling(tmp_path: Path) -> Callable[..., Labelling]:
    def opened(annotator: str = "ann", **options: Any) -> Labelling:
        return Labelling(checked_of([sample()]), file=tmp_path / "labels.jsonl", annotator=annotator, **options)

    return opened


def name(sentence: Checked | None) -> str:
    assert sentence is not None
    return sentence.claim.sentence


def test_what_was_labelled_is_not_asked_again_and_the_order_stays(labelling: Callable[..., Labelling]) -> None:
    first = labelling()
    shown = []
    for _ in range(2):
        sentence = first.following()
        assert sentence is not None
        shown.append(name(sentence))
        first.say(sentence, "partly")
    again = labelling()
    assert (len(again.said), len(again)) == (2, 4)
    assert name(again.following()) == name(first.following()) not in shown
    assert name(labelling("bob").following()) == shown[0]


def test_a_skipped_sentence_comes_again_at_the_end(labelling: Callable[..., Labelling]) -> None:
    own = labelling()
    first = own.following()
    assert first is not None
    seen, sentence = [], own.following(first.claim.claim_id)
    while sentence is not None and sentence != first:
        seen.append(name(sentence))
        own.say(sentence, "supported")
        sentence = own.following(sentence.claim.claim_id)
    assert (len(seen), sentence) == (3, first)
    assert own.following(first.claim.claim_id, skipped=[first.claim.claim_id]) is None


def test_the_last_word_is_taken_back_from_the_file_too(labelling: Callable[..., Labelling], tmp_path: Path) -> None:
    own, bob = labelling(), labelling("bob")
    assert own.take_back() is None
    one = own.following()
    assert one is not None
    two = own.following(one.claim.claim_id)
    assert two is not None
    own.say(one, "supported")
    own.say(two, "partly")
    bob.say(two, "supported")
    assert own.take_back() == two
    assert labelling().said == {one.claim.claim_id: "supported"}
    assert [label.annotator for label in read_labels(tmp_path / "labels.jsonl")] == ["ann", "bob"]
    assert own.take_back() == one
    assert own.take_back() is None


def test_a_file_whose_labels_were_all_taken_back_holds_none(
    labelling: Callable[..., Labelling], tmp_path: Path
) -> None:
    own = labelling()
    sentence = own.following()
    assert sentence is not None
    own.say(sentence, "partly")
    own.take_back()
    assert labels_in(tmp_path / "labels.jsonl") == []
    with pytest.raises(InputError, match="holds no label"):
        read_labels(tmp_path / "labels.jsonl")


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    own = Labelling(checked_of([sample()]), file=tmp_path / "file" / "labels.jsonl", annotator="ann")
    sentence = own.following()
    assert sentence is not None
    with pytest.raises(RunError, match="cannot be written"):
        own.say(sentence, "partly")


def test_the_agreement_is_that_of_the_check_with_what_people_said(labelling: Callable[..., Labelling]) -> None:
    own = labelling()
    for sentence in checked_of([sample()]):
        own.say(sentence, "supported" if name(sentence) in SAID[:2] else "unsupported")
    found, human = own.agreement()
    assert found.table == ((2, 0, 0), (0, 0, 0), (1, 0, 1))
    assert found.kappa is not None
    assert found.kappa.value == pytest.approx((3 / 4 - (2 * 3 + 2 * 1) / 16) / (1 - 8 / 16))
    assert human is None


@pytest.fixture
def asks(tmp_path: Path) -> Callable[..., str]:
    """The page's requests to a run of one answer, below `tmp_path`/runs."""
    run = RunFolder(tmp_path / "runs" / "r1")
    run.path.mkdir(parents=True)
    item = {"id": "c", "type": "single", "question": "q", "papers": ["right"]}
    (run.path / "cases.jsonl").write_text(json.dumps(item) + "\n")
    identity = dict.fromkeys(IDENTITY) | {"prompts": [], "settings": {}, "repeats": 1}
    (run.path / "run.json").write_text(json.dumps({"identity": identity}))
    (run.path / "samples.jsonl").write_text(json.dumps(sample_record(sample())) + "\n")
    (run.path / "papers.jsonl").write_bytes(b"".join(map(to_line, set_of(papers_of(sample().answer)))))
    (function,) = labelling_functions(tmp_path / "runs", annotator="ann")

    def ask(**request: Any) -> str:
        return "".join(function({"run": "r1"} | request).values())

    return ask


IDENTITY = "suite gold limit repeats corpus papers embedding writer model endpoint prompts judge settings code".split()


def set_of(papers: Any) -> list[Any]:
    return list({each.paper_id: each for each in papers}.values())


def shown(page: str) -> str:
    return page.split('data-id="')[1].split('"')[0]


def test_the_page_hides_the_verdict_until_one_has_chosen(asks: Callable[..., str], tmp_path: Path) -> None:
    page, ids = asks(action="open"), []
    for number in range(4):
        assert f"{number} of 4 sentences labelled" in page
        asked = page.split('<article class="claim shown"')[1]
        assert "no abstract says" not in asked
        assert "verbatim" not in asked
        assert "<mark>" in asked
        ids.append(shown(page))
        page = asks(action="say", id=ids[-1], label="supported", annotator=" ")
        assert "What the check says" in page
    assert len(set(ids)) == 4
    assert "4 of 4" in page
    assert "kappa, supported or not" in page
    labels = read_labels(tmp_path / "runs" / "r1" / "labels.jsonl")
    assert [(label.id, label.annotator) for label in labels] == [(each, "ann") for each in ids]
    undone = asks(action="undo")
    assert (shown(undone), "3 of 4" in undone) == (ids[-1], True)
    assert "<b>both" not in undone


def test_the_page_says_nothing_for_what_it_does_not_know(asks: Callable[..., str], tmp_path: Path) -> None:
    asks(action="say", id="nobody", label="supported")
    asks(action="say", id=shown(asks(action="open")), label="perhaps")
    asks(action="drop", id=shown(asks(action="open")))
    assert not (tmp_path / "runs" / "r1" / "labels.jsonl").exists()


@pytest.mark.parametrize(
    "request_", [{"run": "r"}, {"run": "../runs/r1"}, {"run": 3}, {"id": "x" * 201}, {"run": "last"}]
)
def test_a_request_for_what_is_no_run_is_refused(asks: Callable[..., str], request_: dict[str, Any]) -> None:
    assert 'class="problem"' in asks(action="open", **request_)
