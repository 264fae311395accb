"""The shapes of the OpenAI-compatible API: from its messages to a question, from an answer to its objects. Pure."""

import re
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from rag.answer_json import answer_to_dict
from rag.assistant import MAX_QUESTION_CHARS
from rag.domain import Answer, Citation, Cited, Support, TextPart, Turn
from rag.errors import CitewiseError
from rag.filter_json import FiltersJson
from rag.filters import Filters
from ui.render import MAX_TURNS

MODEL = "citewise"
"""The name of the one model that is served, whoever writes."""
NOT_IN_CORPUS = "Not in the corpus: no abstract answers this."

_MARKER = re.compile(r" ?\[\d{1,3}\]")
_WEAKEST: tuple[Support, ...] = ("unsupported", "partly", "supported")


class _Part(BaseModel):
    type: str
    text: str | None = None


class _Message(BaseModel):
    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[_Part] | None = None


class _StreamOptions(BaseModel):
    include_usage: bool = False


class ChatRequest(BaseModel):
    """The body of a chat completion. What it does not name (temperature, tools, ...) is accepted and has no effect."""

    model_config = ConfigDict(extra="ignore")

    model: str
    messages: list[_Message] = Field(min_length=1)
    stream: bool | None = False
    stream_options: _StreamOptions | None = None
    n: Literal[1] | None = None
    filters: FiltersJson | None = None


class Asked(NamedTuple):
    """What a request asks: `filters` are None where the question's own words may name some."""

    question: str
    history: tuple[Turn, ...]
    filters: Filters | None


class ApiError(Exception):
    """An error as OpenAI's clients expect it: an HTTP status and what `body` gives."""

    def __init__(self, message: str, *, status: int, kind: str, code: str | None = None, param: str | None = None):
        super().__init__(message)
        self.status, self.kind, self.code, self.param = status, kind, code, param

    def body(self) -> dict[str, Any]:
        """The JSON object of the error."""
        return {"error": {"message": str(self), "type": self.kind, "param": self.param, "code": self.code}}


TOO_LARGE = ApiError("The request is too large.", status=413, kind="invalid_request_error", code="request_too_large")


def invalid(message: str, *, param: str | None = None) -> ApiError:
    """The error for a request that cannot be answered as it is."""
    return ApiError(message, status=400, kind="invalid_request_error", param=param)


def read_request(body: bytes) -> ChatRequest:
    """The request in `body`. Raises ApiError that names the field which is wrong."""
    try:
        request = ChatRequest.model_validate_json(body)
    except ValidationError as error:
        first = error.errors()[0]
        param = ".".join(map(str, first["loc"])) or None
        raise invalid(f"{param or 'The body'}: {first['msg']}.", param=param) from error
    if request.model != MODEL:
        raise ApiError(
            f"The model {request.model!r} does not exist; this server has one, {MODEL!r}.",
            status=404,
            kind="invalid_request_error",
            code="model_not_found",
            param="model",
        )
    return request


def read_question(request: ChatRequest) -> Asked:
    """The last message as the question, the turns before it as its history; other roles' messages are left out.

    Raises ApiError where the last message is not the user's or holds more than text, and for filters that are none.
    """
    *before, last = request.messages
    if last.role != "user":
        raise invalid("The last message must be the user's question.", param="messages")
    turns: list[Turn] = []
    asked: str | None = None
    for message in before:
        if message.role == "user":
            asked = _text_of(message)
        elif message.role == "assistant" and asked is not None:
            said = _MARKER.sub("", _text_of(message))  # the numbers of an earlier answer mean other papers
            turns.append(Turn(asked[:MAX_QUESTION_CHARS], said[:MAX_QUESTION_CHARS]))
            asked = None
    try:
        filters = request.filters.read() if request.filters else None
    except CitewiseError as error:
        raise invalid(str(error), param="filters") from error
    return Asked(_text_of(last), tuple(turns[-MAX_TURNS:]), filters)


def _text_of(message: _Message) -> str:
    if isinstance(message.content, str) or message.content is None:
        return message.content or ""
    if any(part.type != "text" for part in message.content):
        raise invalid("Only text is read: send parts of the type text.", param="messages")
    return "\n".join(part.text or "" for part in message.content)


