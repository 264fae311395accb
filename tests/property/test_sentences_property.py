"""Sentences of any text: in order, apart, trimmed, and together all of it."""

from hypothesis import given
from hypothesis import strategies as st

from rag.sentences import split_sentences

texts = st.text() | st.lists(
    st.sampled_from(["A", "b.", "e.g.", "3.5", "!", "\n\n", " ", "。", "- ", "**", "$x$."])
).map("".join)


@given(texts)
def test_sentences_hold_every_character_that_is_not_white_space(text: str) -> None:
    spans = split_sentences(text)
    end = 0
    for span in spans:
        assert end <= span.start < span.end
        assert not text[end : span.start].strip()
        assert text[span.start : span.end] == text[span.start : span.end].strip()
        end = span.end
    assert not text[end:].strip()
