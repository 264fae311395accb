"""A second look by the model that wrote: does the evidence say the sentence, yes or no, and how sure is it?

A small model says "yes" to nearly everything, but is less sure of it where it is wrong: the probability of its "Yes"
tells supported sentences from others better than the word does (the README has the figures).
"""

from collections.abc import Generator, Iterator, Mapping, Sequence

from rag.chat_writer import Model
from rag.domain import AnswerSentence, Paper, Support, Usage
from rag.llm import Completion
from rag.prompting import Prompt, fill_confirm_prompt

CHOICES = ("Yes", "No")
"""What the model chooses between, the confirming word first."""
LEAST = 0.86
"""Probability of "Yes" from which on the evidence says the sentence."""


class ConfirmingJudge:
    """Judges what the check by words finds supported: without a sure enough "Yes" it is supported in part only.

    `model` is one at an endpoint with `CHOICES`; one call a sentence. What the words do not support stays as it is.
    """

    def __init__(self, *, model: Model, prompt: Prompt) -> None:
        self._model, self._prompt = model, prompt

    @property
    def label(self) -> str:
        return f"{self._model.model or 'model'}, {self._prompt.label}"

    def judge(
        self, sentences: Sequence[AnswerSentence], *, papers: Mapping[int, Paper], until: float
    ) -> Iterator[str | Usage]:
        """See `rag.judging.Judge.judge`. One line a sentence, as it comes."""
        for place, sentence in enumerate(sentences, start=1):
            support: Support = sentence.support
            if support == "supported":
                sure = yield from self._probability(sentence, papers=papers, until=until)
                support = "supported" if sure >= LEAST else "partly"
            yield f"{place} {support}\n"

    def _probability(
        self, sentence: AnswerSentence, *, papers: Mapping[int, Paper], until: float
    ) -> Generator[str | Usage, None, float]:
        messages = fill_confirm_prompt(
            self._prompt,
            sentence=sentence.text,
            evidence=[
                (papers[number].title, [papers[number].abstract[span.start : span.end] for span in sorted(spans)])
                for number, spans in zip(sentence.citations, sentence.evidence, strict=True)
            ],
        )
        reply = ""
        for item in self._model.stream(messages, until=until):
            if isinstance(item, Completion):
                yield item.usage
            else:
                reply += item
                yield ""
        return read_probability(reply)


def read_probability(reply: str) -> float:
    """The probability, 0..1, of the confirming word in a reply: a number, or the word where no number was to be had."""
    said = reply.strip()
    try:
        return float(said)
    except ValueError:
        return float(said.casefold().startswith(CHOICES[0].casefold()))
