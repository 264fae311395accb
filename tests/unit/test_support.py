"""The support check: what is supported, what is not, and the reason that a reader is given."""

import pytest

from rag.sentences import split_sentences
from rag.support import best_citations, check_support
from rag.support.features import Features
from rag.support.model import load_model
from rag.support.quantities import Quantity, read_quantity, spelled_quantity
from rag.support.text import tokenize

SITALIGN = (
    "Aligning large language models with humans is challenging due to the multifaceted nature of preferences. We "
    "propose SITAlign, an inference-time framework that maximizes a primary objective while it keeps thresholds on "
    "the others. SITAlign outperforms the state-of-the-art multi-objective decoding strategy by a margin of 22.3% in "
    "GPT-4 win-tie rate on PKU-SafeRLHF, and it adds 3.5% of latency. It does not require any fine-tuning."
)
NSDPO = (
    "Preferences drift over time. We propose NS-DPO, which uses a Dynamic Bradley-Terry model and introduces a single "
    "discount parameter in the loss function. Fine-tuned models with NS-DPO remain robust under non-stationarity and "
    "significantly outperform baselines that ignore temporal changes. The regret increases with the amount of drift."
)


@pytest.mark.parametrize(
    "sentence",
    [
        "SITAlign beats the multi-objective decoding strategy by 22.3% in win-tie rate on PKU-SafeRLHF.",
        "On PKU-SafeRLHF, the GPT-4 win-tie rate of SITAlign is 22.3 percentage points better than multi-objective "
        "decoding.",
        "The authors propose SITAlign, a framework for inference time that maximises one primary objective while "
        "keeping thresholds on the others.",
        "SITAlign needs no fine-tuning.",
        "SITAlign aligns LLMs with humans at inference time.",
        "It improves the win-tie rate by more than 22% on PKU-SafeRLHF.",
    ],
)
def test_a_true_retelling_is_supported(sentence: str) -> None:
    verdict = check_support(sentence, abstracts=[SITALIGN])
    assert verdict.support == "supported", verdict
    assert verdict.reason == "its words are in the cited abstract"


@pytest.mark.parametrize(
    ("sentence", "reason"),
    [
        ("SITAlign outperforms multi-objective decoding by 42.4% on PKU-SafeRLHF.",
         "42.4% is not in the cited abstract"),
        ("SITAlign underperforms the multi-objective decoding strategy by 22.3% on PKU-SafeRLHF.",
         "the cited abstract says 'outperforms', not 'underperforms'"),
        ("SITAlign does not outperform the multi-objective decoding strategy by 22.3% in GPT-4 win-tie rate.",
         "the cited abstract says 'outperform' without 'not'"),
        ("The multi-objective decoding strategy outperforms SITAlign by 22.3% in win-tie rate on PKU-SafeRLHF.",
         "the other way round"),
        ("SITAlign outperforms the multi-objective decoding strategy by a margin of 3.5% in win-tie rate and adds "
         "22.3% of latency.", "the other way round"),
        ("SITAlign requires fine-tuning.", "the cited abstract says 'not require'"),
        ("The boiling point of ethanol is below that of water under pressure.",
         "most of its words are not in the cited abstract"),
        ("SITAlign is “the best framework for aligning models at inference time”.",
         "the quotation is not in the cited abstract"),
    ],
)  # fmt: skip
def test_a_false_sentence_is_unsupported_and_the_reason_says_why(sentence: str, reason: str) -> None:
    verdict = check_support(sentence, abstracts=[SITALIGN])
    assert verdict.support == "unsupported", verdict
    assert reason in verdict.reason


@pytest.mark.parametrize(
    ("sentence", "reason"),
    [
        ("NS-DPO introduces three discount parameters in the loss function.",
         "the cited abstract says 'single', not 'three'"),
        ("With NS-DPO the regret decreases with the amount of drift.",
         "the cited abstract says 'increases', not 'decreases'"),
    ],
)  # fmt: skip
def test_counts_and_directions_are_compared(sentence: str, reason: str) -> None:
    verdict = check_support(sentence, abstracts=[NSDPO])
    assert (verdict.support, verdict.reason) == ("unsupported", reason)


def test_a_name_that_the_abstract_does_not_have_is_named() -> None:
    verdict = check_support(
        "LLaVA-ReID uses a Dynamic Bradley-Terry model with a discount parameter.", abstracts=[NSDPO]
    )
    assert (verdict.support, verdict.reason) == ("partly", "LLaVA-ReID is not in the cited abstract")


