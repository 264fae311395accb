"""The Corpus tab's HTML: its form, a page of papers, one paper, the facts, reports. Pure; `ui.rich_text` escapes."""

from collections.abc import Sequence
from urllib.parse import quote

from rag.domain import Paper
from rag.facts import Count, Facts
from rag.ingest_report import IngestReport
from rag.records import Reject
from ui.corpus_search import PAPERS_ON_A_PAGE, Listing
from ui.panel import byline, source_card
from ui.render import CiteTarget, counted
from ui.rich_text import escape_html, rich_html

_BARS = 10
_OPTIONS = 300
_REJECTS_SHOWN = 20


def paper_href(paper_id: str) -> str:
    """The address of a paper in the tab: `#paper-` and the id, percent-encoded."""
    return f"#paper-{quote(paper_id, safe='', errors='surrogatepass')}"


def form_html(facts: Facts) -> str:
    """The search form: a query, and filters by what the corpus has."""
    years = [count.name for count in reversed(facts.years)]
    filters = [
        '<label>Author<input name="author" maxlength="200" autocomplete="off" placeholder="A name or a part of it">'
        "</label>",
        _select("venue", "Venue", [count.name for count in facts.venues[:_OPTIONS]]),
        _select("category", "Category", [count.name for count in facts.categories[:_OPTIONS]]),
        _select("first_year", "From", years) + _select("last_year", "To", years) if len(years) > 1 else "",
    ]
    return (
        '<form role="search" aria-label="Search the corpus"><div class="query">'
        '<label for="corpus-query">Search titles and abstracts</label>'
        '<div><input id="corpus-query" type="search" name="query" maxlength="4000" autocomplete="off" '
        'placeholder="A method, a problem, a name"><button type="submit">Search</button></div></div>'
        f'<div class="filters">{"".join(filters)}<button type="reset">Clear</button></div></form>'
    )


def _select(name: str, label: str, values: Sequence[str]) -> str:
    if not values:
        return ""
    options = "".join(f"<option>{escape_html(value)}</option>" for value in values)
    return f'<label>{label}<select name="{name}"><option value="">Any</option>{options}</select></label>'


def listing_html(listing: Listing) -> str:
    """A page of papers, each a link that opens it, and the buttons to the pages beside it."""
    if not listing.papers:
        return f'<p class="note" role="status">No paper matches. {escape_html(listing.note)}</p>'
    last = listing.first + len(listing.papers)
    if listing.query:
        said = (
            f"The {listing.total:,} best matches, {listing.first + 1:,} to {last:,}"
            if listing.total > 1
            else "One match"
        )
    else:
        said = f"Papers {listing.first + 1:,} to {last:,} of {listing.total:,}"
    note = f" {escape_html(listing.note)}" if listing.note else ""
    items = "".join(_item(paper) for paper in listing.papers)
    return f'<p class="note" role="status">{said}.{note}</p><ul class="papers">{items}</ul>{_pages(listing)}'


def _item(paper: Paper) -> str:
    about = byline(paper)
    meta = f'<span class="meta">{about}</span>' if about else ""
    return f'<li><a href="{paper_href(paper.paper_id)}">{rich_html(paper.label)}</a>{meta}</li>'


def _pages(listing: Listing) -> str:
    page, pages = listing.first // PAPERS_ON_A_PAGE, -(-listing.total // PAPERS_ON_A_PAGE)
    if pages < 2:
        return ""
    return (
        '<nav class="pages" aria-label="Pages">'
        f"{_page_button('Previous', page - 1, pages)}<span>Page {page + 1:,} of {pages:,}</span>"
        f"{_page_button('Next', page + 1, pages)}</nav>"
    )


def _page_button(label: str, page: int, pages: int) -> str:
    disabled = "" if 0 <= page < pages else " disabled"
    return f'<button type="button" data-page="{page}"{disabled}>{label}</button>'


