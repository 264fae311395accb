"""The Corpus tab's HTML and its list: everything from outside is escaped, and only a page of papers is read."""

from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

import pytest

from rag.domain import Paper, ScoredPaper
from rag.errors import SettingsError
from rag.facets import Facets
from rag.facts import Count, Facts, facts_of
from rag.filters import Filters
from rag.ingest_report import IngestReport
from rag.records import Reject
from rag.scoping import Scope
from tests.builders import paper, scored
from ui.corpus_page import facts_html, form_html, listing_html, paper_href, paper_html, removed_html, report_html
from ui.corpus_search import PAPERS_ON_A_PAGE, Form, Listing, list_papers, read_form

HOSTILE = paper(
    'p"><x',
    title="<b>T</b> ${alert(1)}",
    authors=("<i>A</i>",),
    venue='<u>V</u>" onclick="x',
    year=2024,
    categories=("<q>cs</q>",),
    abstract="<script>x</script> <img src=x onerror=x>.",
)


def facts_about(*papers: Paper) -> Facts:
    return facts_of(Facets.build(papers), papers.__getitem__)


@dataclass
class CountingCorpus:
    """Papers of which it is known which were read."""

    size: int
    read: list[int] = field(default_factory=list)

    def __len__(self) -> int:
        return self.size

    def paper(self, row: int) -> Paper:
        self.read.append(row)
        return paper(f"p{row}", title=f"Title {row}")

    @property
    def facets(self) -> Facets:
        return Facets.build(paper(f"p{row}", year=2020 + row % 5) for row in range(self.size))


