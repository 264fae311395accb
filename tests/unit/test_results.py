"""Summaries, comparisons, gates, JUnit and power, on results whose figures are known."""

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from evals.results.comparison import compare
from evals.results.gate import judge, load_floors
from evals.results.junit import write_junit
from evals.results.loading import Results, headline
from evals.results.power import power_of
from evals.results.summary import ALL, cell_of, robustness, summarise
from evals.running.errors import RunError
from evals.scoring import Score, metric_named
from evals.scoring.score import empty, missing
from rag.errors import SettingsError
from tests.eval_builders import UNANSWERABLE, case, results


def many(value_of: dict[int, float], *, metric: str = "nugget_recall", n: int = 40, name: str = "run") -> Results:
    """`n` cases with value 1 but where `value_of` says otherwise, four a paper, and accuracy alike."""
    scores = {
        f"q{place}": {metric: value_of.get(place, 1.0), "accuracy": float(value_of.get(place, 1.0) >= 1)}
        for place in range(n)
    }
    cases = {name: case(case_id=name, cluster=f"p{place // 4}") for place, name in enumerate(scores)}
    return results(scores, name=name, **cases)


def test_repeats_are_averaged_before_cases() -> None:
    both = results({"a": {"accuracy": 1.0}, "b": {"accuracy": 0.0}})
    repeated = Results(both.name, both.about, both.cases, {**both.scores, ("a", 1): {"accuracy": Score(0.0, "")}}, {})
    values = {item.case_id: (item.value, item.weight) for item in repeated.observations("accuracy", keep=headline)}
    assert values == {"a": (0.5, 1.0), "b": (0.0, 1.0)}


def test_what_cannot_be_scored_is_counted_with_its_reason_and_leaves_the_mean() -> None:
    found = results(
        {
            "a": {"number_precision": 1.0},
            "b": {"number_precision": empty("no numbers")},
            "c": {"number_precision": missing("the corpus does not hold x")},
        }
    )
    cell = cell_of(found, metric_named("number_precision"), keep=headline)
    assert cell is not None
    assert cell.interval is not None
    assert (cell.cases, cell.interval.value) == (1, 1.0)
    assert cell.empty == {"no numbers": 1}
    assert cell.missing == {"the corpus does not hold x": 1}
    assert cell_of(found, metric_named("recall@5"), keep=headline) is None


def test_a_summary_has_groups_and_leaves_variants_out_of_all() -> None:
    found = results(
        {"a": {"accuracy": 1.0}, "a-de": {"accuracy": 0.0}, "u": {"accuracy": 1.0}},
        **{"a-de": case(case_id="a-de", variant="de", clean="a"), "u": case(case_id="u", **UNANSWERABLE)},
    )
    summary = summarise(found)
    assert summary.counts == {ALL: 2, "single": 1, "variant de": 1, "unanswerable near": 1}
    (row,) = summary.rows
    assert {name: cell.cases for name, cell in row.cells.items()} == summary.counts


def test_a_variants_loss_is_paired_and_a_turns_is_to_its_standalone_form() -> None:
    found = results(
        {
            "a": {"accuracy": 1.0},
            "b": {"accuracy": 0.0},
            "a-de": {"accuracy": 0.0},
            "t": {"accuracy": 0.0},
            "t-s": {"accuracy": 1.0},
        },
        **{
            "a-de": case(case_id="a-de", variant="de", clean="a"),
            "t-s": case(case_id="t-s", variant="standalone", clean="t"),
        },
    )
    german, turn = robustness(found)
    assert (german.variant, german.difference.value, german.worst_case) == ("de", -1.0, "a-de")
    assert (turn.variant, turn.difference.value, turn.worst_case) == ("follow-up", -1.0, "t")


