"""Sentences that put together what abstracts say apart: of two papers, a number and a thing, a fact and a reason."""

import pytest

from rag.support import check_support

CONTROL = (
    "This paper studies a compact latent action space to enhance the controllability and exploration of reinforcement "
    "learning. CoLA extracts latent actions by an inverse dynamics model."
)
SOLVER = (
    "We present MILS, a surprisingly simple, training-free approach to imbue multimodal capabilities. It scores "
    "candidate outputs step by step at inference time."
)
SPEED = (
    "SpecPrefill is a training-free framework for inference. It improves time-to-first-token by a small model and "
    "sends important tokens to the main model at inference time."
)
DRIFT = (
    "NS-DPO introduces only a single discount parameter in the loss. We bound the regret that is caused by changing "
    "preferences."
)
CAMERAS = (
    "Due to their unique imaging mechanism, focusing algorithms struggle on sparse event data. Events are captured "
    "out of focus. The ratio on audio is 0.49, and the gain is 22.3."
)


@pytest.mark.parametrize(
    ("abstracts", "sentence"),
    [
        ((SOLVER, CONTROL), "MILS is a simple approach to enhance the controllability and exploration of learning."),
        ((CONTROL, SOLVER), "CoLA scores candidate outputs by an inverse dynamics model at inference time."),
        ((SPEED, SOLVER), "SpecPrefill and MILS send important tokens to the main model at inference time."),
    ],
)
def test_a_clause_of_two_abstracts_that_none_says_is_partly_supported(
    abstracts: tuple[str, ...], sentence: str
) -> None:
    verdict = check_support(sentence, abstracts=abstracts)
    assert verdict.support != "supported", verdict
    assert "another" in verdict.reason or "something else" in verdict.reason, verdict


@pytest.mark.parametrize(
    "sentence",
    [
        "SpecPrefill and MILS are training-free at inference time.",
        "MILS imbues multimodal capabilities, while SpecPrefill improves time-to-first-token.",
        "SpecPrefill sends important tokens to the main model at inference time.",
    ],
)
def test_what_each_of_two_abstracts_says_is_supported(sentence: str) -> None:
    verdict = check_support(sentence, abstracts=[SPEED, SOLVER])
    assert verdict.support == "supported", verdict


@pytest.mark.parametrize(
    ("abstract", "sentence", "support", "reason"),
    [
        (DRIFT, "The bound on the regret is 1.", "unsupported", "1 is said of something else than"),
        (DRIFT, "NS-DPO introduces 1 discount parameter in the loss.", "supported", "words"),
        (DRIFT, "The number of discount parameters in the loss of NS-DPO is 1.", "supported", "words"),
        (CAMERAS, "The ratio on audio is 0.49%.", "unsupported", "0.49% is not in the cited abstract"),
        (CAMERAS, "On audio the ratio is 0.49.", "supported", "words"),
        (CAMERAS, "The gain on audio is 22.3%.", "supported", "words"),
        (CAMERAS, "Focusing algorithms struggle on event data because events are captured out of focus.", "partly",
         "the cited abstract gives another reason"),
        (CAMERAS, "Focusing algorithms struggle on event data because of their unique imaging mechanism.",
         "supported", "words"),
    ],
)  # fmt: skip
def test_a_number_or_a_reason_belongs_to_what_the_abstract_gives_it_for(
    abstract: str, sentence: str, support: str, reason: str
) -> None:
    verdict = check_support(sentence, abstracts=[abstract])
    assert (verdict.support, reason in verdict.reason) == (support, True), verdict


LIGHT = (
    "Large models generalise well at the cost of heavy computation. CLIP struggles with fine details because of short "
    "captions. To overcome this, we refine the decision boundaries. We introduce LightSeries, a small model that is "
    "built on periodic patterns and makes use of larger models."
)


@pytest.mark.parametrize(
    ("sentence", "support", "reason"),
    [
        ("LightSeries generalises well at the cost of heavy computation.", "unsupported",
         "says it before it comes to LightSeries"),
        ("LightSeries struggles with fine details because of short captions.", "unsupported",
         "the cited abstract says it of CLIP"),
        ("LightSeries's decision boundaries are refined.", "unsupported",
         "says it before it comes to LightSeries"),
        ("LightSeries's periodic patterns are what a small model is built on.", "supported", "words"),
        ("LightSeries addresses the cost of heavy computation of large models.", "supported", "words"),
        ("LightSeries refines the decision boundaries.", "supported", "words"),
        ("LightSeries is a small model built on periodic patterns.", "supported", "words"),
        ("Large models have heavy computation.", "supported", "words"),
        ("LightSeries does not make use of larger models.", "unsupported", "without 'not'"),
        ("LightSeries is a small model and does not forget.", "partly", "denies nothing of 'forget'"),
    ],
)  # fmt: skip
def test_the_background_is_not_said_of_the_method_and_what_is_denied_nowhere_is_no_denial(
    sentence: str, support: str, reason: str
) -> None:
    verdict = check_support(sentence, abstracts=[LIGHT])
    assert (verdict.support, reason in verdict.reason) == (support, True), verdict


def test_a_denial_may_be_retold_in_words_that_deny_otherwise() -> None:
    abstract = "The complexity of the algorithm is independent of the size of the state space."
    verdict = check_support("The complexity does not depend on the size of the state space.", abstracts=[abstract])
    assert verdict.support == "supported", verdict
