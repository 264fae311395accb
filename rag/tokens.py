"""Token counts by tiktoken, from rank files that come inside llama-index-core: nothing is fetched at run time."""

import importlib.util
import os
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import tiktoken

ENCODING = "o200k_base"


@lru_cache(maxsize=1)
def encoding() -> "tiktoken.Encoding":
    """The encoding that all counts use. It is OpenAI's of 2024 and later; other models count up to 15 % apart."""
    import tiktoken

    # find_spec does not import llama_index.core, which takes two seconds.
    spec = importlib.util.find_spec("llama_index")
    if spec is not None and spec.submodule_search_locations:
        ranks = Path(next(iter(spec.submodule_search_locations)), "core", "_static", "tiktoken_cache")
        os.environ["TIKTOKEN_CACHE_DIR"] = str(ranks)
    return tiktoken.get_encoding(ENCODING)


def count_tokens(text: str) -> int:
    """Number of tokens of `text`; special tokens in it (`<|endoftext|>`) are ordinary text."""
    return len(tokenize(text))


def tokenize(text: str) -> list[int]:
    """The token ids of `text`, with special tokens taken as ordinary text."""
    return encoding().encode(text, disallowed_special=())


def first_tokens(text: str, *, most: int) -> str:
    """`text`, or as much of it as `most` tokens hold; no character is cut in two."""
    if len(text.encode()) <= most:  # a token is a byte at least
        return text
    ids = tokenize(text)
    return text if len(ids) <= most else encoding().decode(ids[:most], errors="ignore")


Tokenizer = Callable[[str], list[int]]
