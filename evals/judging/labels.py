"""What people say of sentences: is each supported by the abstracts that it cites? One JSON object a line.

A file of labels is only appended to: what a person says last of a sentence counts, and a label of null takes back what
they said.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Annotated, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from evals.running.log import Log, read_lines
from evals.running.records import Sample
from rag.domain import Paper, Span, Support
from rag.errors import InputError

NonEmpty = Annotated[str, Field(min_length=1)]


class LabelPaper(BaseModel):
    """A cited paper, as far as a judgement needs it."""

    model_config = ConfigDict(frozen=True)
    id: NonEmpty
    title: str = ""
    abstract: NonEmpty


class LabelLine(BaseModel):
    """A line of a file of labels: one person's word on one sentence, or None where they take it back.

    `id` is that of the sentence with its papers.
    """

    model_config = ConfigDict(frozen=True)
    id: NonEmpty
    annotator: NonEmpty
    sentence: NonEmpty
    papers: Annotated[tuple[LabelPaper, ...], Field(min_length=1)]
    label: Support | None


class SupportLabel(LabelLine):
    """A label that stands."""

    label: Support


class Claim(NamedTuple):
    """A sentence and the papers that it cites."""

    sentence: str
    papers: tuple[Paper, ...]

    @property
    def key(self) -> tuple[str, tuple[str, ...]]:
        return self.sentence, tuple(paper.paper_id for paper in self.papers)

    @property
    def claim_id(self) -> str:
        return hashlib.sha256("\0".join([self.sentence, *self.key[1]]).encode()).hexdigest()[:12]


class Checked(NamedTuple):
    """A claim with what citewise's own check says of it; `evidence` has spans of each paper's abstract, best first."""

    claim: Claim
    support: Support
    reason: str
    evidence: tuple[tuple[Span, ...], ...]


def checked_of(samples: Iterable[Sample]) -> list[Checked]:
    """The sentences of answers that cite something, each once with its papers, in order."""
    found: dict[tuple[str, tuple[str, ...]], Checked] = {}
    for sample in samples:
        papers = {citation.number: citation.paper for citation in sample.answer.citations}
        for sentence in sample.answer.sentences if sample.answer.outcome == "answered" else ():
            spans = zip_longest(sentence.citations, sentence.evidence, fillvalue=())
            cited = [(papers[number], of_paper) for number, of_paper in spans if number in papers]
            if cited:
                claim = Claim(sentence.text, tuple(paper for paper, _ in cited))
                evidence = tuple(of_paper for _, of_paper in cited)
                found.setdefault(claim.key, Checked(claim, sentence.support, sentence.reason, evidence))
    return list(found.values())


def claims_of(samples: Iterable[Sample]) -> list[Claim]:
    """The same without what the check says."""
    return [checked.claim for checked in checked_of(samples)]


def read_labels(path: Path) -> list[SupportLabel]:
    """The labels of a file, which has some. Raises InputError that names the first line that is none."""
    if not path.exists():
        raise InputError(f"There is no file {path}.", fix="Make labels with: citewise eval label RUN")
    labels = labels_in(path)
    if not labels:
        raise InputError(f"{path} holds no label.", fix="Make some with: citewise eval label RUN")
    return labels


def labels_in(path: Path) -> list[SupportLabel]:
    """The labels of a file that were not taken back, none where there is no file. Raises InputError as above."""
    labels: list[SupportLabel] = []
    for number, line in enumerate(read_lines(path), start=1):
        try:
            said = LabelLine.model_validate_json(line)
        except ValidationError as error:
            first = error.errors()[0]
            field = ".".join(map(str, first["loc"]))
            fix = "Write one object a line, as citewise eval label does."
            raise InputError(f"{path}:{number} {field}: {first['msg']}.", fix=fix) from error
        if said.label is None:
            labels = [label for label in labels if (label.id, label.annotator) != (said.id, said.annotator)]
        else:
            labels.append(SupportLabel.model_validate(said.model_dump()))
    return labels


def write_label(log: Log, claim: Claim, *, annotator: str, label: Support | None) -> None:
    """Appends one person's word on a claim, or that they take it back."""
    papers = [{"id": p.paper_id, "title": p.title, "abstract": p.abstract} for p in claim.papers]
    log.append(
        {"id": claim.claim_id, "annotator": annotator, "sentence": claim.sentence, "papers": papers, "label": label}
    )


def settled(labels: Sequence[SupportLabel]) -> list[tuple[Claim, Support]]:
    """Each claim with the label that most people gave it, the last of each person's; ties are left out."""
    found: dict[str, tuple[Claim, dict[str, Support]]] = {}
    for label in labels:
        papers = tuple(Paper(each.id, each.title, (), each.abstract) for each in label.papers)
        found.setdefault(label.id, (Claim(label.sentence, papers), {}))[1][label.annotator] = label.label
    agreed = []
    for claim, said in found.values():
        (first, count), *others = Counter(said.values()).most_common()
        if not others or others[0][1] < count:
            agreed.append((claim, first))
    return agreed


def said_twice(labels: Sequence[SupportLabel]) -> list[tuple[Support, Support]]:
    """The words of the first two people on each claim that two have labelled."""
    by_claim: dict[str, dict[str, Support]] = {}
    for label in labels:
        by_claim.setdefault(label.id, {})[label.annotator] = label.label
    pairs: Iterable[Mapping[str, Support]] = (said for said in by_claim.values() if len(said) > 1)
    return [(first, second) for said in pairs for first, second, *_ in [list(said.values())]]
