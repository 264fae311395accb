"""What is sent to an endpoint, and how it changes once the endpoint refuses a part of it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from rag.llm.endpoint import Endpoint
from rag.llm.visible import joined_surrogates

Message = dict[str, str]

_MOST_ALTERNATIVES = 20
"""As many as OpenAI tells of a token."""

_REFUSES = re.compile(
    r"unsupported|not support|n't support|unrecogni[sz]ed|unknown|unexpected|forbidden|not permitted|not allowed"
)
_ROLES = re.compile(r"system (role|message|prompt)|role.{0,40}\bsystem\b|roles must alternate|alternating roles")


@dataclass(frozen=True, slots=True)
class RequestShape:
    """Which optional parts of a request an endpoint takes. Each change drops something, so that changes end."""

    limit_names: tuple[str, ...]
    """Names of the token limit that were not refused yet, the next one to try first."""
    temperature: bool = True
    usage: bool = True
    system_role: bool = True
    probabilities: bool = False
    """Whether those of the first token are asked for, as an endpoint with choices does."""

    @classmethod
    def first(cls, endpoint: Endpoint) -> "RequestShape":
        """OpenAI's reasoning models refuse `max_tokens`; most other servers know no other name."""
        names = ("max_tokens", "max_completion_tokens")
        limits = names[::-1] if endpoint.is_openai else names
        return cls(limit_names=limits, probabilities=endpoint.choices is not None)

    def arguments(
        self, messages: Sequence[Mapping[str, str]], *, model: str, max_output_tokens: int, temperature: float
    ) -> dict[str, object]:
        """Keyword arguments of the client's `chat.completions.create`."""
        arguments: dict[str, object] = {"model": model, "messages": self._messages(messages), "stream": True}
        if self.limit_names:
            arguments[self.limit_names[0]] = max_output_tokens
        if self.temperature:
            arguments["temperature"] = temperature
        if self.usage:
            arguments["stream_options"] = {"include_usage": True}
        if self.probabilities:
            arguments |= {"logprobs": True, "top_logprobs": _MOST_ALTERNATIVES}
        return arguments

    def without_refused(self, wording: str) -> "RequestShape | None":
        """The shape without what the server's `wording` (lower case) refuses; None where that is none of ours."""
        if self.system_role and _ROLES.search(wording):
            return replace(self, system_role=False)
        if not _REFUSES.search(wording):
            return None
        if self.usage and re.search(r"stream_options|include_usage", wording):
            return replace(self, usage=False)
        if self.probabilities and "logprobs" in wording:
            return replace(self, probabilities=False)
        if self.temperature and "temperature" in wording:
            return replace(self, temperature=False)
        if self.limit_names and self.limit_names[0] in wording:
            return replace(self, limit_names=self.limit_names[1:])
        return None

    def _messages(self, messages: Sequence[Mapping[str, str]]) -> list[Message]:
        cleaned = [{name: joined_surrogates(text) for name, text in message.items()} for message in messages]
        return cleaned if self.system_role else _folded(cleaned)


def _folded(messages: list[Message]) -> list[Message]:
    """`messages` with the text of system messages in front of the first user message."""
    system = [message["content"] for message in messages if message["role"] == "system"]
    others = [message for message in messages if message["role"] != "system"]
    for index, message in enumerate(others):
        if message["role"] == "user":
            others[index] = {**message, "content": "\n\n".join([*system, message["content"]])}
            break
    return others
