"""Token counts without a network."""

import pytest

from rag.tokens import count_tokens


@pytest.mark.parametrize(
    ("text", "count"), [("", 0), ("hello world", 2), ("<|endoftext|>", 7), ("memory traces decay", 3)]
)
def test_counts_are_those_of_the_encoding(text: str, count: int) -> None:
    assert count_tokens(text) == count
