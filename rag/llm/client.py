"""One chat call to any OpenAI-compatible endpoint: streamed, bounded in time and size, each failure named."""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Any

from rag.domain import Usage
from rag.errors import EndpointError
from rag.llm.background import iterate_in_thread
from rag.llm.chunks import Chunk
from rag.llm.endpoint import Endpoint
from rag.llm.faults import Failed, Fault, Faults, quoted
from rag.llm.models import only_model, served_models
from rag.llm.reading import Received, chunks_of
from rag.llm.redaction import protect_logs
from rag.llm.request import RequestShape
from rag.llm.retry import MAX_REQUESTS, backoff
from rag.llm.translate import client_errors, fault_of, interruption
from rag.llm.visible import VisibleText
from rag.observing import tell

if TYPE_CHECKING:
    import openai
    from openai import AsyncStream

logger = logging.getLogger(__name__)

TICK = 0.2
"""Seconds between empty deltas while nothing comes."""
STALL_SECONDS = 30.0
"""How long a stream may pause between tokens."""
USAGE_SECONDS = 2.0
"""How long the token counts are waited for once the answer is complete."""
LIST_SECONDS = 3.0
"""How long a list of models is waited for that only improves a message."""

Messages = Sequence[Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Completion:
    """The end of a complete answer. `finish` is "stop", or "length" where a limit cut it."""

    usage: Usage
    finish: str


Emit = Callable[[str | Completion], None]


@dataclass(slots=True)
class _Call:
    """One call while it runs: what was asked, how often, and what came of the last request."""

    messages: Messages
    emit: Emit
    deadline: float
    attempts: int = 0
    requests: int = 0
    """Chat requests that were sent; an attempt may end before, at the list of models."""
    retries: int = 0
    received: Received = field(default_factory=Received)


class ChatModel:
    """A chat model at an endpoint. One instance may be used by several threads; it keeps no connection open.

    `model` is its name, None until an endpoint that was configured without one has said what it serves.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.model = endpoint.model
        self._shape = RequestShape.first(endpoint)
        self._opens_thinking = False
        protect_logs(endpoint.api_key, *(endpoint.credentials or ()))
        client_errors()  # loads the client, for a second: no question's time is spent on it

    def stream(self, messages: Messages, *, until: float = inf) -> Iterator[str | Completion]:
        """Deltas of the visible text of the answer to `messages`, then exactly one Completion.

        Each message has a "role" and a "content". A delta is "" about every 0.2 s while nothing comes, so that the
        consumer gets control and can close; closing ends the request at once. Reasoning is never part of the text,
        which is cut at 64 kB. Raises EndpointError, also after deltas (kind "interrupted" or "filtered"): what came
        before is to be kept. The whole lasts no longer than the endpoint's deadline, and ends by
        `until` (in `time.monotonic`).
        """

        async def work(emit: Emit) -> None:
            await self._answer(messages, emit, until=until)

        with contextlib.closing(iterate_in_thread(work, tick=TICK)) as items:
            for item in items:
                yield "" if item is None else item

    async def _answer(self, messages: Messages, emit: Emit, *, until: float) -> None:
        begin = monotonic()
        call = _Call(messages, emit, deadline=min(begin + self.endpoint.deadline, until))
        status, usage = "closed", Usage()
        try:
            completion = await self._within_deadline(call)
            status, usage = completion.finish, completion.usage
            emit(completion)
        except EndpointError as error:
            status = error.kind
            raise
        finally:
            seconds, model = monotonic() - begin, quoted(str(self.model))
            tell(
                logger,
                "endpoint",
                "chat %s %s: %s after %.2f s, %d requests",
                *(self.endpoint.host, model, status, seconds, call.requests),
                role=self.endpoint.role,
                host=self.endpoint.host,
                model=self.model,
                status=status,
                seconds=seconds,
                requests=call.requests,
                prompt_tokens=usage.prompt_tokens,
                completion_tokens=usage.completion_tokens,
            )

    async def _within_deadline(self, call: _Call) -> Completion:
        from rag.llm.transport import open_client

        seconds = call.deadline - monotonic()
        if seconds <= 0:
            raise self._faults().no_time_left().error
        try:
            async with asyncio.timeout(seconds), open_client(self.endpoint) as client:
                return await self._with_retries(client, call)
        except TimeoutError as error:
            if call.received.started:
                fault = self._faults().interrupted(f"it took longer than {seconds:.3g} s (CITEWISE_DEADLINE)")
            else:
                fault = self._faults().no_answer(seconds)
            raise fault.error from error
        except client_errors() as error:  # of opening or closing the client
            raise fault_of(error, self._faults()).error from error

    async def _with_retries(self, client: "openai.AsyncOpenAI", call: _Call) -> Completion:
        """The one retry layer: a request that failed is sent again, changed or later, or its fault raised."""
        failures: tuple[type[BaseException], ...] = (Failed, *client_errors())
        while True:
            try:
                return await self._request(client, call)
            except failures as error:
                fault = error.fault if isinstance(error, Failed) else self._fault(error, call)
                pause = self._pause(fault, call)
                if pause is None:
                    fault = await self._with_served_models(fault, client)
                    raise fault.error from error
            await asyncio.sleep(pause)

    def _pause(self, fault: Fault, call: _Call) -> float | None:
        """Seconds until the next request; None where there is to be none, as for any fault behind the first token."""
        shape = self._shape.without_refused(fault.wording)
        self._shape = shape or self._shape
        if call.attempts >= MAX_REQUESTS:
            return None
        if shape is not None:
            return 0.0
        if call.retries >= fault.retries:
            return None
        pause = max(backoff(call.retries), fault.wait or 0.0)
        call.retries += 1
        return pause if monotonic() + pause < call.deadline else None

    async def _request(self, client: "openai.AsyncOpenAI", call: _Call) -> Completion:
        """One request and its answer. Raises Failed and what the client raises."""
        call.attempts += 1
        call.received = received = Received(VisibleText(thinking=self._opens_thinking))
        patience = self.endpoint.first_token_timeout
        try:
            async with asyncio.timeout(patience) as idle:
                await self._receive(client, call, idle)
        except TimeoutError as error:
            if received.started and not received.finish:
                raise Failed(self._faults().interrupted(f"nothing more came for {STALL_SECONDS:g} s")) from error
            if not received.finish:
                raise Failed(self._faults().no_answer(patience)) from error
        if received.finish:
            self._show(received.visible.finish(), call)
            self._opens_thinking = received.visible.began_thinking
        if fault := received.fault(self._faults()):
            raise Failed(fault)
        usage = replace(received.usage or Usage(), calls=call.requests)
        return Completion(usage=usage, finish=received.finish or "stop")

    async def _receive(self, client: "openai.AsyncOpenAI", call: _Call, idle: asyncio.Timeout) -> None:
        """Sends the request and shows its answer as it comes, until the answer is complete or its stream ends."""
        if self.model is None:
            self.model = await self._only_model(client)
        arguments = self._shape.arguments(
            call.messages,
            model=self.model,
            max_output_tokens=self.endpoint.max_output_tokens,
            temperature=self.endpoint.temperature,
        )
        create: Callable[..., Awaitable[AsyncStream[Any]]] = client.chat.completions.create
        call.requests += 1
        received = call.received
        async with (
            await create(**arguments) as stream,
            contextlib.aclosing(chunks_of(stream, self._faults())) as chunks,
        ):
            try:
                async for chunk in chunks:
                    token = received.take(chunk)
                    self._show(received.visible.feed(self._said(chunk)), call)
                    if received.visible.full:
                        received.finish = "length"
                        break
                    if received.finish and received.usage:
                        break
                    if received.finish:  # a complete answer is never lost to the deadline
                        idle.reschedule(min(monotonic() + USAGE_SECONDS, call.deadline - 0.1))
                    elif token:
                        idle.reschedule(monotonic() + STALL_SECONDS)
            except client_errors():
                if not received.finish:  # what follows a complete answer is of no interest
                    raise

    def _said(self, chunk: Chunk) -> str:
        """Its text, or how probable the first of the endpoint's choices was in its place."""
        share = chunk.share_of(*self.endpoint.choices) if self.endpoint.choices else None
        return chunk.text if share is None else f"{share:.4f}"

    def _show(self, text: str, call: _Call) -> None:
        if text:
            call.received.shown |= not text.isspace()
            call.emit(text)

    async def _only_model(self, client: "openai.AsyncOpenAI") -> str:
        import openai

        try:
            return only_model(await served_models(client), self._faults())
        except openai.NotFoundError as error:
            raise Failed(self._faults().models_not_listed()) from error

    async def _with_served_models(self, fault: Fault, client: "openai.AsyncOpenAI") -> Fault:
        """A fault about an unknown model, with the names of the known ones where the endpoint lists them in time."""
        if fault.error.kind != "model_not_found":
            return fault
        with contextlib.suppress(TimeoutError, *client_errors()):
            async with asyncio.timeout(LIST_SECONDS):
                return self._faults().model_not_found([model.name for model in await served_models(client)])
        return fault

    def _fault(self, error: BaseException, call: _Call) -> Fault:
        faults = self._faults()
        return faults.interrupted(interruption(error)) if call.received.started else fault_of(error, faults)

    def _faults(self) -> Faults:
        return Faults(self.endpoint, quoted(self.model, most=80) if self.model else "the model")
