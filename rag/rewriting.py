"""Follow-up questions with a model: one short call restates the question so that it stands alone."""

import re
from collections.abc import Iterator, Sequence

from rag.chat_writer import Model
from rag.domain import Turn, Usage
from rag.errors import EndpointError
from rag.followup import leans_on_history
from rag.keyword import analyze
from rag.llm import Completion
from rag.prompting import Prompt, fill_standalone_prompt
from rag.questions import find_names

MAX_OUTPUT_TOKENS = 60
LONGEST = 300
"""Characters of a restated question at most; what is longer explains or answers."""
_LABEL = re.compile(r"^(?:(?:restated|standalone|rewritten|last) )?question:\s*", re.IGNORECASE)
_ASKS = re.compile(
    r"^(?:and |so )?(?:who|whom|whose|what|which|when|where|why|how|is|are|was|were|do|does|did|can|could|will|would"
    r"|should|has|have|had|list|name|show|give|tell|find|compare|contrast|describe|explain|define|discuss|outline"
    r"|summari[sz]e|in (?:what|which)|by (?:what|which|how)|on (?:what|which)|for (?:what|which))\b",
    re.IGNORECASE,
)


class ChatRewriter:
    """Restates questions by a chat model, which is best one of its own with few output tokens."""

    def __init__(self, *, model: Model, prompt: Prompt, context_tokens: int) -> None:
        self._model, self._prompt = model, prompt
        self._budget = context_tokens - MAX_OUTPUT_TOKENS

    def rewrite(self, question: str, history: Sequence[Turn], *, until: float) -> Iterator[str | Usage]:
        """ "" while the model is silent, then the call's usage, then the restated question if it is plausible.

        A failure of the endpoint ends it without a question: there is a way to search without one.
        """
        filled = fill_standalone_prompt(self._prompt, question=question, history=history, budget=self._budget)
        reply = ""
        try:
            for item in self._model.stream(filled.messages, until=until):
                if isinstance(item, Completion):
                    yield item.usage
                else:
                    reply += item
                    yield ""
        except EndpointError:  # logged where it was raised
            return
        if restated := plausible_question(reply, question=question, history=history):
            yield restated


def plausible_question(reply: str, *, question: str, history: Sequence[Turn]) -> str | None:
    """The question that a model's `reply` restates; None where it is empty, long, an answer, or no clearer than before.

    A question ends with a question mark or begins as one does, and shares a word with the conversation. Weak models
    often repeat it as it is: one that leans on the turns before must bring a name in.
    """
    lines = [line.strip() for line in reply.splitlines() if line.strip()]
    if not lines:
        return None
    text = _LABEL.sub("", lines[0].strip("*_`\"'“”„«» ")).strip("*_`\"'“”„«» ")
    if not text or len(text) > LONGEST or not (text.endswith(("?", "？")) or _ASKS.match(text)):
        return None
    said = " ".join([question, *(f"{turn.question} {turn.answer}" for turn in history)])
    is_clearer = not leans_on_history(text) or bool(set(find_names(text)) - set(find_names(question)))
    return text if is_clearer and set(analyze(text)) & set(analyze(said)) else None
