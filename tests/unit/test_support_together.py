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
