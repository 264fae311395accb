"""Turns what the client raises or an endpoint says into our faults: the one place that knows their wording."""

import re
import ssl
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from rag.llm.chunks import get
from rag.llm.faults import Fault, Faults, quoted
from rag.llm.retry import retry_after

if TYPE_CHECKING:
    import openai

_CONTEXT = re.compile(
    r"exceed_context_size|context_length_exceeded|maximum context length|context (length|window|size)|max_model_len"
    r"|prompt is too long|input is too long|too many tokens|max_tokens must be at least 1"
)
_WINDOW = re.compile(
    r"(?:context length (?:is|of)|context (?:size|window) of|max_model_len\D{0,12}|n_ctx\D{0,6}) ?(\d{3,8})"
)
_QUOTA = re.compile(r"insufficient_quota|exceeded your current quota|insufficient (balance|credit)|out of credit")
_FILTER = re.compile(r"content_filter|content_policy|content management policy|responsibleaipolicy")
_NO_MODEL = re.compile(r"model_not_found|model.{0,120}(not found|does ?n.t exist|does not exist|not loaded|unknown)")
_NO_PATH = re.compile(r"unexpected endpoint|file not found|no route|unknown (url|path)")


def client_errors() -> tuple[type[BaseException], ...]:
    """All that a request through the client is known to raise; see shared notes on endpoints, section 2.

    Beside the client's own errors these are the transport's, and what malformed events make of the client's parsing.
    """
    import httpx2
    import openai

    return (
        openai.OpenAIError,
        httpx2.HTTPError,
        httpx2.InvalidURL,
        ssl.SSLError,
        ValueError,
        AttributeError,
        TypeError,
        LookupError,
        RecursionError,
    )


def fault_of(error: BaseException, faults: Faults) -> Fault:
    """The fault behind one of `client_errors`."""
    import httpx2
    import openai

    if isinstance(error, openai.APIStatusError):
        return _of_status(error, faults)
    if isinstance(error, openai.APIConnectionError | httpx2.HTTPError | ssl.SSLError):
        return _of_connection(error, faults)
    if isinstance(error, httpx2.InvalidURL):
        return faults.unreachable("its address is not a URL")
    if isinstance(error, openai.APIError):
        return fault_of_body(error.body or error.message, faults)
    return faults.not_this_protocol()


def interruption(error: BaseException) -> str:
    """How one of `client_errors` broke off an answer that had begun."""
    import httpx2
    import openai

    if isinstance(error, openai.APIConnectionError | httpx2.HTTPError | ssl.SSLError):
        return "the connection broke off"
    if isinstance(error, openai.APIError):
        return f"the server reported {_said(error.body) or quoted(error.message)}"
    return "the server sent something that cannot be read"


def fault_of_body(body: object, faults: Faults) -> Fault:
    """The fault that an error object reports which came with HTTP 200, as a whole body or as an event of a stream."""
    code = str(get(body, "code") or get(body, "status"))
    wording = _wording(body)
    status = int(code) if re.fullmatch(r"[345]\d\d", code) else 500
    if re.search(r"rate.?limit|too many requests", wording):
        status = 429
    return _of_wording(status, wording, _said(body), faults, headers={})


def _of_status(error: "openai.APIStatusError", faults: Faults) -> Fault:
    body = error.body if error.body is not None else error.message
    wording = f"{_wording(body)} {error.code or ''}".lower()
    said = ", ".join(filter(None, [f"HTTP {error.status_code}", _request_id(error), _said(error.body)]))
    return _of_wording(error.status_code, wording, said, faults, headers=error.response.headers)


def _of_wording(status: int, wording: str, said: str, faults: Faults, *, headers: Mapping[str, str]) -> Fault:
    """Wording goes first: servers report one fault under many statuses, and several under status 400."""
    if 300 <= status < 400:
        return faults.redirected()
    if status in {400, 413, 422, 500} and _CONTEXT.search(wording):
        window = _WINDOW.search(wording)
        return faults.context_too_long(int(window[1]) if window else None)
    if status == 402 or _QUOTA.search(wording):
        return faults.quota()
    if status < 500 and _FILTER.search(wording):
        return faults.question_filtered()
    if status in {400, 404, 422} and _NO_MODEL.search(wording):
        return faults.model_not_found()
    if status == 405 or _NO_PATH.search(wording):
        return faults.no_api()
    if status == 503 and "loading" in wording:
        return faults.loading(retry_after(headers))
    by_status = {401: faults.key_refused, 403: faults.forbidden, 404: faults.no_api, 413: faults.request_too_large}
    if status in by_status:
        return by_status[status]()
    again = 0 if headers.get("x-should-retry") == "false" else 2
    if status == 429:
        return faults.busy(retry_after(headers), retries=again)
    if status in {408, 409} or status >= 500:
        return faults.server_error(said, wait=retry_after(headers), wording=wording, retries=again)
    return faults.rejected(said, wording=wording)


def _of_connection(error: BaseException, faults: Faults) -> Fault:
    import httpx2
    import openai

    causes = list(_causes(error))
    if any(isinstance(cause, ssl.SSLCertVerificationError) for cause in causes) or "CERTIFICATE_VERIFY" in str(causes):
        return faults.untrusted_certificate()
    if any(isinstance(cause, httpx2.ProxyError) for cause in causes):
        return faults.unreachable("the proxy of your environment (HTTP_PROXY, HTTPS_PROXY) refused the connection")
    if any(isinstance(cause, httpx2.ConnectTimeout) for cause in causes):
        return faults.unreachable("it does not take connections")
    if any(isinstance(cause, httpx2.ConnectError) for cause in causes):
        return faults.unreachable(_connect_reason(causes))
    if isinstance(error, openai.APITimeoutError | httpx2.TimeoutException):
        return faults.unreachable("it does not read the request")
    return faults.connection_lost()


def _connect_reason(causes: list[BaseException]) -> str:
    text = " ".join(str(cause) for cause in causes).lower()
    if re.search(r"name or service|nodename|getaddrinfo|temporary failure in name|no address", text):
        return "no machine of this name was found"
    if any(isinstance(cause, ssl.SSLError) for cause in causes) or "ssl" in text:
        return "it does not speak TLS; try http:// in place of https://"
    return "nothing takes connections there"


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen: BaseException | None = error
    while seen is not None:
        yield seen
        seen = seen.__cause__ or seen.__context__


def _wording(body: object) -> str:
    """All that an error body says, in lower case; llama.cpp and FastAPI nest it in lists and objects."""
    return str(body).lower()


def _said(body: object) -> str:
    """The message of an error body, where it is a text that says more than a page of HTML."""
    message = body if isinstance(body, str) else get(body, "message") or get(body, "detail")
    if not isinstance(message, str) or "<" in message:
        return ""
    return quoted(message)


def _request_id(error: "openai.APIStatusError") -> str:
    return f"request {quoted(error.request_id, most=80)}" if error.request_id else ""
