"""Judging runs by a model: labels, controls, agreement, and when a gate may use it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evals.judging.asking import Opened, ask_judge, dollars
from evals.judging.calibration import Calibration, calibrate, find_calibration, save_calibration
from evals.judging.controls import change_number, make_controls, negate
from evals.judging.labels import Claim, SupportLabel, claims_of, read_labels, said_twice, settled, write_label
from evals.results.gate import judge
from evals.results.loading import Results
from evals.running.errors import RunError
from evals.running.log import Log
from evals.running.records import Calls, Sample
from evals.scoring import JUDGED, Known, metric_named
from evals.statistics.agreement import Pair, confusion, kappa
from evals.statistics.resampling import Interval
from rag.domain import AnswerSentence, Paper, Support, Usage
from rag.errors import EndpointError, InputError
from tests.eval_builders import OTHER, TRACES, UNANSWERABLE, answer, case, failed, missing_status, results

GIVEN = TRACES.abstract


class Scripted:
    """A judge that replies by the sentence, and remembers what it was asked."""

    label = "scripted, judge/v1@0"

    def __init__(self, replies: Mapping[str, Sequence[str | EndpointError]]) -> None:
        self._replies = {sentence: iter(said) for sentence, said in replies.items()}

    def judge(
        self, sentences: Sequence[AnswerSentence], *, papers: Mapping[int, Paper], until: float
    ) -> Iterator[str | Usage]:
        (sentence,) = sentences
        reply = next(self._replies.get(sentence.text, iter(["1: unsupported"])))
        if isinstance(reply, EndpointError):
            raise reply
        yield from (reply[:3], reply[3:], Usage(1, 1, 1))


def opened(**replies: Sequence[str | EndpointError]) -> Opened:
    return Opened(Scripted({text.replace("_", " "): said for text, said in replies.items()}), "judge at x", 5.0)


def claim(sentence: str, *papers: Paper) -> Claim:
    return Claim(sentence, papers or (TRACES,))


def label(sentence: str, said: Support, annotator: str = "a", paper: str = "right") -> SupportLabel:
    papers: Any = [{"id": paper, "title": "", "abstract": GIVEN}]
    own = claim(sentence, replace(TRACES, paper_id=paper)).claim_id
    return SupportLabel(id=own, annotator=annotator, sentence=sentence, papers=papers, label=said)


@pytest.mark.parametrize(
    ("sentence", "false"),
    [
        ("Traces are short.", "Traces are not short."),
        ("Traces do not decay.", "Traces do decay."),
        ("CoLA outperforms all.", "CoLA does not outperform all."),
        ("They improve it.", "They do not improve it."),
        ("Hm.", None),
    ],
)
def test_a_sentence_is_negated_where_that_is_plain(sentence: str, false: str | None) -> None:
    assert negate(sentence) == false


@pytest.mark.parametrize(
    ("sentence", "false"),
    [
        ("From 3 to 22.3% less.", "From 22.3 to 3% less."),
        ("They need 22.3% less.", "They need 52.3% less."),
        ("GPT-4 and v2 decay.", None),
        ("They need 3 and 3.", "They need 6 and 3."),
    ],
)
def test_numbers_are_exchanged_or_made_others_that_the_abstract_lacks(sentence: str, false: str | None) -> None:
    assert change_number(sentence, given=GIVEN) == false


def test_controls_keep_the_papers() -> None:
    made = list(make_controls([claim("They need 22.3% less."), claim("Hm.")]))
    assert [(each.kind, each.claim.papers) for each in made] == [("number", (TRACES,))]


def test_kappa_is_cohens() -> None:
    # Cohen 1960's form on 50 pairs: 20 + 15 agree; chance (25 * 30 + 25 * 20) / 2500 = 0.5; (0.7 - 0.5) / 0.5
    pairs = [Pair("y", "y", str(n)) for n in range(20)] + [Pair("n", "n", str(n)) for n in range(15)]
    pairs += [Pair("y", "n", str(n)) for n in range(5)] + [Pair("n", "y", str(n)) for n in range(10)]
    found = kappa(pairs, labels=("y", "n"))
    assert found is not None
    assert found.value == pytest.approx(0.4)
    assert found.low is not None
    assert found.high is not None
    assert found.low < 0.4 < found.high
    assert confusion(pairs, labels=("y", "n")) == ((20, 5), (10, 15))


def test_kappa_is_undefined_where_all_say_one_thing_or_nobody_anything() -> None:
    assert kappa([Pair("y", "y")] * 5, labels=("y", "n")) is None
    assert kappa([], labels=("y", "n")) is None
    assert kappa([Pair("y", "y", "a"), Pair("n", "n", "b")], labels=("y", "n")) == Interval(1.0, None, None)


def test_an_unreadable_reply_is_asked_for_once_more_and_a_fault_is_told() -> None:
    fault = EndpointError("Down.", fix="Up.", kind="unreachable")
    asked = [claim("good"), claim("odd"), claim("worse"), claim("down")]
    verdicts = ask_judge(
        asked, opened=opened(good=["1: supported"], odd=["Sure!", "1: partly"], worse=["7", "no"], down=[fault])
    )
    assert [(each.support, each.reason) for each in verdicts] == [
        ("supported", ""),
        ("partly", ""),
        (None, "parse"),
        (None, "unreachable"),
    ]
    assert dollars(verdicts) == 0.0


def test_labels_are_written_read_and_settled(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    one, two = claim("Traces decay."), claim("They grow.", OTHER)
    with Log(path) as log:
        write_label(log, one, annotator="a", label="supported")
        write_label(log, two, annotator="a", label="supported")
        write_label(log, two, annotator="b", label="unsupported")
        write_label(log, one, annotator="a", label="partly")  # thought better of it
    labels = read_labels(path)
    assert [(each.sentence, said) for each, said in settled(labels)] == [("Traces decay.", "partly")]
    assert said_twice(labels) == [("supported", "unsupported")]
    path.write_text('{"id": "x", "annotator": "a", "sentence": "s", "papers": [], "label": "maybe"}\n')
    with pytest.raises(InputError, match=r"labels\.jsonl:1 papers"):
        read_labels(path)
    with pytest.raises(InputError, match="no file"):
        read_labels(tmp_path / "none.jsonl")


def test_claims_are_the_cited_sentences_each_once() -> None:
    said = answer("Traces decay.", ("Hm.", ()), ("Both.", (1, 2)), papers=(TRACES, OTHER))
    samples = [Sample("a", 0, said, Calls()), Sample("a", 1, said, Calls()), Sample("b", 0, failed(), Calls())]
    assert [each.key for each in claims_of(samples)] == [("Traces decay.", ("right",)), ("Both.", ("right", "wrong"))]


def test_a_calibration_counts_agreement_and_controls() -> None:
    labels = [label(f"It is {n}", "supported", paper=f"p{n}") for n in range(4)]
    labels += [label(f"No {n}", "unsupported", paper=f"q{n}") for n in range(3)] + [
        label("It is 0", "partly", "b", "p0")
    ]
    replies = {f"It_is_{n}": ["1: supported"] for n in range(1, 4)} | {"No_2": ["1: supported"], "No_1": ["?", "?"]}
    replies |= {"It_is_not_1": ["1: supported"]}
    found = calibrate(labels, opened=opened(**replies), jobs=2)
    assert found.judged == 5  # of 7 claims one is a tie, one has no verdict
    assert found.table == ((3, 0, 0), (0, 0, 0), (1, 0, 1))
    assert found.kappa is not None
    assert found.kappa.value == pytest.approx((4 / 5 - (3 * 4 + 2 * 1) / 25) / (1 - 14 / 25))
    assert found.caught == {"negated": (2, 3), "number": (3, 3)}
    assert found.unscored == {"parse": 1}
    assert found.doubts()[0] == "5 labels, 100 are needed"


TRUSTED = Calibration(
    judge="judge at x",
    labels="0",
    judged=100,
    kappa=Interval(0.6, 0.4, 0.8),
    human=None,
    table=((50, 0, 0), (0, 0, 0), (0, 0, 50)),
    caught={"negated": (8, 10), "number": (10, 10)},
    unscored={},
    dollars=None,
)


@pytest.mark.parametrize(
    ("changes", "doubt"),
    [
        ({}, None),
        ({"judged": 99}, "99 labels"),
        ({"kappa": Interval(0.59, 0.4, 0.8)}, "kappa is 0.59"),
        ({"kappa": None}, "undefined"),
        ({"caught": {"negated": (7, 10), "number": (10, 10)}}, "7 of 10 negated"),
        ({"caught": {"negated": (8, 10), "number": (0, 0)}}, "0 of 0 number"),
    ],
)
def test_a_gate_uses_a_judge_only_if_it_agrees_with_people(changes: dict[str, Any], doubt: str | None) -> None:
    found = results({"a": {JUDGED: 1.0, "failures": 0.0}})
    judged = Results(found.name, found.about | {"judged_by": "judge at x"}, found.cases, found.scores, {})
    verdict = judge(judged, floors={"all": {JUDGED: 0.9}}, calibration=replace(TRUSTED, **changes))
    told = [rule.told for rule in verdict.broken]
    assert (doubt is None) == (not told)
    assert doubt is None or doubt in told[0]
    assert verdict.exit_code == (2 if doubt else 0)


def test_a_floor_on_a_judge_needs_one_and_others_do_not() -> None:
    found = results({"a": {"failures": 0.0, "accuracy": 1.0}})
    (rule,) = judge(found, floors={"all": {JUDGED: 0.9}}).broken
    assert "needs a judge" in rule.told
    assert judge(found, floors={"all": {"accuracy": 0.9}}).broken == ()
    judged = Results(found.name, found.about | {"judged_by": "j"}, found.cases, found.scores, {})
    (rule,) = judge(judged, floors={"all": {JUDGED: 0.9}}).broken
    assert "not calibrated" in rule.told


def test_a_calibration_is_found_for_exactly_its_judge(tmp_path: Path) -> None:
    path = save_calibration(TRUSTED, tmp_path)
    assert find_calibration(tmp_path, "judge at x") == TRUSTED
    assert find_calibration(tmp_path, "judge at y") is None
    path.write_text("{}")
    with pytest.raises(RunError, match="damaged"):
        find_calibration(tmp_path, "judge at x")


def test_judged_support_is_scored_from_the_verdicts() -> None:
    measure = metric_named(JUDGED).measure
    said = answer("Traces decay.", "They grow.", ("Hm.", ()))
    assert measure(case(), said, Known()) is None
    key = ("right",)
    known = Known(verdicts={("Traces decay.", key): "supported", ("They grow.", key): "partly"})
    score = measure(case(), said, known)
    assert score is not None
    assert score.value == 0.75
    assert missing_status(measure(case(), said, Known(verdicts={("Traces decay.", key): "supported"}))) == "missing"
    nothing = measure(case(), failed(), known)
    assert nothing is not None
    assert nothing.value == 0
    assert measure(case(**UNANSWERABLE), answer(), known) is None
