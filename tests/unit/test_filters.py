"""Filters: which papers pass, how years are written, and that the columns of a corpus say the same as the papers."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.domain import Paper
from rag.errors import SettingsError
from rag.facets import Facets
from rag.filters import Filters, describe, make_filters, parse_years
from rag.folding import fold, fold_name
from tests.builders import paper

PAPERS = (
    paper("a", title="Memory Traces", authors=("Émile Pierret", "Wang, Yisen"), year=2024, venue="NeurIPS 2024"),
    paper("b", title="Traces", authors=("Yisen Wangari",), categories=("cs.LG", "stat.ML"), arxiv_id="2501.00001"),
    paper("c", title="", authors=(), year=None, venue=None, categories=("csx.LG",)),
    paper("d", title="Ørsted's traces", authors=("David Heurtel-Depeiges", "李明"), year=1999, venue="Science"),
)


@pytest.mark.parametrize(
    ("filters", "ids"),
    [
        (Filters(), "abcd"),
        (Filters(years=(2024, 2025)), "ab"),
        (Filters(years=(1, 2024)), "ad"),
        (Filters(authors=("yisen wang",)), "a"),
        (Filters(authors=("WANG",)), "a"),
        (Filters(authors=("emile",)), "a"),
        (Filters(authors=("Heurtel Depeiges",)), "d"),
        (Filters(authors=("李明",)), "d"),
        (Filters(authors=("Wan",)), ""),
        (Filters(authors=("Wang", "Wangari")), "ab"),
        (Filters(venues=("icml",)), "b"),
        (Filters(venues=("NeurIPS 2024", "science")), "ad"),
        (Filters(categories=("cs",)), "b"),
        (Filters(categories=("stat.ml",)), "b"),
        (Filters(categories=("LG",)), ""),
        (Filters(title_words=("traces",)), "abd"),
        (Filters(title_words=("traces", "memory")), "a"),
        (Filters(title_words=("orsted",)), "d"),
        (Filters(ids=("2501.00001", "c")), "bc"),
        (Filters(authors=("Wang",), years=(2025, 2025)), ""),
    ],
)
def test_papers_that_pass(filters: Filters, ids: str) -> None:
    allowed = Facets.build(PAPERS).allowed(filters)
    assert "".join(item.paper_id for item, passes in zip(PAPERS, allowed, strict=True) if passes) == ids


def test_facets_that_were_saved_say_the_same_when_loaded(tmp_path: Path) -> None:
    Facets.build(PAPERS).save(tmp_path / "facets")
    loaded = Facets.load(tmp_path / "facets")
    assert np.flatnonzero(loaded.allowed(Filters(authors=("Wang", "Wangari")))).tolist() == [0, 1]
    assert loaded.has_years
    assert loaded.has_author("yisen wangari")
    assert not loaded.has_author("yisen")
    assert loaded.has_last_name("pierret")
    assert not loaded.has_last_name("emile")
    assert loaded.has_venue("neurips")
    assert loaded.has_venue("neurips 2024")
    assert not loaded.has_venue("2024")
    assert not any([loaded.has_author(""), loaded.has_last_name(""), loaded.has_venue("")])


def test_facets_of_no_papers_can_be_asked(tmp_path: Path) -> None:
    Facets.build([]).save(tmp_path / "facets")
    loaded = Facets.load(tmp_path / "facets")
    assert loaded.allowed(Filters(authors=("Wang",), ids=("a",))).tolist() == []
    assert not loaded.has_years


def test_an_id_of_several_lines_is_one_id() -> None:
    facets = Facets.build([paper("a\nb"), paper("b"), paper('"b')])
    assert facets.allowed(Filters(ids=("b",))).tolist() == [False, True, False]
    assert facets.allowed(Filters(ids=("a\nb", '"b'))).tolist() == [True, False, True]


def passes(item: Paper, filters: Filters) -> bool:
    """What a filter means, said of one paper: what the columns are compared with."""

    def has(text: str, words: str) -> bool:
        return bool(words) and f" {words} " in f" {text} "

    names, categories = [fold_name(name) for name in item.authors], [fold(name) for name in item.categories]
    return (
        (not filters.years or (item.year is not None and filters.years[0] <= item.year <= filters.years[1]))
        and (not filters.ids or bool({item.paper_id, item.arxiv_id} & set(filters.ids)))
        and (not filters.authors or any(has(name, fold_name(wanted)) for name in names for wanted in filters.authors))
        and (not filters.venues or any(has(fold(item.venue or ""), fold(wanted)) for wanted in filters.venues))
        and (
            not filters.categories
            or any(
                has(f"^ {name}", f"^ {fold(wanted)}")
                for name in categories
                for wanted in filters.categories
                if fold(wanted)
            )
        )
        and all(has(fold(item.title), fold(words)) for words in filters.title_words)
    )


_NAMES = st.sampled_from(["Wang", "Yisen Wang", "Wang, Yisen", "Ada Wang", "É. Li", "cs", "cs.LG", "ICML 2025", "..."])
_FEW = st.lists(_NAMES, max_size=2).map(tuple)


@given(
    filters=st.builds(
        Filters,
        years=st.none() | st.tuples(st.integers(2020, 2023), st.integers(2022, 2025)),
        venues=_FEW,
        authors=_FEW,
        categories=_FEW,
        title_words=_FEW,
        ids=_FEW,
    ),
    papers=st.lists(
        st.builds(
            Paper,
            paper_id=_NAMES,
            title=_NAMES,
            authors=_FEW,
            abstract=_NAMES,
            year=st.none() | st.integers(2020, 2025),
            venue=st.none() | _NAMES,
            arxiv_id=st.none() | _NAMES,
            categories=_FEW,
        ),
        max_size=4,
    ),
)
def test_the_columns_of_a_corpus_say_the_same_as_its_papers(filters: Filters, papers: list[Paper]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        Facets.build(papers).save(Path(folder, "facets"))
        facets = Facets.load(Path(folder, "facets"))
        assert facets.allowed(filters).tolist() == [passes(item, filters) for item in papers]


@pytest.mark.parametrize(
    ("text", "years"),
    [
        ("2024", (2024, 2024)),
        ("2024..2025", (2024, 2025)),
        (" 2024-2025 ", (2024, 2025)),
        ("2024..", (2024, 9999)),
        ("..2024", (1, 2024)),
    ],
)
def test_years_are_read(text: str, years: tuple[int, int]) -> None:
    assert parse_years(text) == years


@pytest.mark.parametrize("text", ["", "..", "24", "2024..25", "2025..2024", "last year", "2024...2025", "２０２"])
def test_nonsense_for_years_is_named(text: str) -> None:
    with pytest.raises(SettingsError, match="year"):
        parse_years(text)


@pytest.mark.parametrize("given", [{"author": ["..."]}, {"title": [""]}, {"ids": [" "]}, {"venue": ["ICML", "-"]}])
def test_a_filter_without_a_word_is_refused(given: dict[str, list[str]]) -> None:
    with pytest.raises(SettingsError, match="without a word"):
        make_filters(**given)  # type: ignore[arg-type]


def test_filters_are_told_in_words() -> None:
    assert describe(Filters(authors=("A", "B"), venues=("ICML",), years=(2024, 2024))) == "by A or B in ICML from 2024"
    assert describe(Filters(years=(2024, 9999))) == "since 2024"
    assert describe(Filters(years=(1, 2024))) == "up to 2024"
    assert describe(Filters(years=(2023, 2024), ids=("x",))) == "from 2023 to 2024 with the id x"
    assert describe(Filters(categories=("cs",), title_words=("a b",))) == "of the category cs with “a b” in the title"
