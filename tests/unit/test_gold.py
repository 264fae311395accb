"""Gold cases, the matching of facts, and the scores of answers, each on hand-made values."""

import json
from pathlib import Path
from typing import Any

import pytest

from evals import scorers
from evals.answers import SCORES, Sample, summarise
from evals.cases import Case, load_cases
from evals.textmatch import matches_nugget, says
from rag.domain import (
    Answer,
    AnswerSentence,
    Citation,
    Evidence,
    Outcome,
    Span,
    Timings,
    Turn,
    Usage,
)
from rag.errors import InputError
from tests.builders import paper, scored

TRACES = paper("right", abstract="Traces decay. They need 22.3% less data.")
OTHER = paper("wrong", abstract="Windows forget.")


def answer(*said: str, outcome: Outcome = "answered", cites: Any = TRACES) -> Answer:
    """An answer whose sentences all cite one paper, with its first sentence as evidence."""
    citation = Citation(1, cites, (Evidence(cites.abstract[:13], Span(0, 13)),))
    return Answer(
        question="q",
        searched="q",
        outcome=outcome,
        text=" ".join(said),
        sentences=tuple(AnswerSentence(text, (1,), "supported", "") for text in said),
        markers=(),
        citations=(citation,) if said else (),
        retrieved=(scored(cites), scored(OTHER)),
        writer="extractive",
        model=None,
        prompt=None,
        usage=Usage(),
        timings=Timings(total_ms=10.0),
    )


def case(*nuggets: dict[str, Any], papers: frozenset[str] = frozenset({"right"}), kind: str = "single/method") -> Case:
    return Case("c", kind, "q", (), True, nuggets, papers)


@pytest.mark.parametrize(
    ("text", "phrase", "expected"),
    [
        ("An error-bound holds", "error bound", True),
        ("We optimised it", "optimis", True),
        ("a subset", "set", False),
        ("opti- mizing it", "optimizing", True),
        (r"an \emph{inverse} **model**", "inverse model", True),
        ("7.66$\\times$ faster", "7.66x", True),
        ("", "x", False),
    ],
)
def test_a_phrase_is_said_from_a_word_boundary_on_whatever_the_markup(text: str, phrase: str, expected: bool) -> None:
    assert says(text, phrase) is expected


def test_a_nugget_needs_one_alias_or_one_phrase_of_each_group() -> None:
    nugget = {"aliases": ["moving averages"], "all": [["trace"], ["decay", "fade"]]}
    assert matches_nugget("They are moving averages.", nugget)
    assert matches_nugget("The traces fade.", nugget)
    assert not matches_nugget("The traces stay.", nugget)
    assert not matches_nugget("", {"aliases": []})


def test_vital_facts_are_counted_and_others_are_not() -> None:
    facts = (
        {"aliases": ["decay"], "vital": True},
        {"aliases": ["22.3%"], "vital": True},
        {"aliases": ["x"], "vital": False},
    )
    assert scorers.vital_nugget_recall(case(*facts), answer("Traces decay.")) == 0.5
    assert scorers.vital_nugget_recall(case(*facts), answer(outcome="not_in_corpus")) == 0
    assert scorers.vital_nugget_recall(case(), answer("Traces decay.")) is None


def test_citations_are_scored_by_paper() -> None:
    assert scorers.first_citation_right(case(), answer("A.")) == 1
    assert scorers.first_citation_right(case(), answer("A.", cites=OTHER)) == 0
    assert scorers.first_citation_right(case(), answer()) == 0
    assert scorers.first_citation_right(case(papers=frozenset()), answer("A.")) is None
    assert scorers.first_retrieved_right(case(), answer("A.", cites=OTHER)) == 0
    both = case(papers=frozenset({"right", "third"}))
    assert scorers.cited_recall(both, answer("A.")) == 0.5
    assert scorers.cited_precision(both, answer("A.", cites=OTHER)) == 0
    assert scorers.cited_precision(both, answer()) is None


def test_quotes_are_verbatim_or_not() -> None:
    assert scorers.quotes_verbatim(answer("Traces decay.")) == 1
    assert scorers.quotes_verbatim(answer("Traces decay!")) == 0.5  # the evidence still is
    assert scorers.quotes_verbatim(answer()) is None


def write(folder: Path, *items: Any) -> Path:
    file = folder / "gold.jsonl"
    file.write_text("\n".join(item if isinstance(item, str) else json.dumps(item) for item in items))
    return file


SINGLE = {
    "id": "a",
    "type": "single",
    "kind": "method",
    "question": "What?",
    "answerable": True,
    "nuggets": [],
    "papers": ["p"],
    "variants": {"de": "Was?"},
}
TURN = {"user": "Which?", "answer": "CoLA.", "answerable": True, "nuggets": [], "papers": ["p"]}
FOLLOWUP = {
    "id": "f",
    "type": "followup",
    "kind": "pronoun",
    "turns": [TURN, TURN | {"user": "And it?", "answerable": False}],
}


def test_variants_and_turns_are_cases_of_their_own(tmp_path: Path) -> None:
    cases = load_cases(write(tmp_path, SINGLE, "", FOLLOWUP))
    assert [(c.case_id, c.kind, c.question) for c in cases] == [
        ("a", "single/method", "What?"),
        ("a-de", "variant-de", "Was?"),
        ("f-1", "followup/first", "Which?"),
        ("f-2", "followup/later", "And it?"),
    ]
    assert cases[3].history == (Turn("Which?", "CoLA."),)
    assert not cases[3].answerable


@pytest.mark.parametrize("bad", ["{broken", "[]", '{"id": "x", "type": "single"}'])
def test_a_bad_case_is_named_by_its_line(tmp_path: Path, bad: str) -> None:
    with pytest.raises(InputError, match=r"gold\.jsonl:2 "):
        load_cases(write(tmp_path, SINGLE, bad))


def test_a_summary_has_the_means_of_what_could_be_scored_and_counts_failures() -> None:
    samples = [
        Sample(case(), answer("A."), dict.fromkeys(SCORES, 1.0)),
        Sample(case(), answer("A.", outcome="failed"), dict.fromkeys(SCORES, None)),
        Sample(case(kind="unanswerable/near-fp"), answer(), dict.fromkeys(SCORES, 0.0)),
    ]
    single, near = summarise(samples)
    assert (single.group, single.questions, single.failed, single.means["refused"]) == ("single", 2, 1, 1.0)
    assert (near.group, near.means["refused"]) == ("unanswerable near", 0.0)
