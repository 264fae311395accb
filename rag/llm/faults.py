"""The ways an endpoint fails: what the user is told and what to do, and whether asking again at once may help."""

from collections.abc import Sequence
from dataclasses import dataclass

from rag.errors import EndpointError
from rag.llm.endpoint import Endpoint
from rag.llm.redaction import REDACT_KEYS

AGAIN = "Ask again in a moment."


class PromptTooLong(EndpointError):
    """The endpoint takes fewer sources: drop the lowest ones and ask once more.

    `n_ctx` is the model's context window in tokens, None where the server did not tell.
    """

    def __init__(self, problem: str, *, fix: str, kind: str, n_ctx: int | None = None) -> None:
        super().__init__(problem, fix=fix, kind=kind)
        self.n_ctx = n_ctx


@dataclass(frozen=True, slots=True)
class Fault:
    """A failed request: the error for the user, and what the retry layer needs.

    `retries` is how often the same request may be sent again, `wait` the seconds that the server asked for, `wording`
    what it said, in lower case, where a changed request may pass.
    """

    error: EndpointError
    retries: int = 0
    wait: float | None = None
    wording: str = ""


class Failed(Exception):
    """A request failed by `fault`; never leaves this package."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(str(fault.error))
        self.fault = fault


@dataclass(frozen=True, slots=True)
class Faults:
    """The faults of one endpoint. `model` is "the model" until its name is known."""

    endpoint: Endpoint
    model: str

    @property
    def host(self) -> str:
        return self.endpoint.host

    @property
    def _url_setting(self) -> str:
        return self.endpoint.setting("BASE_URL")

    @property
    def _model_setting(self) -> str:
        return self.endpoint.setting("MODEL")

    @property
    def _key_setting(self) -> str:
        return self.endpoint.setting("API_KEY")

    @property
    def _a_model(self) -> str:
        return "an embedding model" if self.endpoint.role == "embedding" else "a chat model"

    def unreachable(self, reason: str) -> Fault:
        return Fault(
            self._error(
                "unreachable",
                f"Cannot reach the model at {self.host}: {reason}.",
                f"Is it running? Start it, or correct {self._url_setting}.",
                retryable=True,
            ),
            retries=2,
        )

    def untrusted_certificate(self) -> Fault:
        return Fault(
            self._error(
                "certificate",
                f"The TLS certificate of {self.host} is not trusted.",
                f"Set SSL_CERT_FILE to the certificates of your organisation, or correct {self._url_setting}.",
            )
        )

    def connection_lost(self) -> Fault:
        return Fault(
            self._error(
                "connection_lost",
                f"{self.host} broke the connection off before {self.model} answered.",
                f"{AGAIN} If it happens again, look at the server's log: it may have crashed.",
                retryable=True,
            ),
            retries=2,
        )

    def no_answer(self, seconds: float) -> Fault:
        return Fault(
            self._error(
                "timeout",
                f"No answer from {self.model} at {self.host} within {seconds:.3g} s.",
                f"{AGAIN} If it is slow or still loading, raise CITEWISE_FIRST_TOKEN_TIMEOUT and CITEWISE_DEADLINE.",
                retryable=True,
            ),
            retries=2,
        )

    def no_time_left(self) -> Fault:
        problem = f"The question's time was up before {self.model} was asked."
        return Fault(self._error("timeout", problem, "Raise CITEWISE_DEADLINE.", retryable=True))

    def key_refused(self) -> Fault:
        if self.endpoint.api_key is None:
            return Fault(self._error("key_refused", f"{self.host} wants an API key.", f"Set {self._key_setting}."))
        fix = f"Check {self._key_setting} (or OPENAI_API_KEY): it may be mistyped, revoked or another provider's."
        return Fault(self._error("key_refused", f"{self.host} refused the API key.", fix))

    def forbidden(self) -> Fault:
        fix = f"Ask the provider for access to {self.model}, or set {self._model_setting} or the key to another one."
        return Fault(self._error("forbidden", f"{self.host} does not let this key use {self.model}.", fix))

    def model_not_found(self, served: Sequence[str] = ()) -> Fault:
        which = f"one of: {listed(served)}" if served else "one it serves"
        fix = f"Set {self._model_setting} to {which}."
        return Fault(self._error("model_not_found", f"Model {self.model} is not served at {self.host}.", fix))

    def model_not_chosen(self, served: Sequence[str]) -> Fault:
        problem = f"{self.host} serves {len(served)} models and CITEWISE_MODEL names none."
        return Fault(self._error("model_not_chosen", problem, f"Set CITEWISE_MODEL to one of: {listed(served)}."))

    def models_not_listed(self) -> Fault:
        problem = f"{self.host} does not list its models and CITEWISE_MODEL names none."
        fix = f"Set CITEWISE_MODEL, and check CITEWISE_BASE_URL.{self._with_v1()}"
        return Fault(self._error("model_not_chosen", problem, fix))

    def no_models(self) -> Fault:
        fix = "Load one on that server (with Ollama: `ollama pull NAME`), then set CITEWISE_MODEL to its name."
        return Fault(self._error("no_models", f"{self.host} lists no chat model.", fix))

    def no_api(self) -> Fault:
        fix = f"Check {self._url_setting}.{self._with_v1()}"
        kind = f"no_{self.endpoint.role}_api"
        return Fault(self._error(kind, f"There is no {self.endpoint.role} API at {self.endpoint.url}.", fix))

    def busy(self, wait: float | None, *, retries: int) -> Fault:
        asks = "" if wait is None else f" It asks to wait {wait:.0f} s."
        fix = AGAIN if wait is None else f"Ask again in {wait:.0f} s."
        error = self._error("rate_limited", f"{self.host} is busy: too many requests.{asks}", fix, retryable=True)
        return Fault(error, retries=retries, wait=wait)

    def quota(self) -> Fault:
        fix = "Add credit at the provider, or set another key or endpoint."
        return Fault(self._error("quota", f"The quota of this key at {self.host} is used up.", fix))

    def request_too_large(self) -> Fault:
        if self.endpoint.role == "embedding":
            problem = f"{self.host} takes fewer texts at once."
            return Fault(self._error("request_too_large", problem, "Lower CITEWISE_EMBEDDING_BATCH."))
        problem = f"The question with its sources is too large for {self.host}."
        fix = "Ask a shorter question, or lower CITEWISE_K so that fewer papers are sent."
        return Fault(PromptTooLong(problem, fix=fix, kind="request_too_large"))

    def context_too_long(self, n_ctx: int | None) -> Fault:
        window = f" of {n_ctx} tokens" if n_ctx else ""
        if self.endpoint.role == "embedding":
            problem = f"A text does not fit the window{window} of {self.model} at {self.host}."
            return Fault(self._error("context_too_long", problem, "Lower CITEWISE_EMBEDDING_MAX_TOKENS."))
        value = n_ctx or "the model's context window"
        problem = f"The question with its sources does not fit the context window{window} of {self.model}."
        fix = f"Set CITEWISE_CONTEXT_TOKENS to {value}, or load the model with a larger window."
        return Fault(PromptTooLong(problem, fix=fix, kind="context_too_long", n_ctx=n_ctx))

    def loading(self, wait: float | None) -> Fault:
        problem = f"{self.host} is still loading {self.model}."
        return Fault(self._error("loading", problem, AGAIN, retryable=True), retries=2, wait=wait)

    def server_error(self, what: str, *, wait: float | None = None, wording: str = "", retries: int = 2) -> Fault:
        problem = f"The model service at {self.host} failed ({what})."
        fix = f"{AGAIN} If it goes on, look at the server's log or the provider's status page."
        return Fault(
            self._error("server_error", problem, fix, retryable=True), retries=retries, wait=wait, wording=wording
        )

    def rejected(self, what: str, *, wording: str) -> Fault:
        also = ", that it takes CITEWISE_EMBEDDING_BATCH texts at once" if self.endpoint.role == "embedding" else ""
        fix = f"Check that {self._model_setting} is {self._a_model}{also} and that the server is up to date."
        return Fault(self._error("rejected", f"{self.host} rejected the request ({what}).", fix), wording=wording)

    def redirected(self) -> Fault:
        fix = f"Set {self._url_setting} to the final address of the server; check http or https and its path."
        problem = f"{self.host} redirects to another address; citewise does not follow."
        return Fault(self._error("redirected", problem, fix))

    def not_this_protocol(self) -> Fault:
        fix = f"Check {self._url_setting}. A login page, a proxy or another program may be answering in its place."
        problem = f"{self.host} does not speak the OpenAI {self.endpoint.role} protocol."
        return Fault(self._error("protocol", problem, fix))

    def bad_vectors(self, what: str) -> Fault:
        problem = f"{self.model} at {self.host} returned {what}."
        return Fault(self._error("bad_vectors", problem, f"Check that {self._model_setting} is {self._a_model}."))

    def wrong_dimension(self, found: int, *, expected: int) -> Fault:
        problem = f"{self.model} at {self.host} returned vectors of {found} dimensions in place of {expected}."
        fix = "Check CITEWISE_EMBEDDING_DIMENSION, and whether the server serves another model by this name now."
        return Fault(self._error("wrong_dimension", problem, fix))

    def question_filtered(self) -> Fault:
        return Fault(
            self._error("filtered", f"The provider at {self.host} filtered this question.", "Ask it in other words.")
        )

    def answer_filtered(self) -> Fault:
        return Fault(
            self._error("filtered", f"The provider at {self.host} filtered this answer.", "Ask in other words.")
        )

    def refused(self, refusal: str) -> Fault:
        problem = f"{self.model} refused to answer: {quoted(refusal)}"
        return Fault(self._error("refused", problem, "Ask in other words, or use another model."))

    def no_text(self, *, retries: int) -> Fault:
        fix = "Ask again. If it goes on, the prompt may exceed the model's window: load it with a larger one."
        error = self._error("empty", f"{self.model} at {self.host} returned no text.", fix, retryable=True)
        return Fault(error, retries=retries)

    def only_reasoning(self) -> Fault:
        problem = f"{self.model} spent all its tokens on reasoning and returned no text."
        return Fault(self._error("empty", problem, "Raise CITEWISE_MAX_OUTPUT_TOKENS, or use another model."))

    def interrupted(self, how: str) -> Fault:
        problem = f"The answer of {self.model} at {self.host} was interrupted: {how}."
        return Fault(self._error("interrupted", problem, "Ask again; what came so far is kept.", retryable=True))

    def _with_v1(self) -> str:
        url = self.endpoint.url
        return "" if url.endswith("/v1") else f" It usually ends with /v1: try {url}/v1."

    def _error(self, kind: str, problem: str, fix: str, *, retryable: bool = False) -> EndpointError:
        return EndpointError(problem, fix=fix, kind=kind, retryable=retryable)


def listed(names: Sequence[str], *, most: int = 10) -> str:
    """The first `most` names, as one line."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(quoted(name, most=80) for name in names[:most]) + more


def quoted(text: str, *, most: int = 200) -> str:
    """What a server said, fit to be repeated: one line of printable characters, short, without keys."""
    line = " ".join("".join(character if character.isprintable() else " " for character in text).split())
    line = REDACT_KEYS.redacted(line)
    return line if len(line) <= most else line[: most - 1] + "…"
