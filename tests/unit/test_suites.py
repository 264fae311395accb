"""The suites that ship: whole and verbatim quotes, facts that right answers say and questions do not, and no copies."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from evals.cases import load_cases
from evals.textmatch import matches_nugget, normalise
from rag.sentences import split_sentences

ROOT = Path(__file__).resolve().parents[2]
SUITES = ROOT / "evals" / "suites"
FILES = sorted(SUITES.glob("*/*.jsonl"))
Item = Mapping[str, Any]


def read(path: Path) -> list[Item]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


SEED = {record["id"]: record for record in read(ROOT / "rag" / "data" / "icml2025_seed.jsonl")}
PLANTED = {record["id"]: record for record in read(SUITES / "inject" / "papers" / "planted.jsonl")}
SINGLE, CROSS, UNANSWERABLE, FOLLOWUP = (
    read(SUITES / "seed" / f"{part}.jsonl") for part in ("single", "cross", "unanswerable", "followup")
)
INJECT = [item for path in sorted((SUITES / "inject").glob("*.jsonl")) for item in read(path)]
NAMES = {
    "cLxLgpMd2v": "cape",
    "cKnzZrIJBR": "mfsc",
    "cJeFULIiot": "mils",
    "cJCROTFMEM": "evfocus",
    "cEhLObwvvu": "sitalign",
    "cEKrGCFXPA": "cola",
    "cBukWQKWvQ": "policy-committee|policy committee|pacman",
    "cBtsxtJqEK": "revise",
    "c4zVRwxjDD": "memory trace",
    "c4EEnWu9FE": "reid",
    "c2xhvZA8Xq": "ns-dpo",
    "bzbuZ0ItBq": "specprefill",
    "bxHgOYSQNe": "cocoa-mix",
    "bwidSkOyWF": "advagent",
}
"""What the papers that coin a name call their method; the other five have none."""


class Part(NamedTuple):
    """An item, or a turn of a conversation."""

    part_id: str
    question: str
    answer: str
    nuggets: list[Item]
    papers: list[str]
    evidence: list[Item]
    answerable: bool


def parts(items: Iterable[Item]) -> Iterator[Part]:
    for item in items:
        for number, turn in enumerate(item.get("turns", [item]), start=1):
            fields = (turn[name] for name in ("answer", "nuggets", "papers", "evidence", "answerable"))
            yield Part(f"{item['id']}-{number}", turn.get("user") or turn["question"], *fields)


PARTS = list(parts(chain(SINGLE, CROSS, UNANSWERABLE, FOLLOWUP, INJECT)))


def test_the_suites_are_as_large_as_they_say() -> None:
    assert {path.relative_to(SUITES).as_posix(): len(read(path)) for path in FILES} == {
        "seed/single.jsonl": 98,
        "seed/cross.jsonl": 25,
        "seed/unanswerable.jsonl": 45,
        "seed/followup.jsonl": 14,
        "inject/abstract.jsonl": 17,
        "inject/question.jsonl": 7,
        "inject/title.jsonl": 5,
    }


def test_every_case_can_be_loaded_under_an_id_of_its_own() -> None:
    ids = Counter(case.case_id for path in FILES for case in load_cases(path))
    assert [case_id for case_id, count in ids.items() if count > 1] == []
    assert sum(ids.values()) == 98 + 4 * 33 + 25 + 45 + 56 + 42 + 29  # 42 turns are asked in standalone form too


def test_every_seed_paper_has_at_least_three_questions_of_its_own() -> None:
    counts = Counter(paper for item in SINGLE for paper in item["papers"])
    assert counts.keys() == SEED.keys()
    assert min(counts.values()) >= 3
    assert {item["kind"] for item in SINGLE} == set(
        "method contribution limitation benchmark number comparison".split()
    )


def test_a_third_of_the_questions_on_named_methods_describe_them_instead() -> None:
    on_named = [item for item in SINGLE if item["papers"][0] in NAMES]
    described = [i for i in on_named if not re.search(NAMES[i["papers"][0]], i["question"], re.IGNORECASE)]
    assert len(described) >= len(on_named) / 3


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.part_id)
def test_quotes_are_whole_sentences_of_the_abstract(part: Part) -> None:
    for item in part.evidence:
        abstract = (SEED | PLANTED)[item["paper"]]["abstract"]
        assert item["quote"] in [abstract[span.start : span.end] for span in split_sentences(abstract)]
        assert item["paper"] in part.papers


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.part_id)
def test_a_right_answer_and_its_evidence_say_each_fact_and_the_question_does_not(part: Part) -> None:
    quoted = " ".join(item["quote"] for item in part.evidence)
    for nugget in part.nuggets:
        assert matches_nugget(part.answer, nugget), nugget["fact"]
        assert matches_nugget(quoted, nugget), nugget["fact"]
        assert not matches_nugget(part.question, nugget), nugget["fact"]
    if part.answerable:
        assert any(nugget["vital"] for nugget in part.nuggets)
        assert {item["paper"] for item in part.evidence} == set(part.papers)


def test_facts_are_not_said_by_answers_about_other_papers() -> None:
    pairs = [
        matches_nugget(other.answer, nugget)
        for part in PARTS
        for nugget in part.nuggets
        for other in PARTS
        if not set(part.papers) & set(other.papers)
    ]
    assert sum(pairs) / len(pairs) < 0.002


def test_variants_come_in_four_kinds_and_keep_to_the_length_of_a_question() -> None:
    varied = [item for item in SINGLE if "variants" in item]
    assert len(varied) == 33
    for item in varied:
        assert list(item["variants"]) == ["paraphrase", "typo", "de", "zh"]
        assert len({item["question"], *item["variants"].values()}) == 5
        assert abs(len(item["variants"]["typo"]) - len(item["question"])) <= 6
        assert re.search("[\u4e00-\u9fff]", item["variants"]["zh"])
        for question in item["variants"].values():
            assert not any(matches_nugget(question, nugget) for nugget in item["nuggets"])


def test_which_questions_name_every_paper_that_answers_them() -> None:
    which = [item for item in CROSS if item["kind"] == "which"]
    assert len(which) == 17
    for item in which:
        assert item["scope"] == "seed"  # complete over the packaged papers, not over others
        assert [nugget["paper"] for nugget in item["nuggets"]] == item["papers"]
        assert len(item["papers"]) >= 2
        assert not set(item["papers"]) & set(item["papers_partial"])
        assert {*item["papers"], *item["papers_partial"]} <= SEED.keys()


def test_unanswerable_questions_are_refused_or_their_premise_is_corrected() -> None:
    kinds = Counter((item["kind"], item["expected"]) for item in UNANSWERABLE)
    assert kinds == {("near", "refuse"): 25, ("near", "correct_premise"): 10, ("far", "refuse"): 10}
    for item in UNANSWERABLE:
        corrects = item["expected"] == "correct_premise"
        assert not item["answerable"]
        assert bool(item["nuggets"]) == bool(item["evidence"]) == corrects
        assert item["false_premise"] or not corrects
        assert item["why"]


def test_conversations_go_on_for_three_to_five_turns_and_end_as_their_summary_says() -> None:
    kinds = {item["kind"] for item in FOLLOWUP}
    assert kinds == {"pronoun", "ellipsis", "compare", "switch-return", "unanswerable-turn"}
    assert sum(not turn["answerable"] for item in FOLLOWUP for turn in item["turns"]) == 4
    for item in FOLLOWUP:
        turns = item["turns"]
        assert 3 <= len(turns) <= 5
        assert item["question"] == turns[0]["user"]
        last = ("answer", "nuggets", "answerable")
        assert [item[name] for name in last] == [turns[-1][name] for name in last]
        assert item["papers"] == list(dict.fromkeys(paper for turn in turns for paper in turn["papers"]))
        assert item["evidence"] == [quote for turn in turns for quote in turn["evidence"]]


def test_a_marker_shows_only_where_a_payload_is_obeyed() -> None:
    given = [f"{paper['title']}\n{paper['abstract']}" for paper in PLANTED.values()] + [i["question"] for i in INJECT]
    sources = "\n".join(given + [paper["abstract"] for paper in SEED.values()]).casefold()
    for item in INJECT:
        assert item["forbid"]
        for marker in item["forbid"]:
            assert marker.casefold() not in sources  # no quote of the payload counts
            assert marker.casefold() not in item["answer"].casefold()


def test_every_planted_paper_is_the_carrier_of_one_case() -> None:
    carriers = [item["plant"] for item in INJECT if item["kind"] != "question"]
    assert sorted(carriers) == sorted(PLANTED)
    assert not PLANTED.keys() & SEED.keys()
    assert all("plant" not in item for item in INJECT if item["kind"] == "question")


def words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", normalise(text)))


def overlap(text: str, others: Iterable[str]) -> float:
    """The largest Jaccard similarity of the words of `text` and of another."""
    own = words(text)
    return max(len(own & other) / len(own | other) for other in map(words, others))


def questions(items: Iterable[Item]) -> list[str]:
    found = []
    for item in items:
        found += [item["question"], *item.get("variants", {}).values()]
        found += [turn[name] for turn in item.get("turns", ()) for name in ("user", "standalone")]
    return found


def test_no_question_or_answer_is_copied_from_the_development_set(shared_data: Path) -> None:
    gold = read(shared_data / "gold_dev.jsonl")
    own = [*SINGLE, *CROSS, *UNANSWERABLE, *FOLLOWUP]
    asked = questions(gold)
    assert [question for question in questions(own) if overlap(question, asked) > 0.6] == []
    said = {normalise(part.answer) for part in parts(gold)}
    assert [
        p.answer for p in parts(own) if p.nuggets and len(words(p.answer)) > 4 and normalise(p.answer) in said
    ] == []
    assert not {item["id"] for item in own} & {item["id"] for item in gold}


def test_the_fields_are_those_of_the_development_set(shared_data: Path) -> None:
    fields = {(item["type"], frozenset(item)) for item in read(shared_data / "gold_dev.jsonl")}
    for item in chain(SINGLE, CROSS, UNANSWERABLE, FOLLOWUP):
        assert (item["type"], frozenset(item)) in fields
        assert item["split"] == "suite"


def test_no_payload_is_copied_from_the_development_payloads(shared_data: Path) -> None:
    payloads = [item["text"] for item in read(shared_data / "injections" / "injections_dev.jsonl")]
    own = [paper["abstract"] for paper in PLANTED.values()] + [item["question"] for item in INJECT]
    assert max(overlap(text, payloads) for text in own) < 0.3
