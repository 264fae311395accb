"""Reviewing drafts: the way through them, correcting, taking back, what stays as it is, and what the page may ask."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evals.cases.suites import load_suite, own_suites
from evals.drafting.reviewing import TO_FILL_IN, Review, fields_of
from evals.running.errors import RunError
from rag.errors import InputError
from tests.eval_builders import TRACES
from ui.reviewing import drafts_in, reviewing_functions

ACCEPTED = '{"id": "old",  "type": "single", "question": "Old?", "papers": ["right"], "colour": 1}'
ONE = {"id": "one", "type": "single", "question": "What decays?", "papers": ["right"], "reviewed": False}
QUOTED = ONE | {
    "evidence": [{"paper": "right", "quote": "They need 22.3% less data."}],
    "nuggets": [{"fact": "a share", "aliases": ["22.3%"]}, {"fact": "groups", "all": [["x"], ["y"]]}],
}
TALK = {
    "id": "talk",
    "type": "followup",
    "turns": [
        {"user": "What is it?", "answer": "Traces.", "papers": ["right"]},
        {"user": "And then?", "standalone": "And traces then?", "papers": ["right", "gone"]},
    ],
    "reviewed": False,
}
FAR = {"id": "far", "type": "unanswerable", "kind": "far", "question": "Who <b>won</b>?", "reviewed": False}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = own_suites(tmp_path) / "mine.jsonl"
    path.parent.mkdir()
    path.write_text("\n".join([ACCEPTED, *(json.dumps(each) for each in (ONE, TALK, FAR))]))
    return path


def lines(file: Path) -> list[str]:
    return file.read_text().splitlines()


def record(file: Path, item_id: str) -> dict[str, Any]:
    return next(each for each in map(json.loads, lines(file)) if each["id"] == item_id)


def test_only_accepted_cases_are_in_a_suite(file: Path) -> None:
    suite = load_suite("mine", own=file.parent)
    assert ([item.id for item in suite.items], suite.drafts) == (["old"], 3)
    Review(file).accept("talk")
    assert [item.id for item in load_suite(str(file)).items] == ["old", "talk"]
    file.write_text(json.dumps(FAR))
    with pytest.raises(InputError, match="any of the 1 drafts"):
        load_suite(str(file))


def test_what_was_decided_comes_no_more_and_other_lines_stay_to_the_byte(file: Path) -> None:
    review, before = Review(file), lines(file)
    first = review.following()
    assert first is not None
    assert first.id == "one"
    review.accept("one")
    review.reject("talk")
    following = review.following("one")
    assert following is not None
    assert following.id == "far"
    assert review.following("far", skipped={"far"}) is None
    assert lines(file) == [before[0], json.dumps({k: v for k, v in ONE.items() if k != "reviewed"}), before[3]]
    assert (review.accepted(), len(review.drafts())) == (2, 1)


def test_what_was_decided_is_taken_back_last_first(file: Path) -> None:
    review, before = Review(file), lines(file)
    review.accept("one", {"question": "Another?"})
    review.reject("talk")
    review.reject("far")
    assert [review.take_back() for _ in range(4)] == ["far", "talk", "one", None]
    assert lines(file) == before


def test_texts_facts_and_papers_are_corrected_and_the_rest_is_kept(file: Path) -> None:
    file.write_text(json.dumps(QUOTED | {"nuggets": QUOTED["nuggets"][:1], "colour": 1}))  # type: ignore[index]
    (item,) = Review(file).drafts()
    assert {field.name: field.text for field in fields_of(item)} == {
        "question": "What decays?",
        "answer": "",
        "nuggets": "22.3%",
        "papers": "right",
    }
    fields = {"question": " What then? ", "nuggets": "22.3%; ?less data | fewer\n", "papers": "right;other", "id": "x"}
    Review(file).accept("one", fields)
    after = record(file, "one")
    assert (after["question"], after["papers"], after["colour"]) == ("What then?", ["right", "other"], 1)
    kept, new = after["nuggets"]
    assert kept["fact"] == "a share"
    assert new == {"fact": "less data", "aliases": ["less data", "fewer"], "vital": False}


def test_facts_that_no_line_can_tell_are_not_offered_and_stay(file: Path) -> None:
    file.write_text(json.dumps(QUOTED))
    review = Review(file)
    assert "nuggets" not in {field.name for field in fields_of(review.drafts()[0])}
    review.accept("one", {"nuggets": "", "question": "Q"})
    assert record(file, "one")["nuggets"] == QUOTED["nuggets"]


def test_turns_are_corrected_each_by_itself(file: Path) -> None:
    Review(file).accept("talk", {"turns.1.standalone": "And memory traces?", "turns.1.nuggets": "decay"})
    first, second = record(file, "talk")["turns"]
    assert first == TALK["turns"][0]  # type: ignore[index]
    assert (second["standalone"], second["nuggets"][0]["aliases"]) == ("And memory traces?", ["decay"])


@pytest.mark.parametrize(
    ("fields", "what"), [({"question": " "}, "question: "), ({"papers": ""}, "needs papers or nuggets")]
)
def test_what_would_be_no_case_stays_a_draft(file: Path, fields: dict[str, str], what: str) -> None:
    before = lines(file)
    with pytest.raises(InputError, match=what):
        Review(file).accept("one", fields)
    assert lines(file) == before


def test_a_fact_that_is_to_be_filled_in_is_asked_for(file: Path) -> None:
    file.write_text(json.dumps(ONE | {"nuggets": [{"fact": TO_FILL_IN, "aliases": [TO_FILL_IN]}]}))
    with pytest.raises(InputError, match="Nobody has said"):
        Review(file).accept("one")
    Review(file).accept("one", {"nuggets": "traces"})
    assert record(file, "one")["nuggets"][0]["fact"] == "traces"


def test_two_people_do_not_decide_on_one_draft(file: Path) -> None:
    one, other = Review(file), Review(file)
    one.reject("one")
    with pytest.raises(RunError, match="Somebody else"):
        other.accept("one")
    other.accept("far")
    assert one.take_back() == "one"
    assert [item.id for item in other.drafts()] == ["one", "talk"]


def test_a_csv_file_is_not_written_over(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no drafts"):
        Review(tmp_path / "gold.csv")


@pytest.fixture
def asks(file: Path) -> Callable[..., str]:
    """The page's requests."""
    papers = {TRACES.paper_id: TRACES}
    (function,) = reviewing_functions(file.parent, paper_of=papers.get)

    def ask(**request: Any) -> str:
        return "".join(function({"suite": "mine"} | request).values())

    return ask