class Markup(HTMLParser):
    """The elements and attributes of a piece of HTML."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()

    @classmethod
    def of(cls, text: str) -> tuple[set[str], set[str]]:
        parser = cls()
        parser.feed(text)
        return parser.tags, parser.attributes

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}


class ListAssistant:
    """Searches by finding the first `found` papers; `asked` keeps the filters of each search."""

    def __init__(self, size: int, *, found: int = 0) -> None:
        self.corpus: Any = CountingCorpus(size)
        self.asked: list[Filters | None] = []
        self._found = found

    def search(self, query: str, *, k: int, filters: Filters | None = None) -> tuple[ScoredPaper, ...]:
        self.asked.append(filters)
        return tuple(scored(paper(f"p{row}")) for row in range(min(k, self._found)))

    def scope(self, query: str, *, filters: Filters | None = None) -> Scope:
        return Scope(Filters(), None, query, note="Searched only papers by <i>A</i>.")


def listing(assistant: ListAssistant, **form: Any) -> Listing:
    return list_papers(assistant, Form(**form))  # type: ignore[arg-type]


def test_a_page_of_a_large_corpus_reads_only_its_papers() -> None:
    assistant = ListAssistant(100_000)
    shown = listing(assistant, page=3)
    assert assistant.corpus.read == list(range(150, 200))
    assert (shown.first, shown.total) == (150, 100_000)
    assert "Papers 151 to 200 of 100,000." in listing_html(shown)
    assert "Page 4 of 2,000" in listing_html(shown)


def test_a_page_past_the_end_is_the_last_one() -> None:
    shown = listing(ListAssistant(120), page=10**12)
    assert [shown.first, len(shown.papers)] == [100, 20]
    assert 'data-page="3" disabled' in listing_html(shown)


def test_filters_alone_list_the_papers_that_pass_in_their_order() -> None:
    shown = listing(ListAssistant(10), first_year="2023", last_year="")
    assert [each.paper_id for each in shown.papers] == ["p3", "p4", "p8", "p9"]


def test_a_search_pages_its_matches_and_says_what_was_searched() -> None:
    assistant = ListAssistant(500, found=120)
    shown = listing(assistant, query="traces", page=2)
    assert (shown.first, len(shown.papers), shown.total) == (100, 20, 120)
    told = listing_html(shown)
    assert "The 120 best matches, 101 to 120. Searched only papers by &lt;i&gt;A&lt;/i&gt;." in told
    assert assistant.asked == [None]


def test_a_filtered_search_takes_the_filters_alone() -> None:
    assistant = ListAssistant(5, found=5)
    listing(assistant, query="papers by Son", author="Wang", venue="ICML", category="cs.LG", last_year="2024")
    assert assistant.asked == [Filters(years=(1, 2024), authors=("Wang",), venues=("ICML",), categories=("cs.LG",))]


def test_years_that_are_none_are_told() -> None:
    with pytest.raises(SettingsError, match="no year"):
        listing(ListAssistant(5), first_year="soon")


@pytest.mark.parametrize("request_", [None, [], "x", 5, {"query": 5, "page": "2"}, {"page": True}, {"page": -4}])
def test_a_request_of_any_kind_is_a_form(request_: object) -> None:
    assert read_form(request_) == Form()


def test_a_form_is_capped() -> None:
    form = read_form({"query": "x" * 9_000, "author": "y" * 9_000, "page": 2})
    assert (len(form.query), len(form.author), form.page) == (4_000, 200, 2)


def test_nothing_from_outside_becomes_markup() -> None:
    facts = facts_about(HOSTILE, paper(year=2023))
    report = IngestReport(
        added=1,
        replaced=0,
        unchanged=0,
        duplicates=0,
        rejected=1,
        rejects=(Reject("<b>f</b>", 3, "<i>r</i>", "<u>t</u>", "<x>"),),
        repairs=(),
        repaired={"<b>w</b>": 1},
        near_duplicates=(),
        rejects_file=None,  # type: ignore[arg-type]
        total=1,
        generation=1,
    )
    for shown in (
        form_html(facts),
        facts_html(facts, papers=2, model="<b>m</b>"),
        listing_html(Listing((HOSTILE,), 0, 1, "<q>", "<x>")),
        paper_html(HOSTILE, similar=[HOSTILE], removable=True),
        report_html(report),
        removed_html(HOSTILE, left=1),
    ):
        tags, attributes = Markup.of(shown)
        assert not tags & {"b", "i", "u", "x", "q", "script", "img"}
        assert not [name for name in attributes if name.startswith("on")]


def test_a_paper_without_the_right_to_change_has_no_button_to_remove_it() -> None:
    assert "remove" in paper_html(paper(), similar=[], removable=True)
    assert "remove" not in paper_html(paper(), similar=[], removable=False)


def test_an_address_names_any_id() -> None:
    assert paper_href("a/b c%#é") == "#paper-a%2Fb%20c%25%23%C3%A9"


def test_facts_count_papers_by_category_and_year_as_they_are_first_spelled() -> None:
    facts = facts_about(
        paper("1", year=2023, categories=("cs.LG", "CS.LG"), venue="ICML"),
        paper("2", year=2024, categories=("cs.lg", "cs.CL"), venue="icml"),
        paper("3", year=None, categories=(), venue=None),
    )
    assert facts.categories == (Count("cs.LG", 2), Count("cs.CL", 1))
    assert facts.venues == (Count("ICML", 2),)
    assert facts.years == (Count("2023", 1), Count("2024", 1))
    shown = facts_html(facts, papers=3, model="m")
    assert "<span>cs.LG</span>" in shown
    assert "<span>2</span>" in shown
    assert "--share:0.500" in shown


def test_a_report_counts_and_names_what_was_skipped() -> None:
    rejects = tuple(Reject("pasted text", n, f"r{n}", "abstract", "no abstract") for n in range(1, 31))
    report = IngestReport(
        added=2,
        replaced=1,
        unchanged=3,
        duplicates=0,
        rejected=30,
        rejects=rejects,
        repairs=(),
        repaired={"control characters": 2},
        near_duplicates=(),
        rejects_file=None,  # type: ignore[arg-type]
        total=PAPERS_ON_A_PAGE,
        generation=2,
    )
    shown = report_html(report)
    assert "2 papers added, 1 replaced, 3 known already, 2 mended: control characters" in shown
    assert "The corpus has 50 papers." in shown
    assert "30 records skipped:" in shown
    assert "pasted text, line 1 (r1), abstract: no abstract" in shown
    assert "and 10 more" in shown
