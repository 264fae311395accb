"""Shows what a chat model would be sent, and sends nothing."""

from collections.abc import Iterator, Sequence
from math import inf

from rag.domain import Usage
from rag.llm import Completion, Endpoint
from rag.llm.request import RequestShape
from rag.prompting import Message


class RequestPreview:
    """Takes the place of a chat model: keeps the bodies of its requests in `bodies` and replies with nothing.

    The body's "model" is None where the endpoint would first have been asked what it serves.
    """

    def __init__(self, endpoint: Endpoint, bodies: list[dict[str, object]]) -> None:
        self.model = endpoint.model
        self._endpoint, self._bodies = endpoint, bodies

    def stream(self, messages: Sequence[Message], *, until: float = inf) -> Iterator[str | Completion]:
        """No text, and an end that counts no call."""
        body = RequestShape.first(self._endpoint).arguments(
            messages,
            model=self.model or "",
            max_output_tokens=self._endpoint.max_output_tokens,
            temperature=self._endpoint.temperature,
        )
        self._bodies.append(body | {"model": self.model})
        yield Completion(Usage(), "stop")
