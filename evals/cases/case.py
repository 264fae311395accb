"""A case: one question as it is asked, with what a right answer says. Items of a file give one or more."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from evals.cases.schema import AnswerableItem, AnyItem, FollowupItem, InjectionItem, PayloadItem, UnanswerableItem
from evals.injections import Payload
from rag.domain import Turn

Expected = Literal["answer", "refuse", "correct_premise"]
STANDALONE = "standalone"


@dataclass(frozen=True, slots=True)
class Case:
    """One question to ask. `kind` is the item's type and kind ("single/method").

    `nuggets` are the facts of a right answer (see `evals.textmatch`); `papers` hold the answer, `papers_partial` a part
    of it. `variant` names another wording of the question, `clean` the case that it is compared with. `cluster` is what
    a bootstrap resamples: the paper, or the conversation.
    """

    case_id: str
    kind: str
    question: str
    history: tuple[Turn, ...] = ()
    expected: Expected = "answer"
    gold_answer: str = ""
    nuggets: tuple[Mapping[str, Any], ...] = ()
    papers: frozenset[str] = frozenset()
    papers_partial: frozenset[str] = frozenset()
    forbid: tuple[str, ...] = ()
    scope: Literal["any", "seed"] = "any"
    variant: str | None = None
    clean: str | None = None
    cluster: str = ""
    payload: Payload | None = None

    @property
    def answerable(self) -> bool:
        """Whether the abstracts hold the answer."""
        return self.expected == "answer"

    @property
    def group(self) -> str:
        """The column of a report: type, near or far for what has no answer, the variant's name for a variant."""
        item_type, _, kind = self.kind.partition("/")
        if self.variant:
            return f"variant {self.variant}"
        if item_type == "unanswerable":
            return "unanswerable far" if self.is_far else "unanswerable near"
        return f"{item_type} {kind}" if item_type == "cross" and kind else item_type

    @property
    def is_far(self) -> bool:
        """Whether the question is far from all papers."""
        return self.kind.partition("/")[2].startswith("far")

    @property
    def is_headline(self) -> bool:
        """Whether it counts in the figures over all cases: variants and attacks are reported apart."""
        return self.variant is None and not self.is_attack

    @property
    def is_attack(self) -> bool:
        """Whether a planted instruction is to be resisted: a payload, or a question where `forbid` tells success."""
        return self.kind.startswith("injection/")


def expand(items: Iterable[AnyItem]) -> list[Case]:
    """All cases of the items, in order: questions, their variants, turns behind the earlier ones, standalone turns."""
    return [case for item in items for case in _cases(item)]


def _cases(item: AnyItem) -> Iterator[Case]:
    if isinstance(item, PayloadItem):
        yield _attack(item)
    elif isinstance(item, FollowupItem):
        yield from _turns(item)
    else:
        papers = frozenset(item.papers)
        case = Case(
            case_id=item.id,
            kind=f"{item.type}/{item.kind}",
            question=item.question,
            expected=_expected(item),
            gold_answer=item.answer,
            nuggets=tuple(nugget.model_dump() for nugget in item.nuggets),
            papers=papers,
            papers_partial=frozenset(item.papers_partial),
            forbid=item.forbid,
            scope=item.scope,
            cluster=_cluster(item.id, papers),
        )
        yield case
        for name, question in item.variants.items():
            yield replace(case, case_id=f"{item.id}-{name}", question=question, variant=name, clean=item.id)


def _turns(item: FollowupItem) -> Iterator[Case]:
    history: list[Turn] = []
    for number, turn in enumerate(item.turns, start=1):
        later = number > 1
        case = Case(
            case_id=f"{item.id}-{number}",
            kind=f"followup/{'later' if later else 'first'}",
            question=turn.user,
            history=tuple(history),
            expected="answer" if turn.answerable else "refuse",
            gold_answer=turn.answer,
            nuggets=tuple(nugget.model_dump() for nugget in turn.nuggets),
            papers=frozenset(turn.papers),
            forbid=item.forbid if number == len(item.turns) else (),
            scope=item.scope,
            cluster=item.id,
        )
        yield case
        if later and turn.standalone:
            yield replace(
                case,
                case_id=f"{case.case_id}-{STANDALONE}",
                question=turn.standalone,
                history=(),
                variant=STANDALONE,
                clean=case.case_id,
            )
        history.append(Turn(turn.user, turn.answer))


def _expected(item: AnswerableItem | UnanswerableItem | InjectionItem) -> Expected:
    if isinstance(item, UnanswerableItem):
        return item.expected
    return "answer" if item.answerable else "refuse"


def _attack(item: PayloadItem) -> Case:
    payload = Payload(item.id, item.where, item.level, item.text * item.text_repeat, item.must_not, item.obeyed)
    return Case(
        item.id, f"injection/{item.level}", payload.question, expected="refuse", cluster=item.id, payload=payload
    )


def _cluster(item_id: str, papers: frozenset[str]) -> str:
    """The one paper that the questions of a cluster share, or the item itself."""
    return next(iter(papers)) if len(papers) == 1 else item_id
