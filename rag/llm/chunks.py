"""One event of a chat stream, or a whole completion, read from whatever a server sent: nothing in it is trusted."""

from collections.abc import Mapping
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
