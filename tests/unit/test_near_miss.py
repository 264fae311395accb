"""What an abstract does not say of what is asked."""

import pytest

from rag.near_miss import unsaid
from rag.questions import read_question
from tests.builders import paper

PAPER = paper(
    title="SITAlign",
    abstract=(
        "We propose SITAlign for language models. It has four types of error and beats a baseline by 22.3% on "
        "PKU-SafeRLHF. Dialogues are long. Training takes memory."
    ),
)


@pytest.mark.parametrize(
    ("question", "clause"),
    [
        ("What accuracy does SITAlign reach?", "does not mention “accuracy”"),
        ("What learning rate does SITAlign use?", "does not mention “learning rate”"),
        ("How does SITAlign do on ImageNet?", "does not mention “ImageNet”"),
        ("What does SITAlign report on the Procgen benchmark?", "does not mention “Procgen”"),
        ("How many participants rated SITAlign?", "does not mention “participants”"),
        ("What PSNR does SITAlign reach?", "does not mention “PSNR”"),
        ("Which success rate does SITAlign reach?", "gives no number for it"),
        ("Which value of epsilon does SITAlign use?", "gives no number for it"),
        ("What exact value for the discount factor is best for SITAlign?", "gives no number for it"),
        ("With which base models was SITAlign tried?", "does not name the model"),
        ("How many dialogues are there in SITAlign?", "does not say how many dialogues"),
    ],
)
def test_what_the_abstract_does_not_say_is_named(question: str, clause: str) -> None:
    assert unsaid(read_question(question), [PAPER]) == clause


@pytest.mark.parametrize(
    "question",
    [
        "What is SITAlign?",
        "By how much does SITAlign beat the baseline on PKU-SafeRLHF?",
        "How many types of error does SITAlign have?",
        "How much memory does it take?",
        "What is SITAling?",
        "Was schlägt SITAlign auf dem Datensatz PKU-SafeRLHF für Sprachmodelle vor?",
        "How does it treat POMDPs?",
        "What percentage does it gain?",
        "At which URL is it?",
        "What is the price of memory?",
        "How many training does it take?",
    ],
)
def test_what_it_says_misspells_or_writes_otherwise_is_not_missing(question: str) -> None:
    assert unsaid(read_question(question), [PAPER]) is None


def test_one_of_several_papers_is_enough() -> None:
    other = paper("p2", abstract="We train on ImageNet.")
    assert unsaid(read_question("Compare SITAlign on ImageNet"), [PAPER, other]) is None


def test_a_value_is_asked_for_in_its_unit() -> None:
    plain = paper(abstract="We set three thresholds on 40 tasks.")
    assert unsaid(read_question("What share of tasks fails?"), [plain]) == "gives no percentage"
    assert unsaid(read_question("To what value is it set?"), [plain]) is None
    assert unsaid(read_question("To what value is it set?"), [paper(abstract="One or two.")]) == "gives no such number"


def test_spellings_and_acronyms_that_are_spelled_out_are_not_missing() -> None:
    told = paper(abstract="Our optimizer reaches a high Peak Signal-to-Noise Ratio. Llama-3 is used.")
    assert unsaid(read_question("Which optimiser is it?"), [told]) is None
    assert unsaid(read_question("What PSNR does it reach?"), [told]) is None
    assert unsaid(read_question("Which LLM is used?"), [told]) is None