def test_what_is_known_of_the_paper_needs_no_support() -> None:
    sentence = (
        "Son et al. (2025) use a Dynamic Bradley-Terry model with a single discount parameter in the loss function."
    )
    assert check_support(sentence, abstracts=[NSDPO]).support != "supported"
    known = ["Right Now, Wrong Then", "Seongho Son", "2025"]
    assert check_support(sentence, abstracts=[NSDPO], known=known).support == "supported"


def test_a_claim_swapped_between_two_cited_abstracts_is_flagged() -> None:
    swapped = (
        "SITAlign uses a Dynamic Bradley-Terry model and introduces a single discount parameter in the loss function."
    )
    verdict = check_support(swapped, abstracts=[SITALIGN, NSDPO])
    assert (verdict.support, verdict.reason) == (
        "unsupported",
        "a cited abstract says it of NS-DPO",
    )
    assert check_support(swapped.replace("SITAlign", "NS-DPO"), abstracts=[SITALIGN, NSDPO]).support == "supported"


def test_a_sentence_on_two_papers_is_supported_by_both_together() -> None:
    sentence = (
        "SITAlign maximizes a primary objective with thresholds on the others, whereas NS-DPO introduces a single "
        "discount parameter in the loss function."
    )
    verdict = check_support(sentence, abstracts=[SITALIGN, NSDPO])
    assert verdict.support == "supported", verdict
    assert all(verdict.evidence)
    assert check_support(sentence, abstracts=[SITALIGN]).support != "supported"


@pytest.mark.parametrize("abstract", [SITALIGN, NSDPO])
def test_every_sentence_of_the_cited_abstract_is_supported_with_score_1(abstract: str) -> None:
    for span in split_sentences(abstract):
        verdict = check_support(abstract[span.start : span.end], abstracts=["Something else.", abstract])
        assert (verdict.support, verdict.score) == ("supported", 1.0)
        assert span in verdict.evidence[1]


def test_evidence_is_the_sentence_that_says_it() -> None:
    verdict = check_support("SITAlign beats multi-objective decoding by 22.3%.", abstracts=[SITALIGN])
    (spans,) = verdict.evidence
    assert SITALIGN[spans[0].start : spans[0].end].startswith("SITAlign outperforms")
    assert len(spans) <= 3


@pytest.mark.parametrize(
    ("sentence", "support"),
    [
        ("SITAlign übertrifft die Basismethode um 22,3 Prozent und ist nicht auf Training angewiesen.", "partly"),
        ("SITAlign 在 PKU-SafeRLHF 上的胜率提高了 22.3%。", "partly"),
        ("SITAlign 在 PKU-SafeRLHF 上的胜率提高了 42.4%。", "unsupported"),
        ("该方法不需要微调。", "unsupported"),
    ],
)
def test_in_another_language_only_names_and_numbers_are_compared(sentence: str, support: str) -> None:
    verdict = check_support(sentence, abstracts=[SITALIGN])
    assert verdict.support == support, verdict
    assert "another language" in verdict.reason or "42.4" in verdict.reason


def test_a_sentence_without_citation_is_unsupported() -> None:
    verdict = check_support("SITAlign needs no fine-tuning.", abstracts=[])
    assert (verdict.support, verdict.reason, verdict.evidence) == ("unsupported", "no citation", ())


@pytest.mark.parametrize(
    "sentence",
    [
        "The sources do not say which learning rate was used.",
        "None of the abstracts mentions a dataset size.",
        "The abstract does not specify the batch size.",
        "There is no information about the hardware.",
        "## Methods",
        "The papers differ as follows:",
    ],
)
def test_a_sentence_that_claims_nothing_of_a_source_needs_no_support(sentence: str) -> None:
    assert check_support(sentence, abstracts=[]).support == "supported"


@pytest.mark.parametrize(
    "sentence",
    [
        "The sources do not say it, but ethanol boils at low temperatures.",
        "The abstract does not mention it; the rate is 0.001.",
        "The method does not need labels.",
    ],
)
def test_a_claim_beside_such_a_remark_does_need_support(sentence: str) -> None:
    assert check_support(sentence, abstracts=[]).support == "unsupported"


OLICA = (
    "Pruning needs much data. We propose Olica, a pruning framework for language models that eliminates the need for "
    "retraining. Without requiring additional labels, Olica prunes attention heads by principal components."
)


@pytest.mark.parametrize("sentence", ["Olica prunes language models without retraining.", "Olica needs no retraining."])
def test_what_eliminates_a_need_denies_it(sentence: str) -> None:
    assert check_support(sentence, abstracts=[OLICA]).support == "supported"
    affirmed = check_support("Olica is a pruning framework for language models with retraining.", abstracts=[OLICA])
    assert (affirmed.support, affirmed.reason) == (
        "unsupported", "the cited abstract says 'no need for retraining'",
    )  # fmt: skip