def paper_html(paper: Paper, *, similar: Sequence[Paper], removable: bool) -> str:
    """What can be done with a paper, the paper as the sources panel shows it, and the papers that are like it."""
    remove = '<button type="button" data-paper-action="remove">Remove from the corpus</button>' if removable else ""
    actions = (
        f'<p class="actions"><button type="button" data-paper-action="about">Ask about this paper</button>{remove}</p>'
    )
    near = f'<h3>Similar papers</h3><ul class="papers">{"".join(map(_item, similar))}</ul>' if similar else ""
    return actions + source_card(paper, CiteTarget(paper.paper_id, (), "")) + near


def facts_html(facts: Facts, *, papers: int, model: str) -> str:
    """What the corpus holds: how many papers, and plots of them by category and by year, whose bars filter the list."""
    years = facts.years
    shown = years[-_BARS:][::-1]
    older = sum(count.papers for count in years[:-_BARS])
    rest = f'<p class="note">{counted(older, "paper")} of earlier years</p>' if older else ""
    more = len(facts.categories) - _BARS
    others = f'<p class="note">and {more:,} more</p>' if more > 0 else ""
    return (
        "<details open><summary><h2>About this corpus</h2></summary>"
        f'<p class="note">{counted(papers, "abstract")}, indexed with {escape_html(model)}.</p>'
        f"{_bars('Papers by category', 'category', facts.categories[:_BARS], others)}"
        f"{_bars('Papers by year', 'year', shown, rest)}</details>"
    )


def _bars(title: str, name: str, counts: Sequence[Count], below: str) -> str:
    """A plot of horizontal bars. Each bar is a button that shows its papers."""
    if not counts:
        return ""
    most = max(count.papers for count in counts)
    rows = "".join(
        f'<li><button type="button" data-filter="{name}" data-value="{escape_html(count.name)}" title="Show them">'
        f"<span>{escape_html(count.name)}</span>"
        f'<span class="bar" style="--share:{count.papers / most:.3f}"></span>'
        f"<span>{count.papers:,}</span></button></li>"
        for count in counts
    )
    return f'<section class="plot"><h3>{title}</h3><ul>{rows}</ul>{below}</section>'


def progress_html(done: int, total: int, what: str) -> str:
    """How far adding or removing is."""
    return (
        f'<p role="status">{escape_html(what.capitalize())}: {done:,} of {total:,}</p>'
        f'<progress max="{max(total, 1)}" value="{done}" aria-label="{escape_html(what)}"></progress>'
    )


def report_html(report: IngestReport) -> str:
    """How adding went: the counts, and each record that was not taken with where it stands and why."""
    counts = [
        counted(report.added, "paper") + " added",
        f"{report.replaced:,} replaced" if report.replaced else "",
        f"{report.unchanged:,} known already" if report.unchanged else "",
        f"{report.duplicates:,} given twice" if report.duplicates else "",
        *(f"{count:,} mended: {escape_html(what)}" for what, count in sorted(report.repaired.items())),
    ]
    said = ", ".join(count for count in counts if count)
    return f'<p role="status">{said}. The corpus has {counted(report.total, "paper")}.</p>{_rejects(report)}'


def _rejects(report: IngestReport) -> str:
    if not report.rejected:
        return ""
    items = "".join(
        f"<li>{escape_html(_place(reject))}: {escape_html(reject.reason)}</li>"
        for reject in report.rejects[:_REJECTS_SHOWN]
    )
    more = f"<li>and {report.rejected - _REJECTS_SHOWN:,} more</li>" if report.rejected > _REJECTS_SHOWN else ""
    return f'<p>{counted(report.rejected, "record")} skipped:</p><ul class="rejects">{items}{more}</ul>'


def _place(reject: Reject) -> str:
    place = f"{reject.file}, line {reject.line}" if reject.file else f"Record {reject.line}"
    field = f", {reject.field}" if reject.field else ""
    return f"{place} ({reject.record}){field}" if reject.record else f"{place}{field}"


def removed_html(paper: Paper, *, left: int) -> str:
    """That a paper was removed, and the button that takes it back."""
    return (
        f'<p role="status">Removed “{rich_html(paper.label)}”. The corpus has {counted(left, "paper")}.</p>'
        f'<button type="button" data-restore="{escape_html(paper.paper_id)}">Undo</button>'
    )


def problem_html(problem: str) -> str:
    """What went wrong, and what to do."""
    return f'<p class="problem" role="alert">{escape_html(problem)}</p>'
