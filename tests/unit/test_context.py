"""What a model reads of each source."""

from collections import Counter
from pathlib import Path

import pytest

from evals.context import asked, measure
from rag.assistant import Assistant
from rag.context import choose_context, source_text
from rag.domain import RankedSentence, Source
from rag.embedding import MiniLMEmbedder
from rag.evidence import find_evidence
from rag.questions import read_question
from rag.sentences import split_sentences
from tests.builders import paper

ABSTRACT = "One starts it.  Two\ngoes on. Three is best: $x$ {y}. Four follows. Five ends."


def source(number: int, *, best: int = 2) -> Source:
    spans = split_sentences(ABSTRACT)
    ranked = [
        RankedSentence(span, ABSTRACT[span.start : span.end], 0.9 if index == best else 0.1, 0.0)
        for index, span in enumerate(spans)
    ]
    return Source(number, paper(abstract=ABSTRACT), tuple(ranked))


@pytest.mark.parametrize(
    ("number", "best", "text"),
    [
        (1, 2, ABSTRACT),
        (2, 2, ABSTRACT),
        (3, 2, "… Two\ngoes on. Three is best: $x$ {y}. Four follows. …"),
        (3, 0, "One starts it.  Two\ngoes on. …"),
        (5, 4, "… Four follows. Five ends."),
        (6, 2, "… Three is best: $x$ {y}. …"),
    ],
)
def test_lower_papers_give_their_best_sentence_word_for_word(number: int, best: int, text: str) -> None:
    assert source_text(source(number, best=best), context="evidence") == text


def test_every_part_between_the_gaps_stands_in_the_abstract() -> None:
    for number in range(1, 9):
        for best in range(5):
            parts = source_text(source(number, best=best), context="evidence").split("…")
            assert all(part.strip() in ABSTRACT for part in parts)


def test_whole_is_whole_and_an_abstract_without_sentences_too() -> None:
    assert source_text(source(8), context="whole") == ABSTRACT
    assert source_text(Source(8, paper(abstract="..."), ()), context="evidence") == "..."


def test_auto_depends_on_the_window() -> None:
    assert choose_context("auto", context_tokens=4096) == "evidence"
    assert choose_context("auto", context_tokens=4097) == "whole"
    assert choose_context("whole", context_tokens=2048) == "whole"
    assert choose_context("evidence", context_tokens=128_000) == "evidence"


@pytest.mark.data
def test_the_evidence_context_keeps_gold_quotes_at_half_of_the_tokens(shared_data: Path, assistant: Assistant) -> None:
    embedder, total = MiniLMEmbedder(), Counter[str]()
    for question, quotes in list(asked(shared_data / "gold_dev.jsonl"))[::4]:
        found = assistant.search(question, k=8)
        sources = find_evidence(read_question(question), found, corpus=assistant.corpus, embedder=embedder)
        total += measure(sources, quotes)
    assert total["kept"] >= 0.97 * total["retrieved"] > 40
    assert total["evidence_tokens"] <= 0.5 * total["whole_tokens"]
