"""The page's HTML: sources, one source's card, the status line. Pure; `ui.rich_text` escapes."""

from collections.abc import Collection, Sequence

from rag.domain import Answer, Citation, Paper, ScoredPaper, Span
from rag.sentences import split_sentences
from ui.links import paper_urls, web_url
from ui.render import (
    SUPPORT_WORDS,
    CiteTarget,
    cite_href,
    counted,
    sentence_numbers,
    shortened,
    what_happened,
)
from ui.rich_text import escape_html, rich_html

_AUTHORS_SHOWN = 8
_READY = {
    "answered": "Answer ready.",
    "not_in_corpus": "No answer in these abstracts.",
    "needs_detail": "Asked back.",
    "failed": "No answer.",
}
"""What screen readers are told first when an answer is finished."""

LEGEND = """<div class="legend"><h2>Sources</h2>
<p>Every number in an answer opens the abstract that it cites here, with the supporting sentence marked.</p>
<dl><dt><span class="chip supported">1</span></dt><dd>the cited sentence supports it</dd>
<dt><span class="chip partly">2</span></dt><dd>it supports a part of it</dd>
<dt><span class="chip unsupported">3</span></dt><dd>it does not support it: read with care</dd></dl></div>"""


def reading_panel(papers: Sequence[ScoredPaper]) -> str:
    """The papers that were found, while the answer is being written."""
    return f"<h2>Reading {counted(len(papers), 'abstract')}</h2>{_paper_links(papers)}"


def sources_panel(answer: Answer) -> str:
    """The cited papers in reading order, then what else was read; without an answer, the papers that were found."""
    cited = {citation.paper.paper_id for citation in answer.citations}
    rest = [hit for hit in answer.retrieved if hit.paper.paper_id not in cited]
    if answer.outcome == "not_in_corpus":
        note = "Not evidence: none of these was found to answer the question." if rest else "Nothing was found."
        return f'<h2>Nearest abstracts</h2><p class="note">{note}</p>{_paper_links(rest)}'
    if answer.outcome == "needs_detail":
        return f"<h2>Papers that fit</h2>{_paper_links(answer.retrieved)}"
    cards = "".join(_citation_card(citation) for citation in answer.citations)
    if answer.outcome == "failed":
        note = "Found for the question; no answer was finished from them." if answer.retrieved else "Nothing was found."
        return f'<h2>Abstracts found</h2><p class="note">{note}</p>{cards}{_paper_links(rest)}'
    also = (
        f"<details><summary>Also read ({len(rest)}), not cited</summary>{_paper_links(rest)}</details>" if rest else ""
    )
    return f'<h2>Sources</h2><p class="note">{_support_summary(answer)}</p>{cards}{also}'


def _support_summary(answer: Answer) -> str:
    supports = [sentence.support for sentence in answer.sentences]
    counts = {support: supports.count(support) for support in ("supported", "partly", "unsupported")}
    said = f"{counts['supported']} of {counted(len(supports), 'sentence')} supported by the cited abstract"
    said += f", {counts['partly']} partly" if counts["partly"] else ""
    return said + (f", <strong>{counts['unsupported']} unsupported</strong>." if counts["unsupported"] else ".")


def _citation_card(citation: Citation) -> str:
    numbers = sentence_numbers(citation.paper, [evidence.span for evidence in citation.evidence])
    return source_card(
        citation.paper, CiteTarget(citation.paper.paper_id, numbers, ""), number=citation.number, heading="h3"
    )


def source_card(paper: Paper, target: CiteTarget, *, number: int | None = None, heading: str = "h2") -> str:
    """One paper with its whole abstract, the sentences that `target` names marked, the title in a `heading` element."""
    badge = f'<span class="number" aria-label="Source {number}">{number}</span>' if number is not None else ""
    support = SUPPORT_WORDS.get(target.support, "")
    label = f'<p class="support {target.support}">{escape_html(support)}</p>' if support else ""
    sentences = split_sentences(paper.abstract)
    marked = [sentences[n - 1] for n in target.sentences if 0 < n <= len(sentences)]
    return (
        f'<article class="source" data-paper="{escape_html(paper.paper_id)}" tabindex="-1">{badge}'
        f'<{heading}>{_title(paper)}</{heading}><p class="meta">{_meta(paper)}</p>{label}'
        f'<p class="abstract">{rich_html(paper.abstract, highlights=_joined(marked, paper.abstract))}</p></article>'
    )


