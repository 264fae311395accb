"""Where a model is served: its address, name, key and limits, checked before anything is sent."""

import math
import re
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from rag.errors import SettingsError

OPENAI_HOST = "api.openai.com"
OPENAI_URL = f"https://{OPENAI_HOST}/v1"
OPENAI_MODEL = "gpt-4.1-mini"
NO_KEY = "no-key"
"""Sent where no key is set: local servers take any, and the client does not start without one."""
_WITHOUT = {
    "chat": "answers with sentences of the abstracts (CITEWISE_WRITER=extractive).",
    "embedding": "embeds by itself (unset CITEWISE_EMBEDDING_MODEL).",
    "judge": "checks by words (unset CITEWISE_JUDGE_MODEL).",
}
_PREFIX = {"chat": "", "embedding": "EMBEDDING_", "judge": "JUDGE_"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """An OpenAI-compatible endpoint. Neither its key nor the credentials of its address are in its repr.

    Raises SettingsError where a value cannot be used.
    """

    role: Literal["chat", "embedding", "judge"] = "chat"
    """What is asked of it; messages name the settings of this role."""
    base_url: str | None = field(default=None, repr=False)
    """Address with its /v1; None is OpenAI. It may hold `user:password@` and a query such as `?api-version=...`."""
    model: str | None = None
    """The model's name there; None is the only chat model served, or gpt-4.1-mini at OpenAI."""
    api_key: str | None = field(default=None, repr=False)
    """None is right for servers that want no key; OpenAI wants one."""
    max_output_tokens: int = 700
    temperature: float = 0.0
    choices: tuple[str, str] | None = None
    """Two words, one of which is to be the reply: then the reply is the probability of the first, such as "0.8731",
    or the word itself where the server tells no probabilities."""
    deadline: float = 60.0
    """Seconds for a whole call, retries and streaming included."""
    first_token_timeout: float = 30.0
    """Seconds that one request may take to its first token."""
    trust_env: bool = True
    """Whether HTTP_PROXY, SSL_CERT_FILE and the like are used. Loopback addresses never go through a proxy."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "base_url", _checked_url(self.base_url, self.setting("BASE_URL")))
        object.__setattr__(self, "api_key", _checked_key(self.api_key, self.setting("API_KEY")))
        object.__setattr__(self, "model", (self.model or "").strip() or self._default_model)
        for name in ("max_output_tokens", "deadline", "first_token_timeout"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value > 0):
                raise SettingsError(
                    f"CITEWISE_{name.upper()} cannot be {value}.", fix="Set it to a number above 0, or unset it."
                )
        if self.is_openai and self.api_key is None:
            raise SettingsError(
                "No API key is set for OpenAI.",
                fix=f"Set OPENAI_API_KEY, or {self.setting('BASE_URL')} to another server; without a model, citewise "
                + _WITHOUT[self.role],
            )

    def setting(self, name: str) -> str:
        """The environment variable that holds `name` of this endpoint."""
        return f"CITEWISE_{_PREFIX[self.role]}{name}"

    @property
    def _default_model(self) -> str | None:
        return OPENAI_MODEL if self.is_openai and self.role == "chat" else None

    @property
    def _parts(self) -> SplitResult:
        return urlsplit(self.base_url or OPENAI_URL)

    @property
    def url(self) -> str:
        """The address without credentials and query."""
        parts = self._parts
        return f"{parts.scheme}://{self.host}{parts.path}"

    @property
    def host(self) -> str:
        """Host and, where it is given, port: what messages and logs show."""
        return self._parts.netloc.rpartition("@")[2]

    @property
    def credentials(self) -> tuple[str, str] | None:
        """User and password of the address."""
        parts = self._parts
        if parts.username is None:
            return None
        return unquote(parts.username), unquote(parts.password or "")

    @property
    def query(self) -> dict[str, str]:
        """Parameters that go with every request."""
        return dict(parse_qsl(self._parts.query))

    @property
    def is_openai(self) -> bool:
        return self._parts.hostname == OPENAI_HOST

    @property
    def is_azure(self) -> bool:
        return (self._parts.hostname or "").endswith(".azure.com")

    @property
    def is_loopback(self) -> bool:
        hostname = self._parts.hostname or ""
        return hostname in {"localhost", "::1"} or hostname.startswith("127.")


def _checked_url(base_url: str | None, variable: str) -> str | None:
    """The address without what is often pasted with it: spaces around it, a last slash, the path of an API."""
    text = (base_url or "").strip()
    if not text:
        return None
    # Everything up to an @ may be a password: it is never repeated, not even of an address that cannot be read.
    shown = text.rpartition("@")[2]
    fix = f"Set {variable} to an address such as http://localhost:11434/v1."
    try:
        parts = urlsplit(text)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError as error:
        raise SettingsError(f"The model address {shown!r} is not a URL.", fix=fix) from error
    if not usable or parts.fragment or re.search(r"[\s\x00-\x1f\x7f]", text):
        raise SettingsError(f"The model address {shown!r} is not a URL.", fix=fix)
    path = re.sub(r"/+((chat/completions|embeddings)/*)?$", "", parts.path)
    return parts._replace(path=path).geturl()


def _checked_key(api_key: str | None, variable: str) -> str | None:
    key = (api_key or "").strip()
    if not key:
        return None
    # A header field takes visible ASCII only (RFC 9110, section 5.5); the key itself is never shown.
    if not re.fullmatch(r"[\x21-\x7e]+", key):
        raise SettingsError(
            "The API key has characters that cannot be sent.",
            fix=f"Copy it again into {variable} (or OPENAI_API_KEY): letters, digits and signs, no spaces.",
        )
    return key
