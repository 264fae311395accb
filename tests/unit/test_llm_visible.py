"""Which part of a model's text is shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.llm.visible import VisibleText, joined_surrogates

PIECES = st.sampled_from(
    ["<think>", "</think>", "<THINKING>", "</thinking>", "<", "<thi", "a", " ", "\n", "é", "😀", "\ud83d", "\ude00"]
)


def shown(*deltas: str, **options: object) -> str:
    visible = VisibleText(**options)  # type: ignore[arg-type]
    return "".join([*(visible.feed(delta) for delta in deltas), visible.finish()])


@given(st.lists(PIECES).map("".join), st.data())
def test_where_a_text_is_split_changes_nothing(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)))))
    deltas = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert shown(*deltas) == shown(text)


@given(st.lists(PIECES).map("".join))
def test_what_is_shown_has_no_tag_and_can_be_written(text: str) -> None:
    result = shown(text)
    result.encode()
    assert not any(tag in result.lower() for tag in ("<think>", "</think>", "<thinking>", "</thinking>"))


@given(st.text())
def test_text_without_tags_passes_whole(text: str) -> None:
    plain = text.replace("<", "")
    assert shown(plain) == plain.lstrip()


def test_reasoning_is_dropped_wherever_it_stands() -> None:
    assert shown("<think>a</think>\n\nYes. <think>b</think>No.") == "Yes. No."
    assert shown("Yes.<think>never closed") == "Yes."
    assert shown("<think>never closed") == ""


def test_what_only_looks_like_a_tag_is_text() -> None:
    assert shown("p <", " 0.05 and <thin", "g>") == "p < 0.05 and <thing>"


def test_reasoning_that_the_prompt_opened_is_noticed() -> None:
    visible = VisibleText()
    assert visible.feed("so it is.</think>Yes.") == "so it is.Yes."
    assert visible.began_thinking


def test_reasoning_that_the_prompt_opens_is_dropped_once_that_is_known() -> None:
    assert shown("so it is.", "</think>Yes.", thinking=True) == "Yes."
    assert shown("Yes,", " it is.", thinking=True) == "Yes, it is."
    assert shown("<think>a</think>Yes.", thinking=True) == "Yes."


@pytest.mark.parametrize("deltas", [["abcdef"], ["ab", "cd", "ef"], ["éé", "é"]])
def test_text_is_cut_at_its_limit(deltas: list[str]) -> None:
    visible = VisibleText(max_bytes=5)
    text = "".join(visible.feed(delta) for delta in deltas)
    assert text in {"abcde", "éé"}
    assert visible.full
    assert visible.feed("more") == ""


def test_surrogates_are_joined_or_replaced() -> None:
    assert joined_surrogates("a\ud83d\ude00b\ud83dc\ude00") == "a😀b\ufffdc\ufffd"
