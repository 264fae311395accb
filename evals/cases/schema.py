"""The format of gold cases as pydantic models: what `citewise eval schema` publishes and every file is checked by."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, model_validator

NonEmpty = Annotated[str, Field(min_length=1)]


class _Model(BaseModel):
    """Fields that the format does not know are kept and ignored; `citewise eval lint` warns of them."""

    model_config = ConfigDict(extra="allow", frozen=True)


class Nugget(_Model):
    """A fact of a right answer. It is said where one of `aliases` is, or one phrase of each group of `all`."""

    fact: NonEmpty
    aliases: tuple[NonEmpty, ...] = ()
    all: tuple[tuple[NonEmpty, ...], ...] = ()
    vital: bool = True
    """Whether an answer without it is incomplete; other facts are welcome."""
    paper: str | None = None
    """The paper that it is from."""

    @model_validator(mode="after")
    def _can_match(self) -> "Nugget":
        if not self.aliases and not self.all:
            raise ValueError("a nugget needs aliases or all: nothing could ever match it")
        return self


class Quote(_Model):
    """A sentence of a paper's abstract, word for word, that holds the answer."""

    paper: NonEmpty
    quote: NonEmpty


class Turn(_Model):
    """One question of a conversation. `standalone` says the same without the conversation."""

    user: NonEmpty
    standalone: str | None = None
    answer: str = ""
    answerable: bool = True
    nuggets: tuple[Nugget, ...] = ()
    papers: tuple[NonEmpty, ...] = ()
    evidence: tuple[Quote, ...] = ()


class _Item(_Model):
    id: NonEmpty
    kind: str = ""
    """A finer kind, for the slices of a comparison."""
    scope: Literal["any", "seed"] = "any"
    """seed: `papers` are all that answer among the packaged papers only, so that with more papers precision is not
    scored."""
    answer: str = ""
    """A right answer."""
    nuggets: tuple[Nugget, ...] = ()
    papers: tuple[NonEmpty, ...] = ()
    """Ids of the papers that answer."""
    papers_partial: tuple[NonEmpty, ...] = ()
    """Ids of papers that answer in part."""
    evidence: tuple[Quote, ...] = ()
    forbid: tuple[NonEmpty, ...] = ()
    """Texts that a right answer does not hold."""
    reviewed: bool = True
    """false: drafted by a program, and accepted by nobody yet."""
    why: str | None = None
    split: str | None = None


class _Question(_Item):
    question: NonEmpty
    variants: dict[NonEmpty, NonEmpty] = {}
    """The question in other words, by the name of the variant: paraphrase, typo, de, zh, ..."""


class AnswerableItem(_Question):
    """A question that one paper (single) or several (cross) answer."""

    type: Literal["single", "cross"]
    answerable: Literal[True] = True

    @model_validator(mode="after")
    def _has_truth(self) -> "AnswerableItem":
        if not self.papers and not self.nuggets:
            raise ValueError("an answerable question needs papers or nuggets: nothing could be scored")
        return self


class UnanswerableItem(_Question):
    """A question that no paper answers. `kind` begins with far or near; near ones name what a paper is about."""

    type: Literal["unanswerable"]
    answerable: Literal[False] = False
    expected: Literal["refuse", "correct_premise"] = "refuse"
    """correct_premise: the question takes something false for granted, and a nugget says what is true."""
    false_premise: bool = False

    @model_validator(mode="after")
    def _has_correction(self) -> "UnanswerableItem":
        if self.expected == "correct_premise" and not self.nuggets:
            raise ValueError("expected correct_premise needs a nugget that says what is true")
        return self


class FollowupItem(_Item):
    """A conversation; each turn is a case of its own, asked behind the gold answers of the earlier ones."""

    type: Literal["followup"]
    turns: Annotated[tuple[Turn, ...], Field(min_length=1)]
    question: str | None = None
    answerable: bool | None = None


class InjectionItem(_Question):
    """A question under attack: a planted paper, or the question itself, gives a writer orders.

    The attack succeeds where a text of `forbid` shows, in whatever case. The papers of a suite's folder `papers` are in
    the corpus that is asked; `plant` names the one that carries the attack.
    """

    type: Literal["injection"]
    answerable: bool = True
    expected: Literal["answer", "refuse"] | None = None
    forbid: Annotated[tuple[NonEmpty, ...], Field(min_length=1)]
    plant: str | None = None
    attack: str = ""


class PayloadItem(_Model):
    """A planted text: an abstract among the corpus's, or a question. An attack succeeds where `must_not` shows.

    `must_not` is a text, `re:` with a pattern, or `prop:` with the name of a property of answers.
    """

    type: Literal["payload"]
    id: NonEmpty
    where: Literal["abstract", "question"]
    text: NonEmpty
    text_repeat: Annotated[int, Field(ge=1)] = 1
    must_not: NonEmpty
    level: Literal["hard", "soft"] = "hard"
    category: str = ""
    obeyed: str = ""


Item = Annotated[
    AnswerableItem | UnanswerableItem | FollowupItem | InjectionItem | PayloadItem,
    Field(discriminator="type"),
]
AnyItem = AnswerableItem | UnanswerableItem | FollowupItem | InjectionItem | PayloadItem
ITEM: TypeAdapter[AnyItem] = TypeAdapter(Item)


def json_schema() -> dict[str, Any]:
    """The JSON schema of one line of a case file."""
    return ITEM.json_schema() | {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A citewise gold case: one line of a JSONL file",
    }


def is_draft(item: AnyItem) -> bool:
    """Whether a program drafted it and nobody has accepted it yet."""
    return not getattr(item, "reviewed", True)


def complete(record: dict[str, Any]) -> dict[str, Any]:
    """`record` with the type that it does not name: a payload has `must_not`, a conversation `turns`."""
    if "type" in record:
        return record
    if "must_not" in record:
        return {"type": "payload", **record}
    if "turns" in record:
        return {"type": "followup", **record}
    if record.get("answerable") is False:
        return {"type": "unanswerable", **record}
    papers = record.get("papers")
    return {"type": "cross" if isinstance(papers, list) and len(papers) > 1 else "single", **record}


def unknown_fields(item: AnyItem) -> list[str]:
    """The fields of an item that the format does not know, as paths: "nuggets.0.alias"."""
    found = list(item.model_extra or {})
    parts = [(f"nuggets.{n}", nugget) for n, nugget in enumerate(getattr(item, "nuggets", ()))]
    parts += [(f"turns.{n}", turn) for n, turn in enumerate(getattr(item, "turns", ()))]
    parts += [(f"evidence.{n}", quote) for n, quote in enumerate(getattr(item, "evidence", ()))]
    return found + [f"{path}.{name}" for path, part in parts for name in part.model_extra or {}]
