"""Tests an endpoint step by step for `citewise doctor`: reach, key, models, streaming, each with what to do."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, replace
from time import monotonic

from rag.errors import EndpointError
from rag.llm.client import ChatModel
from rag.llm.endpoint import Endpoint
from rag.llm.faults import Failed, Faults, listed, quoted
from rag.llm.models import ServedModel, only_model, served_models
from rag.llm.translate import client_errors, fault_of

PROBE = ({"role": "user", "content": "Say the word ready."},)
PROBE_TOKENS = 256
"""Room for a reasoning model to think about one word."""
_NOT_REACHED = {"unreachable", "certificate", "connection_lost", "timeout"}
_KEY_TROUBLE = {"key_refused", "forbidden", "quota"}


@dataclass(frozen=True, slots=True)
class Check:
    """One step. `fix` is "" where it passed; a step that could not be told is absent from the report."""

    name: str
    passed: bool
    found: str
    fix: str = ""


@dataclass(frozen=True, slots=True)
class ProbeReport:
    """What was found at an endpoint. `context_tokens` is the model's window where the endpoint tells it."""

    host: str
    model: str | None
    models: tuple[str, ...]
    context_tokens: int | None
    checks: tuple[Check, ...]

    @property
    def passed(self) -> bool:
        return all(check.passed for check in self.checks)


def probe(endpoint: Endpoint) -> ProbeReport:
    """Asks for the list of models, then for one short streamed answer, which costs a few tokens.

    Nothing of an endpoint's failures is raised: they are the report. Takes up to twice the endpoint's deadline.
    """
    models, list_error = asyncio.run(_listed(endpoint))
    host = endpoint.host
    if list_error is not None and list_error.kind in _NOT_REACHED:
        failed = Check("reach", False, list_error.problem, list_error.fix)
        return ProbeReport(host, endpoint.model, (), None, (failed,))
    chosen, model_check = _chosen(endpoint, models, list_error)
    checks = [Check("reach", True, f"{host} answers.")]
    error = list_error if list_error is not None and list_error.kind in _KEY_TROUBLE else None
    streaming: tuple[Check, ...] = ()
    if error is None and chosen is not None:
        error, streaming = _streamed(replace(endpoint, model=chosen, max_output_tokens=PROBE_TOKENS))
    if error is not None and error.kind in _KEY_TROUBLE:
        checks.append(Check("key", False, error.problem, error.fix))
    else:
        checks.append(Check("key", True, _key_state(endpoint)))
        checks += [model_check, *streaming]
    window = next((model.context_tokens for model in models if model.name == chosen), None)
    return ProbeReport(host, chosen, tuple(model.name for model in models), window, tuple(checks))


async def _listed(endpoint: Endpoint) -> tuple[list[ServedModel], EndpointError | None]:
    from rag.llm.transport import open_client

    faults = Faults(endpoint, "the model")
    seconds = min(endpoint.first_token_timeout, endpoint.deadline)
    errors = client_errors()
    try:
        async with asyncio.timeout(seconds), open_client(endpoint) as client:
            return await served_models(client), None
    except TimeoutError:
        return [], faults.no_answer(seconds).error
    except errors as error:
        return [], fault_of(error, faults).error


def _chosen(
    endpoint: Endpoint, models: list[ServedModel], list_error: EndpointError | None
) -> tuple[str | None, Check]:
    """The model that would be asked, and whether that is a good choice."""
    faults = Faults(endpoint, quoted(endpoint.model or "the model", most=80))
    names = [model.name for model in models]
    if endpoint.model is not None:
        if names and not any(_same(endpoint.model, name) for name in names):
            error = faults.model_not_found(names).error
            # Some servers answer to any name, and gateways do not list all that they serve: it is still asked.
            return endpoint.model, Check("model", False, error.problem, error.fix)
        unlisted = "" if names else " The endpoint lists no models, so that this was not checked."
        return endpoint.model, Check("model", True, f"{faults.model} is configured.{unlisted}")
    if list_error is not None:
        error = faults.models_not_listed().error
        return None, Check("model", False, error.problem, error.fix)
    try:
        return only_model(models, faults), Check("model", True, f"{listed(names)} is the only one served.")
    except Failed as failed:
        return None, Check("model", False, failed.fault.error.problem, failed.fault.error.fix)


def _same(configured: str, served: str) -> bool:
    return configured == served or served == f"{configured}:latest"  # Ollama's default tag


def _streamed(endpoint: Endpoint) -> tuple[EndpointError | None, tuple[Check, ...]]:
    """The error of a short call, and how its text came."""
    begin = monotonic()
    try:
        moments = list(_text_moments(endpoint))
    except EndpointError as error:
        return error, (Check("stream", False, error.problem, error.fix),)
    found = f"First text after {moments[0] - begin:.1f} s, in {len(moments)} parts."
    return None, (Check("stream", True, found),)


def _text_moments(endpoint: Endpoint) -> Iterator[float]:
    return (monotonic() for item in ChatModel(endpoint).stream(PROBE) if isinstance(item, str) and item)


def _key_state(endpoint: Endpoint) -> str:
    return "No key is set, and none is wanted." if endpoint.api_key is None else "The key is accepted."


def list_models(endpoint: Endpoint) -> tuple[str, ...]:
    """The names of the chat models that an endpoint lists; none where it does not say."""
    models, _ = asyncio.run(_listed(endpoint))
    return tuple(model.name for model in models)