def test_a_comparison_is_paired_corrected_and_names_what_flipped() -> None:
    before = many({}, name="old")
    after = many({0: 0.0, 1: 0.0, 2: 0.0, 5: 0.0, 9: 0.0, 13: 0.0}, name="new")
    comparison = compare(before, after)
    row = comparison.row("nugget_recall")
    assert row is not None
    assert (row.cases, row.clusters, row.before) == (40, 10, 1.0)
    assert row.difference.value == pytest.approx(-0.15)
    assert row.difference.high is not None
    assert row.difference.high < 0
    assert row.adjusted_p == pytest.approx(row.difference.p)  # the only primary here
    assert [flip.case.case_id for flip in comparison.flips] == ["q0", "q1", "q2", "q5", "q9", "q13"]
    assert all(flip.is_worse for flip in comparison.flips)
    assert (comparison.flips[0].before, comparison.flips[0].after) == ("accuracy is 1.0", "accuracy is 0.0")


def test_slices_are_shrunken_towards_the_whole() -> None:
    kinds = {
        f"q{n}": case(case_id=f"q{n}", cluster=f"p{n}", kind="single/b" if n == 7 else "single/a") for n in range(40)
    }
    before = results({name: {"accuracy": 1.0} for name in kinds}, **kinds)
    values = {name: {"accuracy": float(place not in {3, 7, 11, 20})} for place, name in enumerate(kinds)}
    slices = {part.name: part for part in compare(before, results(values, **kinds)).slices if part.dimension == "kind"}
    assert slices["single/b"].difference.raw == -1
    assert -0.95 < slices["single/b"].difference.value < -0.1
    assert slices["single/a"].cases == 39


def test_only_cases_of_both_runs_that_are_asked_alike_are_compared() -> None:
    before = results({"a": {"accuracy": 1.0}, "b": {"accuracy": 1.0}, "x": {"accuracy": 0.0}})
    after = results({"a": {"accuracy": 1.0}, "b": {"accuracy": 0.0}}, b=case(case_id="b", question="other"))
    comparison = compare(before, after)
    assert comparison.only == ("b", "x")
    row = comparison.row("accuracy")
    assert row is not None
    assert row.cases == 1
    with pytest.raises(RunError, match="share no case"):
        compare(before, results({"z": {"accuracy": 1.0}}))


NO_FLOORS: dict[str, dict[str, float]] = {}


def broken(
    found: Results, baseline: Results | None = None, floors: dict[str, dict[str, float]] = NO_FLOORS
) -> list[str]:
    verdict = judge(found, floors=floors, comparison=compare(baseline, found) if baseline else None)
    return [f"{verdict.exit_code} {rule.kind} {rule.name}" for rule in verdict.broken]


def test_a_run_as_good_as_its_baseline_passes() -> None:
    assert broken(many({3: 0.0}), many({4: 0.0}), {"all": {"nugget_recall": 0.9}}) == []


def test_a_regression_is_an_interval_below_zero_or_a_large_drop() -> None:
    sure = dict.fromkeys((0, 5, 9, 13, 17, 21), 0.0)
    assert broken(many(sure), many({})) == ["3 regression nugget_recall"]
    unsure = dict.fromkeys((0, 1, 2, 3), 0.0)  # one paper of ten: the interval reaches 0, the drop is 10 points
    assert broken(many(unsure), many({})) == ["3 regression nugget_recall"]
    assert broken(many({0: 0.0, 1: 0.0, 2: 0.0}), many({})) == []  # 7.5 points


def test_a_drop_of_six_points_is_a_regression_once_there_are_300_cases() -> None:
    drop = dict.fromkeys(range(19), 0.0)  # of 5 papers in 80, all in a row
    assert broken(many(drop, n=320), many({}, n=320)) == ["3 regression nugget_recall"]
    assert broken(many({0: 0.0, 1: 0.0}, n=40), many({}, n=40)) == []


def test_floors_are_held_by_group_and_ceilings_by_what_is_better_low() -> None:
    found = results({"a": {"over_refusal": 1.0, "accuracy": 0.0}, "b": {"over_refusal": 0.0, "accuracy": 1.0}})
    floors = {"all": {"over_refusal": 0.4}, "single": {"accuracy": 0.5}, "followup": {"accuracy": 1.0}}
    assert broken(found, floors=floors) == ["4 floor over_refusal [all]"]
    with pytest.raises(SettingsError, match="no metric"):
        broken(found, floors={"all": {"nonsense": 1.0}})


