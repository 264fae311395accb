"""Whatever a model writes, and however it is cut: the cleaned text is the same, no longer, and clean."""

import re
import unicodedata

from hypothesis import given, settings
from hypothesis import strategies as st

from rag.cleaning import MAX_HELD, clean, clean_deltas, visible, without_invisible
from rag.cleaning_tokens import TEMPLATE_TOKEN
from rag.guarding import RECITED_WORDS, without_recital
from rag.private import Restoring

TOKENS = (
    "<|im_start|> <| |> [INST] [/ INST] <<SYS>> <<>> <s> < << </ > >> <img img src= =x onerror= <script> </script> "
    "<svg/ <!-- --> ``` ```html ~~~ ` ](http:// ](javascript: ]( ) ( [1] [a] ![ https:// http ht www. e.example/x . "
    "\\href \\url \\ { } \\includegraphics[ ] \\html \\htmlClass{ (Doe et al., 2020) (Doe et al. 2020 ) SECRET SEC "
    "RET a b <b style = \" ' <tool_call> </tool_call> x[0] $a<b$ \\emph{} é"
).split(" ")
ODD = [
    "\n",
    "\n\n",
    " ",
    "\t",
    "e",
    "\u0301",
    "\u200b",
    "\u200c",
    "\u200d",
    "م",
    "क",
    "्",
    "\u202e",
    "\ufe0f",
    "\U000e0041",
    "\x1b",
    "<\u0338",
]
TEXT = st.lists(st.sampled_from(TOKENS + ODD) | st.text(max_size=4), max_size=20).map("".join)
PLAIN = st.text(
    st.characters(categories=["Ll", "Lu", "Nd"], codec="ascii") | st.sampled_from(" .,;:?!%+-*_\n\t'\"/"), max_size=300
)
UNHURRIED = settings(deadline=None, max_examples=300)
PROMPT = "You answer questions from the abstracts that you are given. Cite each sentence. Say nothing else, ever."


def cut(text: str, places: list[int]) -> list[str]:
    ends = sorted({place % (len(text) + 1) for place in places} | {len(text)})
    return [text[start:end] for start, end in zip([0, *ends], ends, strict=False)]


@UNHURRIED
@given(TEXT)
def test_cleaning_is_idempotent_and_never_lengthens(text: str) -> None:
    cleaned = clean(text, hidden=["SECRET"])
    assert clean(cleaned, hidden=["SECRET"]) == cleaned
    assert len(cleaned) <= len(unicodedata.normalize("NFC", text))


@UNHURRIED
@given(TEXT, st.lists(st.integers(0, 400), max_size=12))
def test_how_the_text_is_cut_changes_nothing(text: str, places: list[int]) -> None:
    assert "".join(clean_deltas(cut(text, places), hidden=["SECRET"])) == clean(text, hidden=["SECRET"])


@UNHURRIED
@given(TEXT)
def test_nothing_forbidden_survives(text: str) -> None:
    cleaned = clean(text, hidden=["SECRET"])
    assert "SECRET" not in cleaned
    assert not TEMPLATE_TOKEN.search(cleaned)
    assert not re.search(
        r"https?://[\w]|\]\((?:https?|javascript):|<(?:img|script|svg)[\s/>]|\\(?:href|url)[{\[]", cleaned
    )
    assert visible(cleaned) == cleaned


@UNHURRIED
@given(PLAIN)
def test_plain_text_passes_verbatim(text: str) -> None:
    if "://" not in text and "www." not in text.lower():
        assert clean(text) == text


@UNHURRIED
@given(TEXT)
def test_what_is_held_back_is_bounded(text: str) -> None:
    out = seen = 0
    for character, part in zip(text * 8, clean_deltas(iter(text * 8)), strict=False):
        seen += len(character)
        out += len(part)
    whole = clean(text * 8)
    rest = len(whole) - out
    assert rest <= MAX_HELD + 64


@UNHURRIED
@given(TEXT)
def test_only_what_cannot_be_seen_goes_from_quotes(text: str) -> None:
    left = iter(text)
    assert all(character in left for character in without_invisible(text))
    assert visible(visible(text)) == visible(text)


@UNHURRIED
@given(
    st.lists(st.sampled_from([*PROMPT.split(), "x", "-", "\n", "Y" * 50]), max_size=40),
    st.lists(st.integers(0, 400), max_size=9),
)
def test_the_prompt_is_not_recited_however_it_is_cut(words: list[str], places: list[int]) -> None:
    text = " ".join(words)
    shown = "".join(without_recital([text], prompt=PROMPT))
    assert "".join(without_recital(cut(text, places), prompt=PROMPT)) == shown
    assert len(shown) <= len(text)
    plain = re.sub(r"[^\w ]", "", " ".join(shown.split())).lower()
    prompt = re.sub(r"[^\w ]", "", PROMPT).lower().split()
    for start in range(len(prompt) - RECITED_WORDS + 1):
        assert (
            f" {' '.join(prompt[start : start + RECITED_WORDS])} " not in f" {plain} " or "-" in words or "\n" in words
        )


@UNHURRIED
@given(
    st.lists(st.sampled_from(["Person-1", "Term-12", "Term-1", "per", "Person", "-", "1", " ", "x", "N"])),
    st.lists(st.integers(0, 400), max_size=9),
)
def test_restoring_does_not_depend_on_the_cut(parts: list[str], places: list[int]) -> None:
    text = "".join(parts)
    stand_ins = {"Ada": "Person-1", "Falcon": "Term-1", "Eagle": "Term-12"}
    whole, pieces = Restoring(stand_ins), Restoring(stand_ins)
    assert "".join(map(pieces.feed, cut(text, places))) + pieces.finish() == whole.feed(text) + whole.finish()
