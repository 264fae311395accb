"""Texts to vectors by any OpenAI-compatible endpoint: in batches, each bounded in time and checked."""

import asyncio
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from time import monotonic
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rag.errors import EndpointError, SettingsError
from rag.llm.background import iterate_in_thread
from rag.llm.chunks import get
from rag.llm.endpoint import Endpoint
from rag.llm.faults import Failed, Faults, quoted
from rag.llm.redaction import protect_logs
from rag.llm.retry import MAX_REQUESTS, backoff
from rag.llm.translate import client_errors, fault_of, fault_of_body
from rag.llm.visible import joined_surrogates
from rag.observing import tell
from rag.tokens import count_tokens, first_tokens

if TYPE_CHECKING:
    import openai

logger = logging.getLogger(__name__)

Vectors = NDArray[np.float32]

REQUEST_TOKENS = 100_000
"""Most tokens of one request; OpenAI takes 300,000, and other tokenizers count more of them in the same text."""
TICK = 0.5
"""Seconds between the moments at which a call can be interrupted."""
PROBE = "paper abstracts"
"""What is embedded to learn the length of a vector."""


class EndpointEmbedder:
    """An embedding model at an endpoint, as `rag.embedding.Embedder`. Safe to use from several threads.

    Texts are cut to `max_tokens` before they are sent, as servers differ in what they do with longer ones. `dimension`
    None is learnt from the first vectors, which are asked for when it is read. Raises SettingsError without a model.
    """

    def __init__(
        self, endpoint: Endpoint, *, dimension: int | None = None, batch_size: int = 32, max_tokens: int = 440
    ) -> None:
        if endpoint.model is None:
            raise SettingsError(
                f"No embedding model is named for {endpoint.host}.",
                fix=f"Set {endpoint.setting('MODEL')} to one it serves.",
            )
        self.endpoint, self.model_id, self.batch_size = endpoint, endpoint.model, batch_size
        self._dimension, self._max_tokens = dimension, max_tokens
        self._faults = Faults(endpoint, quoted(endpoint.model, most=80))
        protect_logs(endpoint.api_key, *(endpoint.credentials or ()))

    @property
    def dimension(self) -> int:
        """The length of a vector. Raises EndpointError where it has to be asked for and that fails."""
        return self._dimension or self.embed([PROBE]).shape[1]

    def embed(self, texts: Sequence[str], *, on_batch: Callable[[int], object] | None = None) -> Vectors:
        """See `Embedder.embed`. Raises EndpointError; a batch takes no longer than the endpoint's deadline."""
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        batches = list(self._batches(texts))

        async def work(emit: Callable[[Vectors], None]) -> None:
            await self._embed_batches(batches, emit)

        done: list[Vectors] = []
        with closing(iterate_in_thread(work, tick=TICK)) as items:
            for vectors in items:
                if vectors is not None:
                    done.append(vectors)
                    if on_batch is not None:
                        on_batch(len(vectors))
        return np.concatenate(done)

    def _batches(self, texts: Sequence[str]) -> Iterator[list[str]]:
        """The texts, cut, in batches of at most `batch_size` texts and REQUEST_TOKENS tokens."""
        batch: list[str] = []
        tokens = 0
        for text in texts:
            sent = first_tokens(joined_surrogates(text), most=self._max_tokens)
            size = count_tokens(sent)
            if batch and (len(batch) == self.batch_size or tokens + size > REQUEST_TOKENS):
                yield batch
                batch, tokens = [], 0
            batch.append(sent)
            tokens += size
        yield batch

    async def _embed_batches(self, batches: Sequence[list[str]], emit: Callable[[Vectors], None]) -> None:
        errors = client_errors()  # loads the client, for a second: the deadlines start behind it
        from rag.llm.transport import open_client

        try:
            async with open_client(self.endpoint) as client:
                for batch in batches:
                    emit(await self._embed_batch(client, batch))
        except errors as error:  # of opening or closing the client
            raise fault_of(error, self._faults).error from error

    async def _embed_batch(self, client: "openai.AsyncOpenAI", batch: list[str]) -> Vectors:
        """The vectors of one batch within the deadline; logs one line."""
        begin, status = monotonic(), "closed"
        try:
            async with asyncio.timeout(self.endpoint.deadline):
                vectors = await self._with_retries(client, batch, deadline=begin + self.endpoint.deadline)
            status = "ok"
            return vectors
        except TimeoutError as error:
            status = "timeout"
            raise self._faults.no_answer(self.endpoint.deadline).error from error
        except EndpointError as error:
            status = error.kind
            raise
        finally:
            host, model, seconds = self.endpoint.host, self._faults.model, monotonic() - begin
            tell(
                logger,
                "endpoint",
                "embeddings %s %s: %s after %.2f s, %d texts",
                *(host, model, status, seconds, len(batch)),
                role=self.endpoint.role,
                host=host,
                model=model,
                status=status,
                seconds=seconds,
                texts=len(batch),
            )

    async def _with_retries(self, client: "openai.AsyncOpenAI", batch: list[str], *, deadline: float) -> Vectors:
        """The one retry layer: a request that failed is sent again later, or its fault raised."""
        failures: tuple[type[BaseException], ...] = (Failed, *client_errors())
        for retry in range(MAX_REQUESTS):
            try:
                return await self._request(client, batch)
            except failures as error:
                fault = error.fault if isinstance(error, Failed) else fault_of(error, self._faults)
                pause = max(backoff(retry), fault.wait or 0.0)
                if retry >= min(fault.retries, MAX_REQUESTS - 1) or monotonic() + pause >= deadline:
                    raise fault.error from error
            await asyncio.sleep(pause)
        raise AssertionError("the last request returns or raises")

    async def _request(self, client: "openai.AsyncOpenAI", batch: list[str]) -> Vectors:
        """One request and its vectors. Raises Failed and what the client raises."""
        patience = self.endpoint.first_token_timeout
        try:
            async with asyncio.timeout(patience):
                # The client's default is base64, which not all servers know.
                response: object = await client.embeddings.create(
                    model=self.model_id, input=batch, encoding_format="float"
                )
        except TimeoutError as error:
            raise Failed(self._faults.no_answer(patience)) from error
        vectors = read_vectors(response, count=len(batch), faults=self._faults)
        if self._dimension is None:
            self._dimension = vectors.shape[1]
        if vectors.shape[1] != self._dimension:
            raise Failed(self._faults.wrong_dimension(vectors.shape[1], expected=self._dimension))
        return vectors


