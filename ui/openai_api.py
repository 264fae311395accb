"""The OpenAI-compatible API: /v1/models and /v1/chat/completions, for any chat client that speaks it."""

import logging
import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Iterable
from contextlib import aclosing
from typing import Any, cast

import anyio
from anyio import to_thread
from fastapi import APIRouter, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.types import Send

from rag.answer_json import dump
from rag.assistant import Assistant
from rag.domain import Answer, Cited, Event, Finished, TextPart
from rag.errors import CitewiseError, InputError
from ui.components import ANSWERS_AT_ONCE, ANSWERS_WAITING
from ui.openai_format import (
    MODEL,
    ApiError,
    Asked,
    ChatRequest,
    Completion,
    failure,
    invalid,
    model_to_dict,
    read_question,
    read_request,
)

logger = logging.getLogger(__name__)

_GONE = 499
"""What nginx logs for a client that closed the connection; nobody is there to read it."""

Route = Callable[[Request], Awaitable[Response]]


def openai_router(assistant: Assistant, *, password: str | None) -> APIRouter:
    """The routes. With a `password`, requests must bear it as their key (Authorization: Bearer ...)."""
    router = APIRouter(prefix="/v1")
    slots = anyio.Semaphore(ANSWERS_AT_ONCE)

    async def models(request: Request) -> Response:
        return JSONResponse({"object": "list", "data": [model_to_dict()]})

    async def model(request: Request) -> Response:
        if request.path_params["name"] != MODEL:
            raise ApiError("There is no such model.", status=404, kind="invalid_request_error", code="model_not_found")
        return JSONResponse(model_to_dict())

    async def chat_completions(request: Request) -> Response:
        if not request.headers.get("content-type", "").startswith("application/json"):
            # A page of another site may send other types here without being asked first.
            raise invalid("Send JSON, with the header Content-Type: application/json.")
        asked_for = read_request(await request.body())
        events = _begin(assistant, read_question(asked_for))
        if slots.statistics().tasks_waiting >= ANSWERS_WAITING:
            raise ApiError("Too many questions are waiting. Ask again later.", status=429, kind="rate_limit_error")
        if not asked_for.stream:
            return await _whole(events, request, slots)
        headers = {"cache-control": "no-cache", "x-accel-buffering": "no"}
        return _EventStream(
            _server_sent(_chunks(events, asked_for, slots)), media_type="text/event-stream", headers=headers
        )

    for path, route, method in (
        ("/models", models, "GET"),
        ("/models/{name}", model, "GET"),
        ("/chat/completions", chat_completions, "POST"),
    ):
        router.add_api_route(path, _guarded(route, password), methods=[method], response_model=None)
    return router


def bears(request_headers: Any, password: str | None) -> bool:
    """Whether the headers of a request bear the `password` as their key, or none is needed."""
    if password is None:
        return True
    scheme, _, key = str(request_headers.get("authorization", "")).partition(" ")
    return scheme.lower() == "bearer" and secrets.compare_digest(key.strip().encode(), password.encode())


def _guarded(route: Route, password: str | None) -> Route:
    """`route` for those who bear the key; its errors in OpenAI's shape."""

    async def call(request: Request) -> Response:
        try:
            if not bears(request.headers, password):
                raise ApiError(
                    "The key is missing or wrong: it is the page's password.",
                    status=401,
                    kind="invalid_request_error",
                    code="invalid_api_key",
                )
            return await route(request)
        except ApiError as error:
            headers = {"x-should-retry": "false"} if error.code == "answer_failed" else None
            return JSONResponse(error.body(), status_code=error.status, headers=headers)

    return call


def _begin(assistant: Assistant, asked: Asked) -> Generator[Event, None, None]:
    """The events of the answer, none of which is asked for yet. Raises ApiError for a question that is none."""
    assistant.refresh()
    try:
        events = assistant.stream(asked.question, history=asked.history, filters=asked.filters)
    except InputError as error:
        raise invalid(str(error), param="messages") from error
    return cast(Generator[Event, None, None], events)


async def _whole(events: Generator[Event, None, None], request: Request, slots: anyio.Semaphore) -> Response:
    async with aclosing(_each(events, slots)) as coming:
        async for event in coming:
            if isinstance(event, Finished):
                if event.answer.outcome == "failed":
                    raise failure(event.answer)
                return JSONResponse(Completion().whole(event.answer))
            if await request.is_disconnected():
                break
    return Response(status_code=_GONE)


async def _chunks(
    events: Generator[Event, None, None], asked_for: ChatRequest, slots: anyio.Semaphore
) -> AsyncGenerator[dict[str, Any], None]:
    """The objects of a streamed answer; the last one is the error where it fails."""
    completion = Completion()
    try:
        async with aclosing(_each(events, slots)) as coming:
            yield completion.opening()
            async for event in coming:
                if isinstance(event, Cited) or (isinstance(event, TextPart) and event.text):
                    yield completion.part(event)
                elif isinstance(event, Finished):
                    for chunk in _ending(completion, event.answer, asked_for):
                        yield chunk
    except ApiError as error:
        yield error.body()


def _ending(completion: Completion, answer: Answer, asked_for: ChatRequest) -> Iterable[dict[str, Any]]:
    if answer.outcome == "failed":
        raise failure(answer)
    with_usage = asked_for.stream_options is not None and asked_for.stream_options.include_usage
    return [*completion.correction(answer), *completion.closing(answer, with_usage=with_usage)]


class _EventStream(StreamingResponse):
    """A stream whose iterator is closed at once when the client goes, wherever it is then."""

    async def stream_response(self, send: Send) -> None:
        async with aclosing(cast(AsyncGenerator[str, None], self.body_iterator)):
            await super().stream_response(send)


async def _server_sent(objects: AsyncGenerator[dict[str, Any], None]) -> AsyncGenerator[str, None]:
    async with aclosing(objects):
        async for value in objects:
            yield f"data: {dump(value)}\n\n"
    yield "data: [DONE]\n\n"


async def _each(events: Generator[Event, None, None], slots: anyio.Semaphore) -> AsyncGenerator[Event, None]:
    """The events, each waited for in a worker thread, `slots` answers at a time.

    When this is closed or cancelled, as for a client that has gone, the answer's request to a model is closed too.
    """
    try:
        async with slots:
            while (event := await to_thread.run_sync(next, events, None)) is not None:
                yield event
    except CitewiseError as error:
        logger.warning("an answer over the API failed: %s", error.problem)
        raise ApiError(str(error), status=500, kind="server_error", code="answer_failed") from error
    finally:
        with anyio.CancelScope(shield=True):
            await to_thread.run_sync(events.close)