def hover_card(paper: Paper, target: CiteTarget) -> str:
    """The short card shown over a citation: the title, and the sentences that it stands on."""
    sentences = split_sentences(paper.abstract)
    marked = [sentences[n - 1] for n in target.sentences if 0 < n <= len(sentences)][:2]
    quotes = "".join(f"<blockquote>{rich_html(paper.abstract[s.start : s.end])}</blockquote>" for s in marked)
    support = f'<p class="support {target.support}">{SUPPORT_WORDS[target.support]}</p>'
    return f'<strong>{rich_html(paper.label)}</strong><p class="meta">{_authors(paper, 3)}</p>{quotes}{support}'


def status_line(answer: Answer) -> str:
    """What happened, in one line."""
    ready = f'<span class="heard">{_READY[answer.outcome]}</span>'
    told = status_text([escape_html(part) for part in what_happened(answer)])
    return ready + told + _sources_link(len(answer.citations))


def status_text(parts: Sequence[str]) -> str:
    """Statements, escaped already, as the status line shows them."""
    return f"<span>{' · '.join(parts)}</span>"


def searching_status(papers: Sequence[ScoredPaper], searched: str) -> str:
    """The status while the answer is being written."""
    read = f"Reading {counted(len(papers), 'abstract')}"
    return status_text([f"Searched “{escape_html(shortened(searched))}”", f"{read} …"])


def header(corpus: str, papers: int) -> str:
    """The page's title line, with the button of the conversations."""
    menu = (
        '<button type="button" data-toggle="history" aria-expanded="false" aria-label="Conversations">'
        '<svg viewBox="0 0 24 24" aria-hidden="true"><path d="M4 7h16M4 12h16M4 17h10"/></svg></button>'
    )
    return f"{menu}<h1>citewise</h1><p>{escape_html(corpus)} · {counted(papers, 'abstract')}</p>"


def model_hint(writer: str, about: str) -> str:
    """Who writes the answers, and why (`about`); without a model, how to add one."""
    if writer != "extractive":
        return escape_html(f"Answers are written by a model: {about}")
    return (
        f"Answers quote the abstracts: {escape_html(about)} For written ones set <code>CITEWISE_BASE_URL</code>, or "
        "start with <code>--writer local</code>."
    )


def _paper_links(papers: Sequence[ScoredPaper]) -> str:
    items = "".join(
        f'<li><a href="{cite_href(hit.paper.paper_id, (), "nearest")}">{rich_html(hit.paper.label)}</a>'
        f'<span class="meta">{byline(hit.paper)}</span></li>'
        for hit in papers
    )
    return f'<ul class="papers">{items}</ul>' if items else ""


def _title(paper: Paper) -> str:
    url = web_url(paper.url)
    shown = rich_html(paper.label)
    return f"<a {_outside(url)}>{shown}</a>" if url else shown


def _outside(url: str) -> str:
    return f'href="{escape_html(url)}" target="_blank" rel="noopener noreferrer"'


def _links(paper: Paper) -> list[str]:
    return [f"<a {_outside(url)}>{escape_html(label)}</a>" for url, label in paper_urls(paper).items()]


def _meta(paper: Paper) -> str:
    return " · ".join([part for part in (_authors(paper, _AUTHORS_SHOWN), _venue(paper)) if part] + _links(paper))


def byline(paper: Paper) -> str:
    """The first authors and the venue."""
    return " · ".join(part for part in (_authors(paper, 3), _venue(paper)) if part)


def _authors(paper: Paper, shown: int) -> str:
    more = " et al." if len(paper.authors) > shown else ""
    return escape_html(", ".join(paper.authors[:shown])) + more


def _venue(paper: Paper) -> str:
    venue, year = paper.venue or "", str(paper.year or "")
    return escape_html(venue if year in venue else f"{venue} {year}".strip())


def _joined(spans: Collection[Span], text: str) -> list[Span]:
    """`spans` in order, neighbours with only white space between them made one, so that their mark does not break."""
    joined: list[Span] = []
    for span in sorted(spans):
        if joined and not text[joined[-1].end : span.start].strip():
            joined[-1] = Span(joined[-1].start, span.end)
        else:
            joined.append(span)
    return joined


def _sources_link(cited: int) -> str:
    return f'<a class="open-sources" href="#sources">{counted(cited, "source") if cited else "Papers"}</a>'
