"""Reads the answer to one chat request: the chunks of its stream, and what the answer came to."""

import json
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rag.domain import Usage
from rag.llm.chunks import Chunk, get, read_chunk
from rag.llm.faults import Failed, Fault, Faults
from rag.llm.translate import fault_of_body
from rag.llm.visible import VisibleText

if TYPE_CHECKING:
    import openai


@dataclass(slots=True)
class Received:
    """What came of an answer so far."""

    visible: VisibleText = field(default_factory=VisibleText)
    shown: bool = False
    """Whether the visible text is more than blanks."""
    started: bool = False
    """Whether any token came, shown or not."""
    reasons: bool = False
    calls_tool: bool = False
    refusal: str = ""
    finish: str | None = None
    usage: Usage | None = None

    def take(self, chunk: Chunk) -> bool:
        """Notes `chunk`; whether it holds a token."""
        token = bool(chunk.text) or chunk.reasons
        self.started |= token
        self.reasons |= chunk.reasons
        self.calls_tool |= chunk.calls_tool
        self.refusal += chunk.refusal
        self.finish = chunk.finish or self.finish
        self.usage = chunk.usage or self.usage
        return token

    def fault(self, faults: Faults) -> Fault | None:
        """What is wrong with the answer now that its stream has ended; None where it is complete."""
        if self.finish == "content_filter":
            return faults.answer_filtered()
        if self.refusal and not self.shown:
            return faults.refused(self.refusal)
        if self.finish == "broken":
            return faults.interrupted("the server gave up") if self.started else faults.server_error("it gave up")
        if self.finish is None and self.started:
            return faults.interrupted("the stream ended before the answer did")
        if self.shown:
            return None
        if self.finish == "length" and self.started:
            return faults.only_reasoning()
        return faults.no_text(retries=0 if self.started or self.calls_tool else 1)


async def chunks_of(stream: "openai.AsyncStream[Any]", faults: Faults) -> AsyncGenerator[Chunk, None]:
    """The chunks of an answer, also of a server that ignores `stream` and sends one JSON body.

    Raises Failed for an error in such a body, ValueError where it is something else, and what the client raises.
    """
    content_type = stream.response.headers.get("content-type", "").lower()
    if "json" not in content_type and "html" not in content_type:
        async for event in stream:
            yield read_chunk(event)
        return
    body = json.loads(await stream.response.aread())
    if error := get(body, "error"):
        raise Failed(fault_of_body(error, faults))
    if not isinstance(body, dict) or "choices" not in body:
        raise ValueError("the body is not a chat completion")
    yield read_chunk(body)
