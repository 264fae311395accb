"""The judge that asks a chat model, best one of another family than the writer's."""

from collections.abc import Iterator, Mapping, Sequence

from rag.chat_writer import Model
from rag.domain import AnswerSentence, Paper, Usage
from rag.llm import Completion
from rag.prompting import Prompt, fill_judge_prompt

OUTPUT_TOKENS = 300
"""Room for the verdicts on some 40 sentences."""


class ChatJudge:
    """Judges by a chat model with a window of `context_tokens`. `model` is best given few output tokens."""

    def __init__(self, *, model: Model, prompt: Prompt, context_tokens: int) -> None:
        self._model, self._prompt, self._budget = model, prompt, context_tokens - OUTPUT_TOKENS

    @property
    def label(self) -> str:
        return f"{self._model.model or 'model'}, {self._prompt.label}"

    def judge(
        self, sentences: Sequence[AnswerSentence], *, papers: Mapping[int, Paper], until: float
    ) -> Iterator[str | Usage]:
        """See `rag.judging.Judge.judge`."""
        messages = fill_judge_prompt(
            self._prompt,
            sentences=[(sentence.text, sentence.citations) for sentence in sentences],
            papers=papers,
            budget=self._budget,
        )
        for item in self._model.stream(messages, until=until):
            yield item.usage if isinstance(item, Completion) else item
