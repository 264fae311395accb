"""Whatever the texts are, the keyword index takes them and keeps its promises."""

from hypothesis import given, settings
from hypothesis import strategies as st

from rag.keyword import KeywordIndex, analyze
from rag.keyword.fuzzy import similarity
from tests.builders import paper

WORDS = st.text(alphabet="abcdefgh", min_size=1, max_size=12)
TEXTS = st.text(max_size=80) | st.lists(WORDS, max_size=12).map(" ".join)


@given(TEXTS)
def test_terms_are_never_empty_and_hold_no_white_space(text: str) -> None:
    assert all(term and not any(character.isspace() for character in term) for term in analyze(text))


@given(TEXTS, TEXTS)
def test_the_terms_of_two_lines_are_the_terms_of_each(first: str, second: str) -> None:
    assert analyze(f"{first}\n.\n{second}") == analyze(first) + analyze(second)


@settings(max_examples=60, deadline=None)
@given(st.lists(TEXTS, max_size=6), TEXTS, st.integers(0, 8))
def test_hits_are_distinct_papers_best_first_below_the_ceiling(abstracts: list[str], query: str, n: int) -> None:
    papers = [paper(str(row), title="", authors=(), abstract=text) for row, text in enumerate(abstracts)]
    index = KeywordIndex.build(papers)
    hits = index.search(query, n=n)
    found, scores = hits.paper_rows.tolist(), hits.scores.tolist()
    assert len(found) == len(set(found)) == len(scores) <= n
    assert all(0 <= row < len(abstracts) for row in found)
    assert list(zip([-score for score in scores], found, strict=True)) == sorted(
        zip([-score for score in scores], found, strict=True)
    )
    assert all(0 < score <= hits.ceiling for score in scores)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(WORDS, min_size=1, max_size=6), min_size=1, max_size=5))
def test_a_paper_is_found_by_any_of_its_terms(texts: list[list[str]]) -> None:
    papers = [paper(str(row), title="", abstract=" ".join(words)) for row, words in enumerate(texts)]
    index = KeywordIndex.build(papers)
    for row, words in enumerate(texts):
        for word in words:
            if analyze(word):
                assert row in index.search(word, n=len(papers)).paper_rows.tolist()


@given(WORDS, WORDS)
def test_similarity_is_one_only_for_equal_terms(first: str, second: str) -> None:
    value = similarity(first, second)
    assert 0 <= value <= 1
    assert (value == 1) == (first == second)
