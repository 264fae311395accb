"""Settings: environment variables with the prefix CITEWISE_, read once by `rag.wiring`."""

from pathlib import Path
from typing import Literal

from platformdirs import user_data_path
from pydantic import AliasChoices, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from rag.context import ContextChoice
from rag.domain import WriterChoice
from rag.errors import SettingsError
from rag.languages import LanguageChoice
from rag.secret_file import FILE, read_secrets

_SECRETS = {
    "CITEWISE_API_KEY": "api_key",
    "CITEWISE_EMBEDDING_API_KEY": "embedding_api_key",
    "CITEWISE_JUDGE_API_KEY": "judge_api_key",
    "CITEWISE_CHROMA_TOKEN": "chroma_token",
    "CITEWISE_AUTH": "auth",
}
"""What `secrets.env` may hold, by the names of the environment."""


class Settings(BaseSettings):
    """What a user can set. Each field is the environment variable CITEWISE_<NAME IN CAPITALS>."""

    model_config = SettingsConfigDict(env_prefix="CITEWISE_", frozen=True, extra="ignore", populate_by_name=True)

    home: Path = Field(default_factory=lambda: user_data_path("citewise"))
    """Where corpora and caches live."""
    corpus: str = Field(default="icml2025", pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")
    """The corpus that is asked when none is named."""
    writer: WriterChoice = "auto"
    """Who writes answers: a chat model at an endpoint, one that citewise runs, nobody (sentences of the abstracts are
    quoted), or the first of these that is configured or found."""
    base_url: str | None = Field(default=None, validation_alias=AliasChoices("CITEWISE_BASE_URL", "OPENAI_BASE_URL"))
    """Address of an OpenAI-compatible endpoint, with its /v1. OPENAI_BASE_URL is read too."""
    model: str | None = None
    """The chat model's name at the endpoint; without it, the only one served, or gpt-4.1-mini at OpenAI."""
    model_file: str | None = None
    """What the local writer runs: a GGUF file, or a model of `citewise model list`; without it, the demonstration."""
    ollama: str = "http://127.0.0.1:11434"
    """Where an Ollama is looked for if nothing else is configured; empty: nowhere."""
    api_key: SecretStr | None = Field(default=None, validation_alias=AliasChoices("CITEWISE_API_KEY", "OPENAI_API_KEY"))
    """Key of the endpoint. OPENAI_API_KEY is read too; local servers need none."""
    embedding_base_url: str | None = None
    """Address of an OpenAI-compatible endpoint that embeds, with its /v1; without it and a model, citewise embeds."""
    embedding_model: str | None = None
    """The embedding model's name there; alone, that of a model at OpenAI."""
    embedding_api_key: SecretStr | None = None
    """Key of the embedding endpoint; without it, that of the chat model where both are at one server."""
    embedding_dimension: int | None = Field(default=None, ge=1)
    """The length of the model's vectors; without it, one request asks."""
    embedding_batch: int = Field(default=32, ge=1, le=256)
    """Texts that are sent to the embedding endpoint in one request."""
    embedding_max_tokens: int = Field(default=440, ge=16)
    """Tokens at which a text is cut for the embedding endpoint; the default suits windows of 512."""
    judge_model: str | None = None
    """A chat model that judges whether the abstracts support an answer's sentences; without it, the check by words."""
    judge_base_url: str | None = None
    """Address of the endpoint that serves the judge, with its /v1; without it, that of the chat model."""
    judge_api_key: SecretStr | None = None
    """Key of the judge's endpoint; without it, that of the chat model where both are at one server."""
    self_check: bool = True
    """Whether a local model is asked of each sentence in its own words if the evidence says so; `rag.confirming`."""
    entailment_model: Path | None = None
    """Folder of an entailment model in ONNX that judges support in place of a chat model; see `rag.entailment`."""
    rerank: str = "off"
    """What orders the first papers anew: off, maxsim, or a LlamaIndex node postprocessor as module:Class."""
    keyword_factor: float = Field(default=1.0, ge=0.25, le=4)
    """What words count for in a search beside vectors, as a multiple of what was fitted."""
    k: int = Field(default=8, ge=1, le=50)
    """How many papers are retrieved for a question."""
    context_tokens: int = Field(default=4096, ge=512)
    """The model's context window in tokens; the prompt is cut to fit it, its lowest sources first."""
    context: ContextChoice = "auto"
    """What the model reads of the retrieved papers: whole abstracts, or of the lower ones the evidence alone; auto
    gives the evidence to windows of up to 4,096 tokens."""
    max_output_tokens: int = Field(default=700, ge=16)
    """Longest answer of a chat model, in tokens."""
    deadline: float = Field(default=60.0, gt=0)
    """Seconds that all calls to a model for one question may take together, retries and streaming included."""
    first_token_timeout: float = Field(default=30.0, gt=0)
    """Seconds until the model's first token; raise it for a local server that loads its model first."""
    rewrite: bool = True
    """Whether a chat model restates a question that leans on earlier ones, in one short call of its own."""
    samples: int = Field(default=1, ge=1, le=8)
    """How many answers a chat model writes to a question; the most complete supported one is shown, at the end."""
    revise: int = Field(default=0, ge=0, le=2)
    """How often a chat model is asked to correct the sentences that the abstracts do not support."""
    unsupported: Literal["mark", "drop"] = "mark"
    """What becomes of sentences that the abstracts do not support: they are marked as such, or left out."""
    language: LanguageChoice = "auto"
    """The language that a chat model answers in, by its code in ISO 639-1; auto is that of the question."""
    private: bool = False
    """Whether names, numbers, addresses and code names of questions are replaced before they leave for a model."""
    openreview_url: str | None = None
    """Address of what stands in for OpenReview's API version 2."""
    arxiv_url: str | None = None
    """Address of what stands in for arXiv's API."""
    pmlr_url: str | None = None
    """Address of what stands in for PMLR's site."""
    chroma: str | None = None
    """Address of a Chroma server that is asked instead of the Chroma in the corpus's folder."""
    chroma_token: SecretStr | None = None
    """The token that it asks for."""
    log: Literal["off", "text", "json"] = "off"
    """What the page's server writes to standard error of each answer and call, as lines of text or JSON."""
    log_questions: bool = False
    """Whether logs and traces hold what was asked."""
    metrics: bool = False
    """Whether the page's server has /metrics for Prometheus."""
    traces: bool = False
    """Whether OpenTelemetry spans are sent to where its own variables say."""
    auth: SecretStr | None = None
    """NAME:PASSWORD that the page asks for."""
    prompts: Path | None = None
    """A folder of your own prompts, laid out like `prompts/`; what it does not hold is citewise's."""


def load_settings(**overrides: object) -> Settings:
    """Settings from the environment, with `overrides` that are not None on top.

    Secrets that it does not hold are looked for in `secrets.env` in the home. Raises SettingsError that names the
    variable where a value cannot be used, and where that file is not as it must be.
    """
    given = {name: value for name, value in overrides.items() if value is not None}
    settings = _validated(given)
    kept = read_secrets(settings.home / FILE, names=frozenset(_SECRETS))
    unset = {_SECRETS[name]: value for name, value in kept.items() if getattr(settings, _SECRETS[name]) is None}
    return _validated({**given, **unset}) if unset else settings


def _validated(given: dict[str, object]) -> Settings:
    try:
        return Settings(**given)  # type: ignore[arg-type]
    except ValidationError as error:
        first = error.errors()[0]
        name = "_".join(str(part) for part in first["loc"]).upper()
        variable = name if name.startswith(("CITEWISE_", "OPENAI_")) else f"CITEWISE_{name}"
        raise SettingsError(f"{variable} cannot be used: {first['msg']}.", fix="Change or unset it.") from error
