"""Sentences in the abstracts' own words that go further than the abstracts: numbers, scope, other things' impact."""

import pytest

from rag.support import check_support

COMPRESSION = (
    "We train transformers with relatively small sizes (millions of parameters) on 165GB of text, image, or audio data "
    "and all combinations of the three. They outperform standard compression algorithms. We conduct extensive "
    "ablations and sweeps to study the impact of model and dataset scale on compression."
)
EVENTS = (
    "Event cameras capture brightness changes as asynchronous events rather than traditional intensity frames. We "
    "propose EvFocus, a training free network that reconstructs sharp images. Experiments on both simulated and real "
    "datasets show its robustness for certain blur sizes."
)
VERIFYING = (
    "Previous works tackle this by employing extensive reinforcement learning or relying on large external verifiers. "
    "We propose ReVISE, a framework that enables LLMs to self-correct their outputs."
)
ALIGNING = (
    "On the PKU-SafeRLHF dataset with the primary objective of maximizing helpfulness, SITAlign outperforms decoding "
    "strategies while adhering to the threshold on harmlessness."
)


@pytest.mark.parametrize(
    ("abstract", "sentence", "support", "reason"),
    [
        (COMPRESSION, "Transformers with billions of parameters outperform standard compression algorithms.",
         "unsupported",
         "the cited abstract says 'millions', not 'billions'"),
        (COMPRESSION, "Transformers with millions of parameters outperform standard algorithms.", "supported",
         "words"),
        (COMPRESSION, "Transformers with 7 million parameters outperform standard algorithms.", "unsupported",
         "7 million is not in the cited abstract"),
        (COMPRESSION, "The transformers outperform standard compression algorithms after 3 sweeps.", "unsupported",
         "3 is said of something else than 'sweeps'"),
        (COMPRESSION, "The transformers are trained on 3 combinations of data.", "supported", "words"),
        (COMPRESSION, "The impact of ablations and sweeps on compression is studied.", "partly",
         "speaks of the impact of something else"),
        (COMPRESSION, "The impact of dataset scale on compression is studied.", "supported", "words"),
        (COMPRESSION, "Transformers always outperform standard compression algorithms.", "partly",
         "does not say 'always'"),
        (COMPRESSION, "165GB", "partly", "it is a word or a number alone"),
        (EVENTS, "Event cameras capture brightness changes as intensity frames.", "unsupported",
         "the cited abstract says 'rather than intensity'"),
        (EVENTS, "Event cameras capture brightness changes as events instead of intensity frames.", "supported",
         "words"),
        (EVENTS, "EvFocus was trained to reconstruct sharp images.", "unsupported",
         "the cited abstract says 'training-free'"),
        (EVENTS, "EvFocus reconstructs sharp images without training.", "supported", "words"),
        (EVENTS, "EvFocus is trained like that too.", "unsupported", "the cited abstract says 'training-free'"),
        (EVENTS, "EvFocus reconstructs sharp images like that.", "partly", "what 'like that' points to"),
        (EVENTS, "EvFocus reconstructs sharp images like those of real datasets.", "supported", "words"),
        (VERIFYING, "ReVISE relies on large external verifiers.", "unsupported",
         "the cited abstract says it of previous work"),
        (VERIFYING, "Previous works rely on large external verifiers.", "supported", "words"),
        (VERIFYING, "ReVISE enables LLMs to correct their outputs.", "supported", "words"),
        (EVENTS, "Both reconstruct sharp images.", "partly", "it speaks of two, and the cited abstract of one"),
        (EVENTS, "Both datasets show its robustness.", "supported", "words"),
    ],
)  # fmt: skip
def test_a_sentence_made_of_the_abstract_s_words_says_no_more_than_the_abstract(
    abstract: str, sentence: str, support: str, reason: str
) -> None:
    verdict = check_support(sentence, abstracts=[abstract])
    assert (verdict.support, reason in verdict.reason) == (support, True), verdict


def test_a_number_counts_only_where_the_abstract_that_has_it_speaks_of_the_same() -> None:
    sentence = "EvFocus reconstructs sharp images with 165GB of data."
    verdict = check_support(sentence, abstracts=[EVENTS, COMPRESSION])
    assert (verdict.support, "165GB is said of something else" in verdict.reason) == ("partly", True), verdict


