"""What holds for any text a model may write: cuts change nothing, no unknown marker survives, the rest is verbatim."""

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from rag.assembly import assemble
from rag.citations import parse_citations
from rag.domain import Cite, Removed

SOURCES = 3
FRAGMENTS = [
    *(
        "[",
        "]",
        "(",
        ")",
        "【",
        "】",
        "1",
        "2",
        "3",
        "9",
        "0",
        "12",
        ",",
        "-",
        " ",
        " ",
        "\n",
        "\n\n",
        ".",
        ":",
        ";",
        "^",
    ),
    *("[1]", "[2]", "[9]", "[1, 9]", "[1-3]", "(1)", "(Source 2)", "[Source 9]", "[ref]", "[citation needed]", "【3】"),
    *(
        "`",
        "```",
        "``",
        "$",
        "$$",
        "$5",
        "\\(",
        "\\)",
        "\\[",
        "\\]",
        '"',
        "“",
        "”",
        "''",
        "**",
        "_",
        "!",
        "<",
        "†",
        "#",
    ),
    *(
        "word",
        "Traces help",
        " and ",
        "x",
        "References:",
        "Sources",
        "\n- ",
        "\n[1] Title",
        "](http://x.y)",
        "(http://",
    ),
]
model_texts = st.one_of(st.lists(st.sampled_from(FRAGMENTS), max_size=30).map("".join), st.text(max_size=80))


def pieces_of(deltas: list[str]) -> list[str | Cite | Removed]:
    """The pieces, with text that follows text joined to it; "" says that nothing came."""
    pieces: list[str | Cite | Removed] = []
    for piece in filter(None, parse_citations(deltas, sources=SOURCES)):
        if piece == "":
            continue
        last = pieces[-1] if pieces else None
        if isinstance(piece, str) and isinstance(last, str):
            pieces[-1] = last + piece
        else:
            pieces.append(piece)
    return pieces


def cut(text: str, places: list[int]) -> list[str]:
    ends = sorted({place % (len(text) + 1) for place in places} | {len(text)})
    return [text[start:end] for start, end in zip([0, *ends], ends, strict=False)]


@settings(max_examples=300)
@given(text=model_texts, places=st.lists(st.integers(0, 10_000), max_size=20))
def test_how_a_text_is_cut_into_deltas_changes_nothing(text: str, places: list[int]) -> None:
    assert pieces_of(cut(text, places)) == pieces_of([text]) == pieces_of(list(text))


@settings(max_examples=300)
@given(
    words=st.lists(st.sampled_from([f for f in FRAGMENTS if not re.search(r'[`$\\"“”\']|http|Title', f)]), max_size=30)
)
def test_no_marker_survives_in_text_without_code_math_and_quotations(words: list[str]) -> None:
    left = "".join(piece for piece in parse_citations(words, sources=SOURCES) if isinstance(piece, str))
    survivors = [match for match in re.findall(r"(?<![\w\]])\[(\d+)\]", left) if match != "0"]
    assert not survivors


@settings(max_examples=300)
@given(text=model_texts)
def test_only_given_sources_are_cited_and_their_markers_stand_where_they_are_said_to(text: str) -> None:
    answer = assemble(parse_citations([text], sources=SOURCES))
    assert set(answer.sources) <= set(range(1, SOURCES + 1))
    for marker in answer.markers:
        assert answer.text[marker.span.start : marker.span.end] == f"[{marker.number}]"
    for sentence in answer.sentences:
        assert 0 <= sentence.span.start < sentence.span.end <= len(answer.text)


@settings(max_examples=300)
@given(
    text=st.text(
        st.characters(exclude_characters="[]()【】［］〔〕（）", exclude_categories=["Cs"]), max_size=200
    ).filter(lambda text: not re.search("(?i)reference|source|bibliography|cit|literatur|quellen|参考文献|来源", text))
)
def test_text_without_brackets_and_reference_list_passes_verbatim(text: str) -> None:
    assert "".join(map(str, parse_citations(list(text), sources=SOURCES))) == text


@settings(max_examples=300)
@given(text=st.text(max_size=100), sources=st.lists(st.integers(1, SOURCES), max_size=3))
def test_text_that_a_writer_quotes_is_assembled_verbatim(text: str, sources: list[int]) -> None:
    answer = assemble([text, *map(Cite, sources)])
    assert answer.plain == text.strip()
    assert len(answer.markers) == len(sources)
