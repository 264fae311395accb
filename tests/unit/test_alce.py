"""ALCE's citation recall and precision against a worked example, and the five faults of its code."""

from collections.abc import Sequence

import pytest

from evals.scoring import Known
from evals.scoring.citing import alce, citation_f1, lexical_entailment
from rag.assembly import assemble
from rag.citations import parse_citations
from rag.domain import Answer, AnswerSentence, Citation, Paper
from tests.builders import paper, scored
from tests.eval_builders import TRACES, UNANSWERABLE, answer, case, failed

PAPERS = tuple(paper(name, abstract=f"Abstract of {name}.") for name in "abcd")
SAYS = {
    # What each set of papers says: the worked example of Gao et al. 2023, section 3, figure 3, with a fourth sentence.
    "s1": [{"a"}, {"a", "b"}],
    "s2": [{"a", "b"}],
    "s3": [],
    "s4": [{"c"}, {"b", "c"}, {"a", "c"}, {"a", "b", "c"}],
}


def entails(papers: Sequence[Paper], sentence: str) -> bool:
    return {each.paper_id for each in papers} in SAYS[sentence]


def test_a_worked_example() -> None:
    # s1 [1]: recalled, precise. s2 [1][2]: recalled together only, so both are precise. s3 [3]: not recalled.
    # s4 [1][3]: recalled; [1] says nothing and [3] does without it, so [1] is irrelevant. s5: no citation, which is
    # not even looked up. Recall 3 of 5; precise 1 + 2 + 0 + 1 of 1 + 2 + 1 + 2 citations.
    said = answer(("s1", (1,)), ("s2", (1, 2)), ("s3", (3,)), ("s4", (1, 3)), ("s5", ()), papers=PAPERS)
    result = alce(said, entails=entails)
    assert (result.sentences, result.citations) == (5, 6)
    assert result.recall == pytest.approx(3 / 5)
    assert result.precision == pytest.approx(4 / 6)
    assert result.misses == ("“s3”", "“s5”")


def test_one_citation_is_as_precise_as_it_is_recalled() -> None:
    result = alce(answer(("s1", (1,)), ("s3", (1,)), papers=PAPERS), entails=entails)
    assert result.recall == result.precision == 0.5


def test_only_three_citations_of_a_sentence_are_looked_at_and_the_others_are_not_precise() -> None:
    said = answer(("s4", (1, 2, 3, 4)), papers=PAPERS)
    result = alce(said, entails=entails)
    assert result.recall == 1
    assert result.precision == pytest.approx(1 / 4)  # 1 and 2 are irrelevant, 4 is past the third


def parsed(reply: str) -> Answer:
    """The answer that a model's reply becomes, its citations as citewise reads them."""
    assembled = assemble(list(parse_citations([reply], sources=len(PAPERS))))
    return answer(
        "-",
        sentences=tuple(AnswerSentence(s.text, s.numbers, "supported", "") for s in assembled.sentences),
        markers=assembled.markers,
        citations=tuple(
            Citation(number, PAPERS[source - 1], ()) for number, source in enumerate(assembled.sources, start=1)
        ),
        removed_markers=assembled.removed_markers,
        retrieved=tuple(map(scored, PAPERS)),
    )


def always(papers: Sequence[Paper], sentence: str) -> bool:
    return True


def test_fault_1_an_empty_answer_scores_0_and_stays_in_the_mean() -> None:
    assert alce(answer(), entails=always)[:4] == (0, 0, 0, 0)
    for nothing in (answer(), failed()):
        score = citation_f1(case(), nothing, Known())
        assert score is not None
        assert score.value == 0
    assert citation_f1(case(**UNANSWERABLE), answer(), Known()) is None


def test_fault_2_text_behind_a_line_break_is_scored() -> None:
    result = alce(parsed("Traces decay fast [1].\n\nWindows forget most of it."), entails=always)
    assert (result.sentences, result.recall) == (2, 0.5)


def test_fault_3_a_list_in_one_pair_of_brackets_is_several_citations() -> None:
    said = parsed("Traces decay fast [1,2].")
    assert [citation.paper.paper_id for citation in said.citations] == ["a", "b"]
    assert alce(said, entails=always).citations == 2


@pytest.mark.parametrize("marker", ["[0]", "[9]"])
def test_faults_4_and_5_what_is_out_of_range_is_invalid_and_in_the_denominator(marker: str) -> None:
    said = parsed(f"Traces decay fast [1]. Windows forget {marker}.")
    assert said.removed_markers == 1
    result = alce(said, entails=always)
    assert (result.recall, result.citations, result.precision) == (0.5, 2, 0.5)


def test_the_lexical_check_reads_the_cited_abstracts_together() -> None:
    phi = lexical_entailment(Known())
    assert phi([TRACES], "Traces decay and need 22.3% less data.")
    assert not phi([TRACES], "Traces decay and need 99% less data.")
    assert phi([TRACES], "They need 22.3% less data.")
    assert not phi([PAPERS[0]], "They need 22.3% less data.")
