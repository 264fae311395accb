"""The search for prompts: its parts, what is taken of a reply, and that only unseen cases choose and report."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import inf
from pathlib import Path

import pytest

from evals.cases.case import expand
from evals.cases.schema import ITEM, AnyItem
from evals.cases.suites import Suite
from evals.optimizing.proposing import Attempt, Proposal, propose, read_proposal
from evals.optimizing.search import keep_prompt, objective, optimise
from evals.optimizing.splits import split
from evals.results.comparison import compare
from evals.results.loading import Results
from evals.running.errors import RunError
from evals.running.folder import RunFolder
from rag.domain import Usage
from rag.llm import Completion
from rag.prompting import Message, load_prompt
from tests.eval_builders import case, results

START = load_prompt("answer", "v1")
ASK = load_prompt("propose", "v1")
ITEMS = [
    ITEM.validate_python({"id": f"{paper}-{n}", "type": "single", "question": "q", "papers": [paper]})
    for paper in "abcdefghij"
    for n in range(3)
]


def test_no_paper_is_in_two_parts_and_every_item_in_one() -> None:
    parts = split(ITEMS, seed=0)
    papers = [{item.papers[0] for item in part} for part in parts]  # type: ignore[union-attr]
    assert sum(map(len, papers)) == 10
    assert sorted(item.id for part in parts for item in part) == sorted(item.id for item in ITEMS)
    assert len(parts.tune) > len(parts.choose)
    assert split(ITEMS, seed=1) != parts
    assert split(list(reversed(ITEMS)), seed=0).tune == list(reversed(parts.tune))
    with pytest.raises(RunError, match="too few"):
        split(ITEMS[:6], seed=0)


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        ("<prompt>\nCite. $fence\n</prompt>", ""),
        ("Sure!\n<prompt>\nCite. $fence\n</prompt> There.", ""),
        ("Cite. $fence", "does not hold one prompt"),
        ("<prompt>\nA $fence\n</prompt>\n<prompt>\nB $fence\n</prompt>", "does not hold one prompt"),
        ("<prompt>\n \n</prompt>", "does not hold one prompt"),
        ("<prompt>\nCite.\n</prompt>", "placeholders"),
        ("<prompt>\nCite. $fence $secret\n</prompt>", "placeholders"),
        ("<prompt>\nCosts $5. $fence\n</prompt>", "placeholders"),
        (f"<prompt>\n$fence {'x' * 9000}\n</prompt>", "characters"),
    ],
)
def test_a_proposal_is_one_prompt_with_the_same_placeholders(reply: str, problem: str) -> None:
    text, told = read_proposal(reply, name="answer")
    assert (text == "Cite. $fence") == (not problem)
    assert problem in told


class Replies:
    model = "m"

    def __init__(self, *replies: str) -> None:
        self._replies, self.asked = iter(replies), list[Sequence[Message]]()

    def stream(self, messages: Sequence[Message], *, until: float = inf) -> Iterator[str | Completion]:
        self.asked.append(messages)
        yield next(self._replies)
        yield Completion(Usage(1, 1, 1), "stop")


def test_the_model_is_told_the_prompt_its_scores_and_what_went_wrong_and_asked_twice_at_most() -> None:
    best = Attempt(START, 0.5, ("Question: why?\nWrong: accuracy: does not say: so",))
    model = Replies("no", "<prompt>\nBetter. $fence\n</prompt>")
    found = propose(model, ask=ASK, best=best, history=[Attempt(replace(START, system="Old. $fence"), 0.25)])
    assert found.prompt == replace(START, system="Better. $fence")
    user = model.asked[0][1]["content"]
    for told in (START.system, "Score 0.500", "Score 0.250:\nOld. $fence", "Question: why?"):
        assert told in user
    assert "such as $fence exactly" in model.asked[0][0]["content"]
    assert propose(Replies("no", "no"), ask=ASK, best=best, history=[]).prompt is None


class World:
    """Runs whose scores a prompt's text decides, by part; remembers which parts were asked of what."""

    def __init__(self, scores: dict[str, dict[str, float]]) -> None:
        self._scores, self.asked = scores, list[tuple[str, str]]()

    def ask(self, suite: Suite, prompt: object) -> RunFolder:
        part, text = suite.name.removeprefix("s-"), prompt.system  # type: ignore[attr-defined]
        self.asked.append((part, text))
        value = self._scores.get(text, {}).get(part, 0.5)
        found = {item.id: {"nugget_recall": value} for item in suite.items}
        self._last = results(found, **{each.case_id: each for each in expand(suite.items)})
        return Empty(Path("nowhere"))

    def read(self, run: RunFolder) -> Results:
        return self._last


class Empty(RunFolder):
    def samples(self) -> dict[tuple[str, int], object]:  # type: ignore[override]
        return {}


def proposing(*texts: str | None) -> object:
    replies = iter(texts)

    def make(best: Attempt, history: list[Attempt]) -> Proposal:
        text = next(replies)
        return Proposal(replace(START, system=text), "") if text else Proposal(None, "nonsense")

    return make


def search(world: World, *texts: str | None) -> object:
    items: list[AnyItem] = ITEMS
    return optimise(
        Suite("s", items),
        start=START,
        rounds=len(texts),
        seed=0,
        ask=world.ask,
        propose=proposing(*texts),  # type: ignore[arg-type]
        read=world.read,
    )


def test_what_is_best_on_the_second_part_is_chosen_and_the_third_reports() -> None:
    world = World({"A": {"tune": 0.9, "choose": 0.4}, "B": {"tune": 0.8, "choose": 0.7, "report": 0.6}})
    found = search(world, "A", None, "B", "A")
    assert found.chosen.system == "B"  # type: ignore[attr-defined]
    assert [(each.problem, each.is_best) for each in found.rounds] == [  # type: ignore[attr-defined]
        ("", True),
        ("nonsense", False),
        ("", False),
        ("it was tried before", False),
    ]
    row = found.comparison.row("nugget_recall")  # type: ignore[attr-defined]
    assert (row.before, row.after) == (pytest.approx(0.5), pytest.approx(0.6))
    assert [text for part, text in world.asked if part == "report"] == [START.system, "B"]


def test_nothing_is_kept_that_is_better_only_where_it_was_tuned() -> None:
    world = World({"A": {"tune": 1.0, "choose": 0.5}})
    found = search(world, "A")
    assert found.chosen == START  # type: ignore[attr-defined]
    assert found.comparison is None  # type: ignore[attr-defined]
    assert not [part for part, _ in world.asked if part == "report"]


def test_the_objective_is_the_mean_of_the_primaries_that_apply() -> None:
    found = results({"a": {"nugget_recall": 1.0, "recall@5": 0.5, "words": 9.0}, "b": {"nugget_recall": 0.0}})
    assert objective(found) == pytest.approx((0.5 + 0.5) / 2)
    with pytest.raises(RunError, match="primary"):
        objective(results({"a": {"words": 1.0}}, a=case(case_id="a")))


def test_a_kept_prompt_is_the_next_version_and_can_be_loaded(tmp_path: Path) -> None:
    better = replace(START, system="Better. $fence")
    comparison = compare(results({"a": {"accuracy": 0.0}}), results({"a": {"accuracy": 1.0}}))
    assert keep_prompt(better, tmp_path, comparison=comparison) == "answer/v2"
    assert keep_prompt(better, tmp_path, comparison=comparison) == "answer/v3"
    assert "1 newly right" in (tmp_path / "answer" / "v2" / "comparison.html").read_text()
    loaded = load_prompt("answer", "v2", folder=tmp_path)
    assert (loaded.system, loaded.user) == (better.system, START.user)
