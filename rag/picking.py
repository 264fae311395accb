"""Who writes the answers, and why: what the settings name, or else what is found on this machine."""

from dataclasses import dataclass
from typing import Any

from rag.settings import Settings

LOCAL_DEFAULTS = {"deadline": 300.0, "first_token_timeout": 300.0, "max_output_tokens": 120}
"""A model on this machine's cores reads some tens of tokens a second: it gets time, and writes short answers."""


@dataclass(frozen=True, slots=True)
class WriterPick:
    """Who writes ("chat", "local" or "extractive"), and why: one clause for `citewise ask`, `doctor` and the page.

    `settings` are those that hold then: with this writer, its endpoint, and its limits where the user set none.
    """

    name: str
    why: str
    settings: Settings


def pick_writer(settings: Settings) -> WriterPick:
    """The writer that `settings` ask for.

    `auto` takes a chat model where an endpoint, a model file or a key is configured, then one of an Ollama on this
    machine, else none. Picking from a pick's settings gives the same writer and asks nobody.
    """
    if settings.writer == "local":
        return _local(settings, "CITEWISE_WRITER or --writer says so")
    if settings.writer != "auto":
        return WriterPick(settings.writer, "CITEWISE_WRITER or --writer says so", settings)
    if settings.base_url:
        return _pick("chat", "an endpoint is configured", settings)
    if settings.model_file:
        return _local(settings, "CITEWISE_MODEL_FILE or --model names a model file")
    if settings.api_key:
        return _pick("chat", "an API key is configured", settings)
    return _found(settings)


def _found(settings: Settings) -> WriterPick:
    """What is on this machine: a model of an Ollama's, else no model."""
    from rag.local.ollama import ollama_models

    address = settings.ollama.rstrip("/")
    models = ollama_models(address) if address else None
    if models is None:
        return _pick("extractive", "no model endpoint is configured", settings)
    if not models:
        return _pick("extractive", f"no endpoint is configured and the Ollama at {address} has no chat model", settings)
    model = settings.model or models[0]
    return _pick("chat", f"an Ollama at {address} serves {model}", settings, base_url=f"{address}/v1", model=model)


def _local(settings: Settings, why: str) -> WriterPick:
    unset = {name: value for name, value in LOCAL_DEFAULTS.items() if name not in settings.model_fields_set}
    return _pick("local", why, settings, **unset)


def _pick(name: str, why: str, settings: Settings, **changes: Any) -> WriterPick:
    return WriterPick(name, why, settings.model_copy(update={"writer": name, **changes}))
