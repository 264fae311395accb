"""What a chat model's tokens cost, from the dated table `prices.toml`. What is not in it has no price, never 0."""

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from rag.domain import Usage

_DATED = re.compile(r"-\d{4}-\d{2}-\d{2}$")


class Price(NamedTuple):
    """US dollars for a million tokens."""

    prompt: float
    completion: float


class Prices(NamedTuple):
    """The table: when it was read, and the price of each model."""

    date: str
    models: dict[str, Price]


@cache
def load_prices() -> Prices:
    """The table that comes with citewise."""
    table = tomllib.loads(files("evals").joinpath("prices.toml").read_text("utf-8"))
    return Prices(str(table["date"]), {name: Price(*price) for name, price in table["models"].items()})


def price_of(model: str | None) -> Price | None:
    """The price of an OpenAI model, also by a dated name (gpt-4.1-mini-2025-04-14); None where it is not known."""
    name = model or ""
    return load_prices().models.get(name) or load_prices().models.get(_DATED.sub("", name))


def cost(usage: Usage, *, model: str | None) -> float | None:
    """US dollars for `usage`; 0 without a call, None where price or tokens are not known."""
    if usage.calls == 0:
        return 0.0
    price = price_of(model)
    if price is None or usage.prompt_tokens is None or usage.completion_tokens is None:
        return None
    return (price.prompt * usage.prompt_tokens + price.completion * usage.completion_tokens) / 1e6
