"""How much of each source a model reads: whole abstracts, or of the lower ones only what bears on the question."""

from dataclasses import dataclass
from typing import Literal

from rag.domain import Source

Context = Literal["whole", "evidence", "brief"]
ContextChoice = Literal["auto", "whole", "evidence"]

SMALL_WINDOW = 4096
"""Windows of up to this many tokens get the evidence alone, where the setting is "auto"."""
GAP = "…"
# Gold development set, 8 papers a question: 99.5 % of its quotes at 45 % of the tokens (`python -m evals.context`).
WHOLE_PAPERS = 2
"""The best papers, which are always given whole."""
LOCAL_SOURCES = 3
"""Papers that a model on this machine is given: a 1.5B one answers 10 of 10 questions from three abstracts and 6 from
five, and reads them at 45 tokens a second of one core."""
PAPERS_WITH_NEIGHBOURS = 5
"""Up to this rank a paper's best sentence comes with those beside it; further papers give their best sentence alone."""


@dataclass(frozen=True, slots=True)
class Window:
    """How much a chat model is given and may say: its window and its longest answer in tokens, and what it reads.

    `most_sources` bounds the sources further than the window does: weak and slow models do best with few.
    """

    context_tokens: int
    max_output_tokens: int
    context: Context = "whole"
    most_sources: int | None = None

    @property
    def budget(self) -> int:
        """Tokens that a prompt may have."""
        return self.context_tokens - self.max_output_tokens


def choose_context(choice: ContextChoice, *, context_tokens: int) -> Context:
    """What `choice` comes to for a window of `context_tokens`."""
    if choice != "auto":
        return choice
    return "evidence" if context_tokens <= SMALL_WINDOW else "whole"


def source_text(source: Source, *, context: Context) -> str:
    """The abstract of `source` as the model reads it, word for word; " … " stands where sentences are left out.

    "brief", for many papers, gives of each the sentence that is nearest to the question, with the one behind it.
    """
    abstract, sentences = source.paper.abstract, source.sentences
    if context == "whole" or not sentences or (context == "evidence" and source.number <= WHOLE_PAPERS):
        return abstract
    if context == "brief":
        best = max(range(len(sentences)), key=lambda index: sentences[index].cosine + sentences[index].probability)
        return _excerpt(source, best, min(best + 1, len(sentences) - 1))
    best = max(range(len(sentences)), key=lambda index: sentences[index].probability)
    reach = 1 if source.number <= PAPERS_WITH_NEIGHBOURS else 0
    return _excerpt(source, max(0, best - reach), min(len(sentences) - 1, best + reach))


def _excerpt(source: Source, first: int, last: int) -> str:
    """The sentences `first` to `last` of the abstract, with a gap where others are left out."""
    sentences = source.sentences
    kept = source.paper.abstract[sentences[first].span.start : sentences[last].span.end]
    return f"{GAP} " * (first > 0) + kept + f" {GAP}" * (last < len(sentences) - 1)
