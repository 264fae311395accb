"""What holds of the support check for any sentence and any abstract."""

from hypothesis import given, settings
from hypothesis import strategies as st

from evals.random_outputs import SOURCES, go_through, random_outputs
from rag.support import best_citations, check_support

ABSTRACTS = (
    "SITAlign outperforms multi-objective decoding by 22.3% in GPT-4 win-tie rate. It does not require fine-tuning.",
    "We propose NS-DPO, which introduces a single discount parameter. It remains robust under non-stationarity.",
    r"Memory traces are \emph{moving averages} of observations [12]. They need 6$\times$ less data than windows.",
    "",
)
WORDS = [
    *" ".join(ABSTRACTS).split(),
    *("not", "only", "increases", "three", "10^-3", "half", "$", "[1]", "-", "'", ":", "?", "10^99", "不能", "x" * 60),
]
sentences = st.one_of(st.lists(st.sampled_from(WORDS), max_size=15).map(" ".join), st.text(max_size=60))


@settings(max_examples=300, deadline=None)
@given(sentence=sentences, abstracts=st.lists(st.one_of(st.sampled_from(ABSTRACTS), st.text(max_size=60)), max_size=3))
def test_any_sentence_gets_a_verdict_with_evidence_that_stands_in_the_abstracts(
    sentence: str, abstracts: list[str]
) -> None:
    verdict = check_support(sentence, abstracts=abstracts)
    assert 0.0 <= verdict.score <= 1.0
    assert verdict.reason
    assert len(verdict.evidence) == len(abstracts)
    for abstract, spans in zip(abstracts, verdict.evidence, strict=True):
        assert len(spans) <= 3
        assert all(abstract[start:end].strip() for start, end in spans)


@settings(max_examples=100, deadline=None)
@given(sentence=sentences)
def test_best_citations_are_given_abstracts_that_support_the_sentence(sentence: str) -> None:
    cited = best_citations(sentence, ABSTRACTS)
    assert len(cited) <= 2
    if cited:
        assert check_support(sentence, abstracts=[ABSTRACTS[index] for index in cited]).support == "supported"


def test_random_model_outputs_raise_nothing_and_cite_only_what_was_given() -> None:
    abstracts = [*ABSTRACTS[:3], "Another abstract. With two sentences."]
    assert len(abstracts) == SOURCES
    for number, output in enumerate(random_outputs(abstracts, count=300, seed=1)):
        go_through(output, abstracts=abstracts, cut=1 + number % 7)
