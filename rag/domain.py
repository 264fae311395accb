"""The nouns of citewise: papers, what was retrieved, and answers with their citations. Standard library only."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

Outcome = Literal["answered", "not_in_corpus", "needs_detail", "failed"]
"""What came of a question. "needs_detail": it fits too many papers to pick one, and is asked back."""
WriterChoice = Literal["auto", "chat", "local", "extractive"]
Support = Literal["supported", "partly", "unsupported"]


class Span(NamedTuple):
    """Characters start..end (end exclusive) of a text."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Paper:
    """One abstract and what is known about it, as its source gave it: nothing is guessed.

    `title` is "" and the optional fields are None where the source does not say. `metadata` keeps every field of the
    source that has no place of its own.
    """

    paper_id: str
    title: str
    authors: tuple[str, ...]
    abstract: str
    url: str | None = None
    year: int | None = None
    venue: str | None = None
    arxiv_id: str | None = None
    categories: tuple[str, ...] = ()
    metadata: Mapping[str, object] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """What to call the paper: its title, or the first words of its abstract where there is none."""
        if self.title:
            return self.title
        words = self.abstract.split()
        return " ".join(words[:10]) + (" …" if len(words) > 10 else "")


@dataclass(frozen=True, slots=True)
class Chunk:
    """A part of an abstract that is embedded as one: `text` is `abstract[span.start:span.end]`."""

    paper_id: str
    ordinal: int
    text: str
    span: Span

    @property
    def chunk_id(self) -> str:
        return f"{self.paper_id}#{self.ordinal}"


@dataclass(frozen=True, slots=True)
class ScoredPaper:
    """A retrieved paper. `score` is in 0..1; `stages` keeps the raw score of each stage that saw the paper."""

    paper: Paper
    score: float
    stages: Mapping[str, float]


class RankedSentence(NamedTuple):
    """A sentence of an abstract, its probability, 0..1, of holding what was asked, and its cosine to the question."""

    span: Span
    text: str
    probability: float
    cosine: float


@dataclass(frozen=True, slots=True)
class Source:
    """A retrieved paper as a writer is given it. `number` counts from 1, best first.

    `sentences` are those of the abstract, in its order; `score` is that of retrieval, 0..1; `named` are the question's
    names that few papers hold, this one among them. `bears` is the probability, 0..1, that the paper belongs into a
    list on the question's subject; None for questions that ask for no list.
    """

    number: int
    paper: Paper
    sentences: tuple[RankedSentence, ...]
    score: float = 0.0
    named: frozenset[str] = frozenset()
    bears: float | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """An earlier question of the conversation and the text of its answer."""

    question: str
    answer: str


@dataclass(frozen=True, slots=True)
class Quote:
    """A sentence of a source, word for word: one sentence of the answer, whatever stands in it."""

    text: str


@dataclass(frozen=True, slots=True)
class Recorded:
    """A sentence about a source that its record says, such as who wrote it; the abstract need not."""

    text: str


@dataclass(frozen=True, slots=True)
class Label:
    """Text that says nothing of its own and so cites nothing: a bullet, a row's title, the lines of a table, a count.

    `names` is what the sentences behind it are about, up to the next label that names something.
    """

    text: str
    names: str = ""


@dataclass(frozen=True, slots=True)
class Cite:
    """A writer's citation, right behind the text that it belongs to: the number of a `Source`."""

    source: int


@dataclass(frozen=True, slots=True)
class Abstained:
    """A writer's own statement that the sources do not answer the question."""


@dataclass(frozen=True, slots=True)
class AskedBack:
    """The text asks the reader which of `options` the question means."""

    options: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of the model calls of one answer; None where the endpoint did not say. `calls` counts requests sent."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    calls: int = 0


@dataclass(frozen=True, slots=True)
class Removed:
    """A writer's marker that names no given source, taken out of the text: `marker` is what it was."""

    marker: str


@dataclass(frozen=True, slots=True)
class Note:
    """Something about how the answer was made that its reader should know, in one sentence."""

    text: str


Piece = str | Quote | Recorded | Label | Cite | Removed | Abstained | AskedBack | Note | Usage
"""What a writer yields, in order: text without markers, the citations that stand in it, and remarks on the making."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A sentence of a cited abstract: `sentence` is `abstract[span.start:span.end]`."""

    sentence: str
    span: Span


@dataclass(frozen=True, slots=True)
class Citation:
    """A cited paper. `number` counts from 1 in reading order and is what the answer's markers show."""

    number: int
    paper: Paper
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class AnswerSentence:
    """A sentence of the answer without its markers, the numbers that it cites, and how well these support it.

    `evidence` has for each of `citations` the sentences of its abstract that say most of this one, best first. `label`
    is what its row of a list or its cell of a table is about, "" elsewhere.
    """

    text: str
    citations: tuple[int, ...]
    support: Support
    reason: str
    evidence: tuple[tuple[Span, ...], ...] = ()
    label: str = ""


@dataclass(frozen=True, slots=True)
class Marker:
    """Where `[number]` stands in the answer's text."""

    span: Span
    number: int


@dataclass(frozen=True, slots=True)
class Timings:
    """Milliseconds since the question came; None where there was no such moment."""

    retrieve_ms: float | None = None
    first_token_ms: float | None = None
    total_ms: float | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """All that is known about one answered, unanswerable or failed question.

    `text` holds the markers; only the spans in `markers` are citations, whatever else looks like one. `removed_markers`
    counts markers that named no given source. `problem` and `fix` are set where `outcome` is "failed", `options`, what
    the question may mean, where it is "needs_detail".
    """

    question: str
    searched: str
    outcome: Outcome
    text: str
    sentences: tuple[AnswerSentence, ...]
    markers: tuple[Marker, ...]
    citations: tuple[Citation, ...]
    retrieved: tuple[ScoredPaper, ...]
    writer: str
    model: str | None
    prompt: str | None
    usage: Usage
    timings: Timings
    removed_markers: int = 0
    notes: tuple[str, ...] = ()
    problem: str | None = None
    fix: str | None = None
    options: tuple[str, ...] = ()

    def says(self, text: str) -> bool:
        """Whether `text` is what the answer says, its markers and all white space left aside."""
        own = self.text
        for marker in reversed(self.markers):
            own = own[: marker.span.start] + own[marker.span.end :]
        return "".join(own.split()) == "".join(text.split())


@dataclass(frozen=True, slots=True)
class Retrieved:
    """The first event of an answer: what was searched for and the papers found, best first."""

    searched: str
    papers: tuple[ScoredPaper, ...]


@dataclass(frozen=True, slots=True)
class TextPart:
    """A further part of the answer's text."""

    text: str


@dataclass(frozen=True, slots=True)
class Cited:
    """A citation in the answer, as numbered for the reader; follows the text that it belongs to."""

    number: int
    paper: Paper


@dataclass(frozen=True, slots=True)
class Finished:
    """The last event: the whole answer, checked."""

    answer: Answer


Event = Retrieved | TextPart | Cited | Finished
