"""One event of a chat stream, or a whole completion, read from whatever a server sent: nothing in it is trusted."""

from collections.abc import Mapping
from math import exp
from typing import NamedTuple

from rag.domain import Usage

_COMPLETE = {"length": "length", "max_tokens": "length", "content_filter": "content_filter"}
_BROKEN = {"error", "insufficient_system_resource", "abort"}


class Chunk(NamedTuple):
    """`finish` is "stop", "length", "content_filter", "broken" or, before the end, None."""

    text: str
    reasons: bool
    refusal: str
    calls_tool: bool
    finish: str | None
    usage: Usage | None
    alternatives: tuple[tuple[str, float], ...] = ()
    """Tokens that could have come first in its place, and their log-probabilities, where they were asked for."""

    def share_of(self, first: str, second: str) -> float | None:
        """The probability of one word, 0..1, against that of another; None where neither is among the alternatives."""
        shares = [sum(exp(p) for token, p in self.alternatives if _is_word(token, word)) for word in (first, second)]
        return shares[0] / sum(shares) if sum(shares) else None


def _is_word(token: str, word: str) -> bool:
    return token.strip().casefold() == word.casefold()


def read_chunk(event: object) -> Chunk:
    """Fields that are absent, null or of another type are taken as not sent: servers differ in all of them."""
    choices = get(event, "choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    delta = get(choice, "delta") or get(choice, "message")
    text, thought = _content(get(delta, "content"))
    reasoning = get(delta, "reasoning_content") or get(delta, "reasoning")
    refusal = get(delta, "refusal")
    return Chunk(
        text=text,
        reasons=thought or bool(reasoning),
        refusal=refusal if isinstance(refusal, str) else "",
        calls_tool=bool(get(delta, "tool_calls")),
        finish=_finish(get(choice, "finish_reason")),
        usage=_usage(get(event, "usage")),
        alternatives=_alternatives(get(choice, "logprobs")),
    )


def get(value: object, name: str) -> object:
    """`value[name]` of a mapping, `value.name` of anything else, None where there is none."""
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


def _content(content: object) -> tuple[str, bool]:
    """Text, and whether there was reasoning beside it; Mistral sends a list of typed parts."""
    if isinstance(content, str):
        return content, False
    parts = content if isinstance(content, list) else []
    texts = [get(part, "text") for part in parts if get(part, "type") == "text"]
    return "".join(text for text in texts if isinstance(text, str)), len(texts) < len(parts)


def _alternatives(probabilities: object) -> tuple[tuple[str, float], ...]:
    tokens = get(probabilities, "content")
    first = tokens[0] if isinstance(tokens, list) and tokens else None
    found = get(first, "top_logprobs")
    pairs = [(get(one, "token"), get(one, "logprob")) for one in found] if isinstance(found, list) else []
    return tuple((token, min(0.0, p)) for token, p in pairs if isinstance(token, str) and isinstance(p, float))


def _finish(reason: object) -> str | None:
    if not isinstance(reason, str) or not reason:
        return None
    return "broken" if reason in _BROKEN else _COMPLETE.get(reason, "stop")


def _usage(usage: object) -> Usage | None:
    counts = [get(usage, name) for name in ("prompt_tokens", "completion_tokens")]
    prompt, completion = (count if type(count) is int else None for count in counts)
    if prompt is None and completion is None:
        return None
    return Usage(prompt_tokens=prompt, completion_tokens=completion)
