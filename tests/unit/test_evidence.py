"""Which sentences of an abstract bear on a question."""

import numpy as np
import pytest

from rag.evidence import rank_sentences, sentence_features
from rag.questions import read_question
from rag.sentences import split_sentences

ABSTRACT = (
    "Alignment of language models is an open problem. However, existing methods overlook how people decide. "
    "We propose Satisficing Alignment (SITAlign), a framework for decoding. "
    "Experiments on two benchmarks show a gain of 22.3%. Code is at https://example.org/sitalign."
)


def best(question: str) -> str:
    asked = read_question(question)
    flat = np.zeros((len(asked.texts), len(split_sentences(ABSTRACT))), dtype=np.float32)
    ranked = rank_sentences(asked, ABSTRACT, cosines=flat)
    return max(ranked, key=lambda sentence: sentence.probability).text


@pytest.mark.parametrize(
    ("question", "begins"),
    [
        ("What does SITAlign stand for?", "We propose Satisficing"),
        ("What gain do the experiments of SITAlign show?", "Experiments"),
        ("What do existing methods overlook?", "However"),
        ("Where is the code of SITAlign?", "Code"),
        ("On which benchmarks was SITAlign tested?", "Experiments"),
    ],
)
def test_words_and_what_is_asked_for_pick_the_sentence_without_any_vector(question: str, begins: str) -> None:
    assert best(question).startswith(begins)


def test_meaning_decides_where_words_do_not() -> None:
    asked = read_question("zebra crossing")
    cosines = np.array([[0.0, 0.0, 0.0, 0.9, 0.0]], dtype=np.float32)
    ranked = rank_sentences(asked, ABSTRACT, cosines=cosines)
    assert max(ranked, key=lambda sentence: sentence.probability).span == split_sentences(ABSTRACT)[3]


def test_ranked_sentences_keep_the_abstracts_order_and_text() -> None:
    asked = read_question("What is SITAlign?")
    ranked = rank_sentences(asked, ABSTRACT, cosines=np.zeros((1, 5), dtype=np.float32))
    assert [sentence.text for sentence in ranked] == [ABSTRACT[s.start : s.end] for s in split_sentences(ABSTRACT)]
    assert all(0 <= sentence.probability <= 1 for sentence in ranked)


def test_what_answers_a_part_answers_the_compound_question() -> None:
    asked = read_question("What gain is shown, and where is the code?")
    cosines = np.zeros((len(asked.texts), 5), dtype=np.float32)
    ranked = rank_sentences(asked, ABSTRACT, cosines=cosines)
    top_two = sorted(ranked, key=lambda sentence: -sentence.probability)[:2]
    assert {sentence.text.split()[0] for sentence in top_two} == {"Experiments", "Code"}


def test_a_sentence_that_refers_back_to_what_is_introduced_defines_it() -> None:
    abstract = "History matters. We introduce memory traces. Inspired by others, these are moving averages."
    features = sentence_features(read_question("What are memory traces?"), abstract, cosines=[0, 0, 0])
    assert [row.definition for row in features] == [0, 1, 1]


def test_the_name_that_is_everywhere_weighs_less_than_a_word_of_one_sentence() -> None:
    abstract = "MILS is simple. MILS is fast. MILS is training free. MILS works."
    features = sentence_features(read_question("Does MILS need training?"), abstract, cosines=[0] * 4)
    assert features[2].coverage > 2 * features[0].coverage
