"""The models that an endpoint lists, and which one to ask where none is configured."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from rag.llm.chunks import get
from rag.llm.faults import Failed, Faults

if TYPE_CHECKING:
    import openai

_WINDOW_FIELDS = ("max_model_len", "context_length", "max_context_length", "context_window", "n_ctx")


class ServedModel(NamedTuple):
    """`context_tokens` is None where the list does not tell it: OpenAI's and Ollama's do not."""

    name: str
    context_tokens: int | None


async def served_models(client: "openai.AsyncOpenAI") -> list[ServedModel]:
    """The chat models of `GET /models`. Raises what the client raises, ValueError where the answer is no such list."""
    page: object = await client.models.list()
    if page is None or isinstance(page, str):
        raise ValueError("the answer to /models is not a list of models")
    entries = get(page, "data")
    models = [
        ServedModel(name, _context_tokens(entry))
        for entry in (entries if isinstance(entries, list) else [])
        if isinstance(name := get(entry, "id"), str) and name
    ]
    # Ollama and LM Studio list embedding models too, and do not say which they are.
    return [model for model in models if "embed" not in model.name.lower()]


def only_model(models: Sequence[ServedModel], faults: Faults) -> str:
    """The name of the only model. Raises Failed with the names to choose from."""
    if len(models) == 1:
        return models[0].name
    raise Failed(faults.model_not_chosen([model.name for model in models]) if models else faults.no_models())


def _context_tokens(entry: object) -> int | None:
    values = [get(place, name) for place in (entry, get(entry, "meta")) for name in _WINDOW_FIELDS]
    return next((value for value in values if isinstance(value, int) and value > 0), None)