def read_vectors(response: object, *, count: int, faults: Faults) -> Vectors:
    """The vectors of a response in the order of the request, of length 1, shape (count, dimension).

    Raises Failed where the response is anything else: too few, of different lengths, not finite, zero.
    """
    if error := get(response, "error"):
        raise Failed(fault_of_body(error, faults))
    entries = get(response, "data")
    if not isinstance(entries, list):
        raise Failed(faults.not_this_protocol())
    if len(entries) != count:
        raise Failed(faults.bad_vectors(f"{len(entries)} vectors for {count} texts"))
    try:
        rows = np.array([get(entry, "embedding") for entry in _in_order(entries, faults)], dtype=np.float64)
    except (ValueError, TypeError) as error:
        raise Failed(faults.bad_vectors("vectors of different lengths, or what is no vector")) from error
    if rows.ndim != 2 or not rows.shape[1]:
        raise Failed(faults.bad_vectors("what is no vector"))
    with np.errstate(over="ignore", invalid="ignore"):
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    if not (np.isfinite(lengths).all() and (lengths > 0).all()):
        raise Failed(faults.bad_vectors("a vector of length 0 or with numbers that are not finite"))
    unit: Vectors = (rows / lengths).astype(np.float32)
    return unit


def _in_order(entries: list[object], faults: Faults) -> list[object]:
    """Entries by their index; as they came where no entry has one."""
    indexes = [get(entry, "index") for entry in entries]
    if all(index is None for index in indexes):
        return entries
    by_index = {index: entry for index, entry in zip(indexes, entries, strict=True) if type(index) is int}
    if sorted(by_index) != list(range(len(entries))):
        raise Failed(faults.bad_vectors("vectors whose numbers are not those of the texts"))
    return [by_index[number] for number in range(len(entries))]