def test_a_number_alone_is_supported_where_a_table_says_of_what() -> None:
    assert check_support("165GB", abstracts=[COMPRESSION], labelled=True).support == "supported"


INTERACTIVE = (
    "Inter-ReID is a dialogue-based retrieval task that refines descriptions through interactions with witnesses. We "
    "propose LLaVA-ReID, a training-free question model that asks black-box witnesses. Inspired by eligibility traces, "
    "memory traces are moving averages. In a window of observations, learning becomes intractable."
)


@pytest.mark.parametrize(
    ("sentence", "support", "reason"),
    [
        ("LLaVA-ReID is a dialogue-based retrieval task that refines descriptions through interactions.",
         "unsupported", "the cited abstract says it of Inter-ReID"),
        ("As a dialogue-based retrieval task, Inter-ReID refines descriptions through interactions.",
         "supported", "words"),
        ("Inter-ReID1 is a dialogue-based retrieval task that refines descriptions through interactions.",
         "partly", "Inter-ReID1 is not in the cited abstract"),
        ("LLaVA-ReID is a question model that was fine-tuned.", "unsupported", "which rules out 'fine-tuned'"),
        ("LLaVA-ReID is a question model that asks witnesses by their gradients.", "unsupported",
         "which rules out 'gradients'"),
        ("Yes, eligibility traces are better than using a window.", "partly", "words"),
        ("Yes, memory traces are inspired by eligibility traces.", "supported", "words"),
        ("A window asks for moving descriptions.", "partly", "not together"),
    ],
)  # fmt: skip
def test_what_is_said_of_another_thing_or_nowhere_together_is_not_supported(
    sentence: str, support: str, reason: str
) -> None:
    verdict = check_support(sentence, abstracts=[INTERACTIVE])
    assert (verdict.support, reason in verdict.reason) == (support, True), verdict


def test_a_number_of_the_named_paper_alone_binds_the_clause_to_it() -> None:
    gains = "We report what users gain, and report the cost."
    sentence = "SITAlign reports a 22.3% gain."
    verdict = check_support(sentence, abstracts=["SITAlign wins by 22.3%. SITAlign is a method.", gains])
    assert verdict.support != "unsupported", verdict


def test_a_negation_does_not_reach_the_verb_behind_and() -> None:
    lacking = "Such methods lack performance guarantees and require a large number of training tasks."
    verdict = check_support("They do not require any training.", abstracts=[lacking])
    assert (verdict.support, verdict.reason) == ("unsupported", "the cited abstract says 'require' without 'not'")


def test_one_right_figure_is_enough_not_to_be_all_wrong() -> None:
    abstract = "We train 3 models of each kind on large servers."
    verdict = check_support("We train 3 models of each kind on millions of servers.", abstracts=[abstract])
    assert (verdict.support, verdict.reason) == ("partly", "millions is not in the cited abstract")


@pytest.mark.parametrize(
    ("sentence", "support"),
    [
        ("The model reaches a ratio of 0.49 compared to 0.54 for FLAC.", "supported"),
        ("The model reaches a lower ratio of 0.49 compared to transfer learning.", "unsupported"),
        ("The ratio of 0.49 is lower than that of transfer learning.", "unsupported"),
    ],
)
def test_a_number_is_compared_with_what_its_own_sentence_compares_it_with(sentence: str, support: str) -> None:
    abstract = "The model reaches a ratio of 0.49 (vs. 0.54 for FLAC). Unlike transfer learning, it is lower in cost."
    assert check_support(sentence, abstracts=[abstract]).support == support


@pytest.mark.parametrize(
    ("sentence", "support"),
    [
        ("ReVISE outperforms strategies on the PKU-SafeRLHF dataset while adhering to the threshold on harmlessness.",
         "unsupported"),
        ("SITAlign outperforms strategies on the PKU-SafeRLHF dataset while adhering to the threshold on harmlessness.",
         "supported"),
    ],
)  # fmt: skip
def test_what_one_abstract_says_of_its_data_set_is_not_said_of_the_method_of_another(
    sentence: str, support: str
) -> None:
    assert check_support(sentence, abstracts=[VERIFYING, ALIGNING]).support == support
