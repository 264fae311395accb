"""An answer that is kept as JSON is the same answer when it is read again."""

import json
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag.answer_json import answer_from_dict, whole_answer_to_dict
from rag.domain import (
    Answer,
    AnswerSentence,
    Citation,
    Evidence,
    Marker,
    Outcome,
    Paper,
    ScoredPaper,
    Span,
    Support,
    Timings,
    Usage,
)
from rag.errors import InputError
from tests.builders import answer

TEXT = st.text(max_size=12)
FILLED = st.text(min_size=1, max_size=12)
MILLISECONDS = st.none() | st.floats(0, 1e6)
TOKENS = st.none() | st.integers(0, 10_000)
SUPPORTS = st.sampled_from(get_args(Support))
SPANS = st.builds(Span, st.integers(0, 50), st.integers(0, 50))
NUMBERS = st.integers(1, 9)
PAPERS = st.lists(
    st.builds(
        Paper,
        paper_id=FILLED,
        title=TEXT,
        authors=st.lists(FILLED, max_size=2).map(tuple),
        abstract=FILLED,
        url=st.none() | FILLED,
        year=st.none() | st.integers(0, 9999),
        venue=st.none() | FILLED,
        arxiv_id=st.none() | FILLED,
        categories=st.lists(FILLED, max_size=2).map(tuple),
        metadata=st.dictionaries(st.sampled_from(["doi", "keywords"]), st.none() | TEXT | st.lists(TEXT, max_size=2)),
    ),
    min_size=1,
    max_size=4,
    unique_by=lambda one: one.paper_id,
)


@st.composite
def answers(draw: st.DrawFn) -> Answer:
    """Any answer, failed ones and such that make no sense included."""
    papers = st.sampled_from(draw(PAPERS))
    evidence = st.lists(SPANS, max_size=2).map(tuple)
    sentence = st.builds(
        AnswerSentence,
        TEXT,
        st.lists(NUMBERS, max_size=2).map(tuple),
        SUPPORTS,
        TEXT,
        st.lists(evidence, max_size=2).map(tuple),
        TEXT,
    )
    citation = st.builds(Citation, NUMBERS, papers, st.lists(st.builds(Evidence, TEXT, SPANS), max_size=2).map(tuple))
    hit = st.builds(ScoredPaper, papers, st.floats(0, 1), st.dictionaries(FILLED, st.floats(-50, 50), max_size=2))
    problem = draw(st.none() | TEXT)
    return Answer(
        question=draw(TEXT),
        searched=draw(TEXT),
        outcome=draw(st.sampled_from(get_args(Outcome))),
        text=draw(TEXT),
        sentences=tuple(draw(st.lists(sentence, max_size=3))),
        markers=tuple(draw(st.lists(st.builds(Marker, SPANS, NUMBERS), max_size=3))),
        citations=tuple(draw(st.lists(citation, max_size=3))),
        retrieved=tuple(draw(st.lists(hit, max_size=3))),
        writer=draw(TEXT),
        model=draw(st.none() | TEXT),
        prompt=draw(st.none() | TEXT),
        usage=draw(st.builds(Usage, TOKENS, TOKENS, st.integers(0, 9))),
        timings=draw(st.builds(Timings, MILLISECONDS, MILLISECONDS, MILLISECONDS)),
        removed_markers=draw(st.integers(0, 9)),
        notes=tuple(draw(st.lists(TEXT, max_size=2))),
        problem=problem,
        fix=None if problem is None else draw(TEXT),
        options=tuple(draw(st.lists(TEXT, max_size=2))),
    )


@settings(deadline=None)
@given(answers())
def test_a_kept_answer_is_read_as_it_was(given_answer: Answer) -> None:
    kept = json.dumps(whole_answer_to_dict(given_answer))
    assert answer_from_dict(json.loads(kept)) == given_answer


@pytest.mark.parametrize(
    "damage",
    [
        {"papers": {}},
        {"papers": None},
        {"outcome": "perhaps"},
        {"sentences": [{}]},
        {"markers": [[1]]},
        {"usage": {"tokens": 1}},
        {"retrieved": 5},
    ],
)
def test_a_damaged_answer_is_an_error_that_says_so(damage: dict[str, object]) -> None:
    with pytest.raises(InputError, match="damaged"):
        answer_from_dict(whole_answer_to_dict(answer()) | damage)