def failure(answer: Answer) -> ApiError:
    """The error for an answer that failed. The endpoint behind it was asked again already: clients should not."""
    return ApiError(f"{answer.problem} {answer.fix}", status=502, kind="server_error", code="answer_failed")


def final_text(answer: Answer) -> str:
    """What the message of a finished answer says, with its markers."""
    return answer.text or (NOT_IN_CORPUS if answer.outcome == "not_in_corpus" else "")


def citation_to_dict(citation: Citation, answer: Answer) -> dict[str, Any]:
    """A citation as an entry of the field `citations`; `support` is the weakest of the sentences that cite it."""
    supports = {sentence.support for sentence in answer.sentences if citation.number in sentence.citations}
    return {
        "number": citation.number,
        "paper_id": citation.paper.paper_id,
        "title": citation.paper.title,
        "authors": list(citation.paper.authors),
        "url": citation.paper.url,
        "evidence": [evidence.sentence for evidence in citation.evidence],
        "support": next((support for support in _WEAKEST if support in supports), None),
    }


def _extra(answer: Answer) -> dict[str, Any]:
    """The fields that OpenAI's objects do not have."""
    citations = [citation_to_dict(citation, answer) for citation in answer.citations]
    return {"citations": citations, "citewise": answer_to_dict(answer)}


def usage_to_dict(answer: Answer) -> dict[str, int] | None:
    """Tokens of the model calls, zeros where there were none; None where the endpoint did not say."""
    usage = answer.usage
    prompt, completion = usage.prompt_tokens, usage.completion_tokens
    if usage.calls and (prompt is None or completion is None):
        return None
    prompt, completion = prompt or 0, completion or 0
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}


@dataclass(slots=True)
class Completion:
    """The objects of one chat completion, which share an id and a time. `shown` is the text that was streamed."""

    object_id: str = field(default_factory=lambda: f"chatcmpl-{uuid.uuid4().hex}")
    created: int = field(default_factory=lambda: int(time.time()))
    shown: str = ""
    _ends_in_space: bool = True

    def whole(self, answer: Answer) -> dict[str, Any]:
        """The object of a request that does not stream."""
        message = {"role": "assistant", "content": final_text(answer), "refusal": None}
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
        return self._object("chat.completion", [choice]) | {"usage": usage_to_dict(answer)} | _extra(answer)

    def opening(self) -> dict[str, Any]:
        """The first chunk of a stream."""
        return self._chunk({"role": "assistant", "content": ""})

    def part(self, event: TextPart | Cited) -> dict[str, Any]:
        """The chunk of a further piece of text or of a marker."""
        text = event.text if isinstance(event, TextPart) else f"[{event.number}]"
        if isinstance(event, TextPart):
            self.shown += text
        elif not self._ends_in_space:
            text = f" {text}"
        self._ends_in_space = text[-1:].isspace() if text else self._ends_in_space
        return self._chunk({"content": text})

    def correction(self, answer: Answer) -> list[dict[str, Any]]:
        """What is to be added where the finished answer is not the text that was streamed."""
        if answer.says(self.shown) and answer.text:
            return []
        if not self.shown.strip():
            return [self._chunk({"content": final_text(answer)})]
        now = f" The answer is now:\n\n{final_text(answer)}" if final_text(answer) else ""
        return [self._chunk({"content": f"\n\nThe text above is withdrawn.{now}"})]

    def closing(self, answer: Answer, *, with_usage: bool) -> Sequence[dict[str, Any]]:
        """The chunk that ends the choice and holds the citations, and that of the usage where it was asked for."""
        last = self._chunk({}, finish_reason="stop") | _extra(answer)
        usage = self._object("chat.completion.chunk", []) | {"usage": usage_to_dict(answer)}
        return [last, usage] if with_usage else [last]

    def _chunk(self, delta: dict[str, str], *, finish_reason: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
        return self._object("chat.completion.chunk", [choice])

    def _object(self, kind: str, choices: list[dict[str, Any]]) -> dict[str, Any]:
        return {"id": self.object_id, "object": kind, "created": self.created, "model": MODEL, "choices": choices}


def model_to_dict() -> dict[str, Any]:
    """The one model as an entry of the list of models."""
    return {"id": MODEL, "object": "model", "created": 0, "owned_by": MODEL}