def test_losses_are_held_by_variant() -> None:
    found = results(
        {"a": {"recall@5": 1.0}, "a-de": {"recall@5": 0.0}}, **{"a-de": case(case_id="a-de", variant="de", clean="a")}
    )
    assert broken(found, floors={"losses": {"de": 0.08, "zh": 0.0}}) == ["4 floor recall@5 [de]"]


def test_failures_missing_scores_and_missing_cases_are_incomplete_before_all_else() -> None:
    failures = {f"c{n}": {"failures": float(n < 3), "accuracy": 0.0} for n in range(100)}
    assert broken(results(failures), floors={"all": {"accuracy": 0.5}}) == [
        "2 complete calls",
        "2 floor accuracy [all]",
    ]
    lacking = {f"c{n}": {"failures": 0.0, "accuracy": missing("x") if n < 5 else 1.0} for n in range(100)}
    assert broken(results(lacking)) == ["2 complete scores"]
    short = results({"a": {"failures": 0.0}})
    assert broken(Results("r", {**short.about, "planned": 2}, short.cases, short.scores, {})) == [
        "2 complete all asked"
    ]


def test_what_is_empty_does_not_make_a_run_incomplete() -> None:
    scores = {f"c{n}": {"failures": 0.0, "number_precision": empty("no numbers")} for n in range(50)}
    assert broken(results(scores)) == []


def test_citewises_own_floors_are_of_known_metrics_and_bad_files_are_named(tmp_path: Path) -> None:
    for group, values in load_floors().items():
        for name in values if group != "losses" else ():
            assert metric_named(name)
    bad = tmp_path / "floors.toml"
    for text in ("[all\n", "accuracy = 0.9\n", '[all]\naccuracy = "high"\n'):
        bad.write_text(text)
        with pytest.raises(RunError, match=r"floors\.toml"):
            load_floors(bad)


def test_junit_has_a_test_a_rule_and_a_wrong_case(tmp_path: Path) -> None:
    found = results({"a": {"accuracy": 0.0}, "b": {"accuracy": 1.0}}, a=case(case_id="a", question="What\x07 <now>?"))
    verdict = judge(found, floors={"all": {"accuracy": 0.9}})
    write_junit(verdict, found, tmp_path / "junit.xml")
    rules, wrong = ET.parse(tmp_path / "junit.xml").getroot()  # noqa: S314 - written above
    failures = rules.findall("testcase/failure")
    assert (rules.get("failures"), len(failures)) == ("1", 1)
    assert "0.500" in str(failures[0].get("message"))
    assert [each.get("name") for each in wrong.findall("testcase")] == ["a"]
    assert wrong.findtext("testcase/system-out") == "What <now>?"


def test_power_from_the_variance_between_papers_is_that_of_simulated_comparisons() -> None:
    # Alternating papers all right and all wrong: the deviation between clusters of equal size is 0.5.
    values = {place: float(place // 4 % 2) for place in range(160)}
    power = power_of(many(values, n=160), metric="nugget_recall", chance=0.8, correlation=0.5)
    deviation = 0.5 * (40 / 39) ** 0.5
    assert power.half_width == pytest.approx(1.96 * deviation / 40**0.5, rel=1e-3)
    needed = next(row for row in power.rows if row.difference == 0.10)
    assert needed.clusters == pytest.approx(((1.96 + 0.8416) * deviation / 0.1) ** 2, abs=1.5)
    assert needed.cases == 4 * needed.clusters
    paired = power_of(many(values, n=160), metric="nugget_recall", other=many({**values, 0: 1.0}, n=160))
    assert paired.is_paired
    assert paired.half_width < power.half_width / 5
    with pytest.raises(RunError, match="2 papers"):
        power_of(many({}, n=8), metric="nugget_recall")


def test_records_are_json() -> None:
    from evals.report.terminal import comparison_records, power_records, summary_records

    before, after = many({}), many({0: 0.0, 9: 0.0})
    records = [
        *summary_records(summarise(after), run="r"),
        *comparison_records(compare(before, after)),
        *power_records(power_of(after, metric="accuracy")),
    ]
    assert len(json.dumps(records, allow_nan=False)) > 1000