def test_the_page_shows_a_draft_with_its_abstract_and_takes_corrections(asks: Callable[..., str], file: Path) -> None:
    file.write_text("\n".join(map(json.dumps, (QUOTED, TALK, FAR))))
    page = asks(action="open")
    assert "3 drafts left, 0 cases in mine" in page
    assert "<mark>They need 22.3% less data.</mark>" in page
    page = asks(action="accept", id="one", **{"field:question": "What decays fast?"})
    assert "Accepted." in page
    assert record(file, "one")["question"] == "What decays fast?"
    assert "does not hold the paper gone" in page
    page = asks(action="skip", id="talk")
    assert "Who &lt;b&gt;won&lt;/b&gt;?" in page
    assert 'data-id="talk"' in asks(action="reject", id="far")
    assert 'data-id="far"' in asks(action="undo")
    asks(action="reject", id="far")
    assert "The suite mine has 1 case." in asks(action="reject", id="talk")
    assert drafts_in(file.parent, "mine") == ""


@pytest.mark.parametrize("bad", [{"suite": "../mine"}, {"suite": "seed"}, {"suite": 3}, {"field:question": "x" * 4001}])
def test_a_request_for_no_suite_of_the_home_is_refused(asks: Callable[..., str], bad: dict[str, Any]) -> None:
    assert 'class="problem"' in asks(action="open", **bad)


def test_the_page_leaves_a_draft_that_would_be_no_case(asks: Callable[..., str], file: Path) -> None:
    before = lines(file)
    assert 'class="problem"' in asks(action="accept", id="one", **{"field:papers": " "})
    assert 'class="problem"' in asks(action="accept", id="nobody")
    assert lines(file) == before


def test_drafts_are_offered_where_there_are_some(file: Path) -> None:
    assert drafts_in(file.parent, "mine") == "mine"
    assert [drafts_in(file.parent, name) for name in ("seed", "", None)] == ["", "", ""]
    file.write_text("{")
    assert drafts_in(file.parent, "mine") == "mine"


def test_the_fault_of_a_file_is_told(asks: Callable[..., str], file: Path) -> None:
    file.write_text("{")
    assert "mine.jsonl:1: not JSON" in asks(action="open")
