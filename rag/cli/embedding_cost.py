"""What `citewise ingest` says, and asks, before an embedding endpoint is paid."""

import sys
from typing import TYPE_CHECKING

import typer

from rag.cli.screen import console, safe
from rag.embedding_cost import PRICED_ON, BeforeEmbedding, EmbeddingNeed, price

if TYPE_CHECKING:
    from rag.llm import Endpoint
    from rag.settings import Settings


def announces_cost(settings: "Settings", *, yes: bool) -> BeforeEmbedding | None:
    """Prints what will be embedded and, on a terminal without `yes`, asks; None where citewise itself embeds."""
    from rag.wiring import build_embedding_endpoint

    endpoint = build_embedding_endpoint(settings)
    if endpoint is None:
        return None

    def announce(need: EmbeddingNeed) -> None:
        if not need.texts:
            return
        console(stderr=True).print(safe(cost_line(need, endpoint)))
        if sys.stdin.isatty() and not yes:
            typer.confirm("Embed them?", abort=True, err=True)

    return announce


def cost_line(need: EmbeddingNeed, endpoint: "Endpoint") -> str:
    """Texts, tokens and price, in one line."""
    model = str(endpoint.model)
    dollars = price(model, tokens=need.tokens) if endpoint.is_openai else None
    cost = "n/a" if dollars is None else f"about ${dollars:.4f}, by prices of {PRICED_ON}"
    return f"{model} at {endpoint.host} embeds {need.texts:,} texts, about {need.tokens:,} tokens; price: {cost}"
