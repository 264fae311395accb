"""The route /metrics: what Prometheus reads, under the page's name and password where it has them."""

import base64
import binascii
import hmac
from collections.abc import Callable
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response

if TYPE_CHECKING:
    from rag.observing.metrics import Metrics


def metrics_route(metrics: "Metrics", *, auth: tuple[str, str] | None) -> Callable[[Request], Response]:
    """Answers with the metrics; with `auth` only to those who give it as Basic authentication (RFC 7617)."""
    from rag.observing.metrics import CONTENT_TYPE

    def show(request: Request) -> Response:
        if auth is not None and not _is_known(request.headers.get("authorization", ""), auth):
            return Response("Unauthorized", 401, {"WWW-Authenticate": 'Basic realm="citewise"'})
        return Response(metrics.exposition(), headers={"Content-Type": CONTENT_TYPE})

    return show


def _is_known(header: str, auth: tuple[str, str]) -> bool:
    scheme, _, given = header.partition(" ")
    try:
        decoded = base64.b64decode(given, validate=True)
    except (binascii.Error, ValueError):
        return False
    return scheme.lower() == "basic" and hmac.compare_digest(decoded, ":".join(auth).encode())
