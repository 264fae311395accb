"""The keyword index: how text becomes terms, what is found, and how unknown terms are met."""

from pathlib import Path

import numpy as np
import pytest

from rag.keyword import KeywordIndex, analyze
from rag.keyword.fuzzy import FuzzyTerms, similarity
from tests.builders import paper

SITALIGN = paper("sit", title="Satisficing Alignment", authors=("Mohamad Chehade",), abstract="SITAlign gains 22.3%.")
NSDPO = paper(
    "ns", title="Right Now, Wrong Then", authors=("Seongho Son",), abstract="NS-DPO handles preference drift."
)
TRACES = paper("mem", title="Memory Traces", authors=("Onno Eberhard",), abstract="Memory traces need less data.")
PAPERS = (SITALIGN, NSDPO, TRACES)


@pytest.fixture(scope="module")
def index() -> KeywordIndex:
    return KeywordIndex.build(PAPERS)


def rows(index: KeywordIndex, query: str, *, n: int = 10) -> list[int]:
    return index.search(query, n=n).paper_rows.tolist()


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("NS-DPO", ["nsdpo", "ns", "dpo"]),
        ("CausalOPD", ["causalopd", "causal", "opd"]),
        ("SITAlign", ["sitalign", "sit", "align"]),
        ("MILS and MIL", ["mils", "mil", "mil"]),
        ("LLMs", ["llm"]),
        ("22.3% of 1,000", ["22.3", "1000"]),
        ("opti- mizing", ["optim"]),
        ("pre- and post-trained", ["pre", "posttrain", "post", "train"]),
        ("**M**ulti-view", ["multiview", "multi", "view"]),
        (r"\emph{robust} $\alpha$", ["robust", "alpha"]),
        ("Schölkopf's", ["scholkopf"]),
        ("SITAlign相比", ["sitalign", "sit", "align", "相比"]),
        ("数据增强", ["数据", "据增", "增强"]),
        ("What does the model do?", ["model"]),
        ("", []),
    ],
)
def test_text_becomes_terms(text: str, terms: list[str]) -> None:
    assert analyze(text) == terms


def test_a_paper_is_found_by_a_name_of_its_abstract(index: KeywordIndex) -> None:
    assert rows(index, "By how much does SITAlign improve?")[0] == 0
    assert rows(index, "nsdpo")[0] == 1


def test_a_paper_is_found_by_its_title(index: KeywordIndex) -> None:
    assert rows(index, "right and wrong") == [1]


def test_a_paper_is_found_by_its_authors(index: KeywordIndex) -> None:
    assert rows(index, "papers by Onno Eberhard") == [2]


def test_hits_come_best_first_and_no_more_than_asked(index: KeywordIndex) -> None:
    hits = index.search("memory traces data preference", n=1)
    assert hits.paper_rows.tolist() == [2]
    scores = index.search("memory traces data preference", n=3).scores
    assert scores.tolist() == sorted(scores.tolist(), reverse=True)
    assert (scores > 0).all()


def test_papers_of_equal_score_come_in_the_order_of_their_rows() -> None:
    twins = KeywordIndex.build([paper(str(number)) for number in range(5)])
    assert rows(twins, "memory", n=3) == [0, 1, 2]


@pytest.mark.parametrize("query", ["", "   ", "what is the", "?!", "zzzzqqqq"])
def test_a_query_without_known_terms_finds_nothing(index: KeywordIndex, query: str) -> None:
    hits = index.search(query, n=5)
    assert len(hits.paper_rows) == len(hits.scores) == 0
    assert hits.ceiling == 0


def test_no_score_exceeds_the_ceiling(index: KeywordIndex) -> None:
    hits = index.search("SITAlign SITAlign Chehade 22.3 gains", n=5)
    assert 0 < hits.scores.max() < hits.ceiling


def test_an_unknown_term_has_the_highest_idf(index: KeywordIndex) -> None:
    assert index.idf("zzzz") > index.idf("sitalign") > 0


def test_a_common_term_has_a_lower_idf_than_a_rare_one() -> None:
    index = KeywordIndex.build([SITALIGN, TRACES, paper("more", title="Memory", abstract="Memory.")])
    assert index.idf("memori") < index.idf("sitalign")


@pytest.mark.parametrize("query", ["SITAlgin", "SITAling", "SITAllign", "sitalin"])
def test_a_misspelt_name_finds_its_paper(index: KeywordIndex, query: str) -> None:
    assert rows(index, query)[0] == 0


def test_a_misspelt_term_counts_less_than_the_right_one(index: KeywordIndex) -> None:
    assert index.search("prefernce", n=1).scores[0] < index.search("preference", n=1).scores[0]


def test_a_german_compound_finds_the_known_term_in_it(index: KeywordIndex) -> None:
    assert rows(index, "Alignmentverlust") == [0]


def test_similarity_counts_a_swap_as_one_edit_and_an_ending_as_less() -> None:
    assert similarity("robsut", "robust") == pytest.approx(1 - 1 / 6)
    assert similarity("contrastv", "contrast") == pytest.approx(1 - 0.25 / 9)
    assert similarity("same", "same") == 1


def test_known_and_short_terms_have_no_near_terms() -> None:
    fuzzy = FuzzyTerms.build({"align": 0, "memori": 1})
    assert fuzzy.near(["align", "alg", "1234"]) == []
    assert [near.term for near in fuzzy.near(["memroi"])] == ["memori"]


def test_a_saved_index_answers_as_the_built_one(index: KeywordIndex, tmp_path: Path) -> None:
    index.save(tmp_path / "keyword")
    loaded = KeywordIndex.load(tmp_path / "keyword")
    for query in ("SITAlign preference", "SITAlgin", "Onno Eberhard", "the"):
        built, found = index.search(query, n=3), loaded.search(query, n=3)
        assert built.paper_rows.tolist() == found.paper_rows.tolist()
        np.testing.assert_array_equal(built.scores, found.scores)
    assert loaded.idf("sitalign") == index.idf("sitalign")


def test_the_same_papers_are_saved_as_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        KeywordIndex.build(PAPERS).save(tmp_path / name)
    files = sorted(path.relative_to(tmp_path / "a") for path in (tmp_path / "a").rglob("*") if path.is_file())
    assert files
    assert all((tmp_path / "a" / path).read_bytes() == (tmp_path / "b" / path).read_bytes() for path in files)


def test_an_index_of_no_papers_and_one_of_papers_without_words_find_nothing() -> None:
    wordless = paper("x", title="", authors=(), abstract="?!")
    assert rows(KeywordIndex.build([]), "memory") == []
    assert rows(KeywordIndex.build([wordless]), "memory") == []
