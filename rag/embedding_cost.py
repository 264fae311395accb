"""What an embedding model will be asked to embed, and what that costs where the price is known."""

from collections.abc import Callable
from dataclasses import dataclass

PRICED_ON = "2026-12-01"
"""The day on which PRICES were read from OpenAI's model pages (developers.openai.com/api/docs/models)."""
PRICES = {"text-embedding-3-small": 0.02, "text-embedding-3-large": 0.13}
"""US dollars for a million tokens at OpenAI."""


@dataclass(frozen=True, slots=True)
class EmbeddingNeed:
    """Texts, and their tokens, whose vectors are in no cache."""

    texts: int
    tokens: int


BeforeEmbedding = Callable[[EmbeddingNeed], object]
"""Told what is to be embedded before anything is; what it raises stops the build."""


def price(model: str, *, tokens: int) -> float | None:
    """US dollars for `tokens` of an OpenAI model; None where its price is not known."""
    per_million = PRICES.get(model)
    return None if per_million is None else per_million * tokens / 1e6