def test_what_an_abstract_has_only_denied_is_not_affirmed_by_another_of_its_sentences() -> None:
    labels = "Olica is a pruning framework for language models with labels."
    verdict = check_support(labels, abstracts=[OLICA])
    assert (verdict.support, verdict.reason) == ("unsupported", "the cited abstract says 'without labels'")
    assert check_support(labels, abstracts=["Labels are learned first. " + OLICA]).support == "supported"


def test_what_is_spared_harm_is_not_denied() -> None:
    abstract = (
        "We prune attention heads of language models by rank. Our pruning halves memory without sacrificing accuracy."
    )
    verdict = check_support("Pruning attention heads of language models by rank keeps accuracy.", abstracts=[abstract])
    assert "without" not in verdict.reason


def test_a_denial_may_stand_in_another_sentence_than_the_rest() -> None:
    abstract = (
        "HGOT facilitates self-supervised learning for heterogeneous graphs, and it integrates views of a graph. "
        "It uses no graph augmentation strategies."
    )
    sentence = "HGOT facilitates self-supervised learning for heterogeneous graphs without graph augmentation."
    assert check_support(sentence, abstracts=[abstract]).support == "supported"


def test_a_sentence_may_name_a_paper_as_its_title_alone_does() -> None:
    abstracts = [NSDPO, "We evaluate on 14 benchmarks of chemical perturbation and improve FID scores by 35%."]
    sentence = "CellFlux improves FID scores by 35% on 14 benchmarks of chemical perturbation."
    assert best_citations(sentence, abstracts) == ()
    assert best_citations(sentence, abstracts, known=[["NS-DPO"], ["CellFlux: Virtual Cells"]]) == (1,)
    assert best_citations(sentence, abstracts, known=[["CellFlux"], ["Virtual Cells"]]) == ()


def test_best_citations_finds_the_abstract_that_says_it_and_never_forces_one() -> None:
    abstracts = [NSDPO, SITALIGN, "Memory traces are moving averages of observations."]
    assert best_citations("SITAlign beats multi-objective decoding by 22.3%.", abstracts) == (1,)
    assert best_citations("The boiling point of ethanol is low.", abstracts) == ()
    assert best_citations("SITAlign beats multi-objective decoding by 42.4%.", abstracts) == ()
    assert best_citations("The sources do not say which data were used.", abstracts) == ()


def quantity(text: str) -> Quantity:
    read = read_quantity(text, 0)
    spelled = spelled_quantity(text)
    if read is None:
        assert spelled is not None
        return spelled
    return read[0]


@pytest.mark.parametrize(
    ("claim", "evidence", "same"),
    [
        ("22.3%", "22.3 percent", True),
        ("22.3", "22.3%", True),
        ("22%", "22.3%", True),
        ("22.4%", "22.3%", False),
        ("2x", "2%", False),
        ("2.5x", "2.5 times", True),
        ("12k", "12,000", True),
        ("1.5 million", "1.5M", True),
        ("half", "50%", True),
        ("twice", "2x", True),
        ("three", "3", True),
        ("7-fold", "7x", True),
    ],
)
def test_numbers_match_with_their_units(claim: str, evidence: str, same: bool) -> None:
    assert quantity(claim).matches(quantity(evidence)) is same


def test_figures_inside_names_are_no_numbers() -> None:
    tokens = tokenize("Llama-3.1-8B and Qwen2.5 run in 3D on 4 GPUs.")
    assert [token.surface for token in tokens if token.quantity] == ["4"]
    assert [token.surface for token in tokens if token.is_name] == ["Llama-3.1-8B", "Qwen2.5", "3D", "GPUs"]


def test_the_stored_model_has_a_weight_for_every_feature_and_says_where_it_is_from() -> None:
    model = load_model()
    assert len(model.full) == len(model.related) == 1 + len(Features._fields)
    assert 0 < model.supported_from < 1


@pytest.mark.parametrize(
    ("sentence", "support"),
    [
        ("SpecPrefill reduces the time to the first token.", "supported"),
        ("SpecPrefill worsens the time to the first token.", "unsupported"),
    ],
)
def test_to_improve_something_is_neither_more_nor_less_of_it(sentence: str, support: str) -> None:
    abstract = "SpecPrefill is a framework that improves the time to the first token of a model."
    assert check_support(sentence, abstracts=[abstract]).support == support
