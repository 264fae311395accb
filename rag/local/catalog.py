"""Models that are known by a short name: where their files are, and what they need."""

from typing import NamedTuple


class KnownModel(NamedTuple):
    """An instruct model on the Hugging Face hub. `size` is that of its file in bytes, to within a few percent."""

    name: str
    repo: str
    file: str
    size: int
    terms: str


KNOWN_MODELS = (
    KnownModel(
        "qwen2.5-0.5b",
        "Qwen/Qwen2.5-0.5B-Instruct-GGUF",
        "qwen2.5-0.5b-instruct-q4_k_m.gguf",
        491_000_000,
        "Apache-2.0",
    ),
    KnownModel(
        "qwen2.5-1.5b",
        "Qwen/Qwen2.5-1.5B-Instruct-GGUF",
        "qwen2.5-1.5b-instruct-q4_k_m.gguf",
        1_120_000_000,
        "Apache-2.0",
    ),
    KnownModel(
        "llama3.2-3b",
        "bartowski/Llama-3.2-3B-Instruct-GGUF",
        "Llama-3.2-3B-Instruct-Q4_K_M.gguf",
        2_019_000_000,
        "Llama 3.2 licence",
    ),
    KnownModel(
        "qwen2.5-3b",
        "Qwen/Qwen2.5-3B-Instruct-GGUF",
        "qwen2.5-3b-instruct-q4_k_m.gguf",
        2_100_000_000,
        "Qwen research licence: not for commercial use",
    ),
    KnownModel(
        "qwen3-4b",
        "unsloth/Qwen3-4B-Instruct-2507-GGUF",
        "Qwen3-4B-Instruct-2507-Q4_K_M.gguf",
        2_497_000_000,
        "Apache-2.0",
    ),
    KnownModel(
        "qwen2.5-7b",
        "bartowski/Qwen2.5-7B-Instruct-GGUF",
        "Qwen2.5-7B-Instruct-Q4_K_M.gguf",
        4_683_000_000,
        "Apache-2.0",
    ),
)


def known_model(name: str) -> KnownModel | None:
    """The model of this short name."""
    return next((model for model in KNOWN_MODELS if model.name == name.lower()), None)
