"""Chunks: whole abstracts where they fit, else parts cut between sentences, without a word lost."""

import subprocess
import sys

import pytest

from rag.chunking import chunk_abstract
from rag.domain import Chunk, Paper, Span
from rag.sentences import split_sentences
from rag.tokens import count_tokens
from tests.builders import paper


def _long_paper(sentences: int = 30) -> Paper:
    text = "  ".join(f"Sentence {i} says that method {i} gains {i}.5% over the baseline." for i in range(sentences))
    return paper(abstract=f" {text}\n")


def _uncovered(text: str, chunks: tuple[Chunk, ...]) -> str:
    """What of `text` lies in no chunk; raises where chunks overlap."""
    gaps, end = "", 0
    for chunk in chunks:
        assert chunk.span.start >= end
        gaps += text[end : chunk.span.start]
        end = chunk.span.end
    return gaps + text[end:]


def test_an_abstract_that_fits_is_one_chunk_as_it_stands() -> None:
    text = "  A short abstract.\n"
    assert chunk_abstract(paper("p", abstract=text)) == (Chunk("p", 0, text, Span(0, len(text))),)


def test_a_long_abstract_is_cut_between_sentences() -> None:
    long = _long_paper()
    chunks = chunk_abstract(long, chunk_tokens=100)
    sentences = split_sentences(long.abstract)
    assert len(chunks) > 3
    assert {chunk.span.start for chunk in chunks} <= {sentence.start for sentence in sentences}
    assert {chunk.span.end for chunk in chunks} <= {sentence.end for sentence in sentences}
    assert [chunk.ordinal for chunk in chunks] == list(range(len(chunks)))


def test_chunks_are_substrings_that_fit_and_hold_all_but_white_space() -> None:
    long = _long_paper()
    chunks = chunk_abstract(long, chunk_tokens=64)
    assert all(long.abstract[chunk.span.start : chunk.span.end] == chunk.text for chunk in chunks)
    assert max(count_tokens(chunk.text) for chunk in chunks) <= 64
    assert not _uncovered(long.abstract, chunks).strip()


@pytest.mark.parametrize(
    "text", ["word " * 500, "a,b;" * 400, "x" * 4000, "日本語" * 500, "👩‍👩‍👧" * 200, r"\frac{a}{b}" * 200]
)
def test_a_single_sentence_past_the_limit_is_split_further(text: str) -> None:
    chunks = chunk_abstract(paper(abstract=text), chunk_tokens=50)
    assert len(chunks) > 1
    assert max(count_tokens(chunk.text) for chunk in chunks) <= 50
    assert not _uncovered(text, chunks).strip()


@pytest.mark.parametrize("text", ["{…$\\-…()>\\;=.)<_,!-{(…>,= ->?}((;^-,", "\\.\\.B}é ;a日$日;é3é 3日, .é{.B,"])
def test_parts_that_encode_to_more_tokens_together_than_apart_still_fit(text: str) -> None:
    assert count_tokens(text) == 25
    assert max(count_tokens(chunk.text) for chunk in chunk_abstract(paper(abstract=text), chunk_tokens=24)) <= 24


def test_a_limit_that_a_character_might_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 16"):
        chunk_abstract(paper(), chunk_tokens=15)


def test_llama_index_is_imported_for_a_long_abstract_only_and_nltk_never() -> None:
    script = (
        "import sys\n"
        "from rag.chunking import chunk_abstract\n"
        "from rag.domain import Paper\n"
        "chunk_abstract(Paper('p', '', (), 'Short.'))\n"
        "assert not any(name.startswith('llama_index.core') for name in sys.modules)\n"
        "assert len(chunk_abstract(Paper('p', '', (), 'Some words here. ' * 200))) > 1\n"
        "assert 'llama_index.core.node_parser' in sys.modules\n"
        "assert 'nltk' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
