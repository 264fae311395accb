"""Looks for an Ollama on this machine: which of its models could write answers."""

import contextlib
import http.client
import json
from collections.abc import Mapping
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

from rag.errors import SettingsError

SECONDS = 0.2
"""A server on loopback that takes longer is busy, or another program."""
_MOST_BYTES = 1_000_000


def ollama_models(address: str) -> tuple[str, ...] | None:
    """The chat models that the Ollama at `address` runs itself, the best guess first; None where none answers in time.

    Only its own list is read (GET /api/tags), which loads no model. Raises SettingsError for an address beyond
    loopback: what is not on this machine is never used unasked.
    """
    parts = _loopback(address)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port or 11434, timeout=SECONDS)
    # A list that breaks off, or another program's answer: there is no Ollama to be used.
    with contextlib.suppress(OSError, http.client.HTTPException, ValueError), contextlib.closing(connection):
        connection.request("GET", "/api/tags", headers={"Accept": "application/json"})
        listed = json.loads(_body(connection.getresponse()))
        if isinstance(listed, dict) and isinstance(listed.get("models"), list):
            return _chat_models([entry for entry in listed["models"] if isinstance(entry, dict)])
    return None


def _loopback(address: str) -> Any:
    fix = "Set it to an address such as http://127.0.0.1:11434, or to nothing; other machines: CITEWISE_BASE_URL."
    try:
        parts = urlsplit(address)
        usable = parts.scheme == "http" and (parts.port or 1) > 0
    except ValueError as error:
        raise SettingsError("CITEWISE_OLLAMA is not a URL.", fix=fix) from error
    host = parts.hostname or ""
    if not usable or not (host in {"localhost", "::1"} or host.startswith("127.")):
        raise SettingsError("CITEWISE_OLLAMA is no http address of this machine.", fix=fix)
    return parts


def _body(response: http.client.HTTPResponse) -> bytes:
    """The body of a good answer. Raises ValueError for another one, or one that is long or slow."""
    if response.status != 200:
        raise ValueError(f"status {response.status}")
    body, end = b"", monotonic() + SECONDS
    while part := response.read1(65536):
        body += part
        if len(body) > _MOST_BYTES or monotonic() > end:
            raise ValueError("not a list of models")
    return body


def _chat_models(entries: list[Mapping[str, Any]]) -> tuple[str, ...]:
    names = [
        name
        for entry in entries
        if isinstance(name := entry.get("name"), str) and name and not _embeds(entry) and not _is_remote(entry)
    ]
    return tuple(sorted(names, key=_rank))  # a stable sort: Ollama lists the latest first


def _embeds(entry: Mapping[str, Any]) -> bool:
    details = entry.get("details")
    family = details.get("family") if isinstance(details, dict) else ""
    text = f"{entry['name']} {family}".lower()
    return any(word in text for word in ("embed", "bert", "minilm", "rerank", "bge-"))


def _is_remote(entry: Mapping[str, Any]) -> bool:
    """Whether Ollama would send what it is asked to a server of its makers."""
    return bool(entry.get("remote_host")) or entry["name"].endswith(("-cloud", ":cloud"))


def _rank(name: str) -> int:
    lower = name.lower()
    if "instruct" in lower or "chat" in lower:
        return 0
    return 2 if any(word in lower.partition(":")[2] for word in ("base", "text")) else 1
