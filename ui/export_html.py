"""Answers as one page of HTML that asks nothing of any server, its citations as footnotes with their evidence."""

from collections.abc import Sequence
from importlib.resources import files

from rag.domain import Answer, AnswerSentence, Citation
from ui.links import paper_urls
from ui.render import SUPPORT_WORDS, cited_marks, sentence_ends, shown_notes, what_happened
from ui.rich_text import escape_html, rich_html

_CSP = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def html_document(answers: Sequence[Answer], title: str) -> str:
    """A whole document with its style inside; it holds no script and loads nothing."""
    style = (files("ui") / "static" / "export.css").read_text(encoding="utf-8")
    head = f"<h1>{escape_html(title)}</h1>" if len(answers) > 1 else ""
    turns = "".join(_turn(answer, place) for place, answer in enumerate(answers, start=1))
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_CSP}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n<meta name="referrer" '
        f'content="no-referrer">\n<title>{escape_html(title)}</title>\n<style>\n{style}</style>\n</head>\n'
        f"<body>\n<main>\n{head}{turns}</main>\n</body>\n</html>\n"
    )


def _turn(answer: Answer, place: int) -> str:
    notes = "".join(f'<p class="note">{escape_html(note)}</p>' for note in shown_notes(answer))
    footnotes = "".join(_footnote(citation, place) for citation in answer.citations)
    return (
        f"<article>\n<h2>{escape_html(answer.question)}</h2>\n{_text(answer, place)}\n{_outcome(answer)}{notes}"
        f'<p class="made">{escape_html(" · ".join(what_happened(answer)))}</p>\n'
        + (f"<ol>\n{footnotes}</ol>\n" if footnotes else "")
        + "</article>\n"
    )


def _text(answer: Answer, place: int) -> str:
    chips = {
        mark.span: f'<sup><a class="{mark.support}" href="#c{place}-{mark.number}" '
        f'title="{escape_html(SUPPORT_WORDS[mark.support])}">{mark.number}</a></sup>'
        for mark in cited_marks(answer)
    }
    notes = {end: _support(sentence) for end, sentence in sentence_ends(answer) if sentence.support != "supported"}
    text = rich_html(answer.text, chips=chips, notes=notes)
    return f"<p>{text}</p>" if text else ""


def _support(sentence: AnswerSentence) -> str:
    said = "partly supported" if sentence.support == "partly" else "unsupported"
    reason = f": {sentence.reason.rstrip('.')}" if sentence.reason else ""
    return f' <span class="{sentence.support}">[{said}{escape_html(reason)}]</span>'


def _outcome(answer: Answer) -> str:
    if answer.outcome == "failed":
        said = f"{answer.problem or ''} {answer.fix or ''}"
        return f'<p class="outcome"><strong>The answer failed.</strong> {escape_html(said)}</p>'
    if answer.outcome == "not_in_corpus":
        near = "".join(f"<li>{rich_html(hit.paper.label)}</li>" for hit in answer.retrieved[:5])
        listed = f"<p>The nearest papers, which are not evidence:</p><ul>{near}</ul>" if near else ""
        return f'<p class="outcome"><strong>Not in these abstracts.</strong></p>{listed}'
    return ""


def _footnote(citation: Citation, place: int) -> str:
    paper = citation.paper
    links = " · ".join(
        f'<a href="{escape_html(url)}" rel="noopener noreferrer">{escape_html(label)}</a>'
        for url, label in paper_urls(paper).items()
    )
    venue = paper.venue or str(paper.year or "")
    about = " · ".join(part for part in (escape_html(", ".join(paper.authors)), escape_html(venue), links) if part)
    quotes = "".join(f"<blockquote>{rich_html(evidence.sentence)}</blockquote>" for evidence in citation.evidence)
    return (
        f'<li id="c{place}-{citation.number}" value="{citation.number}"><strong>{rich_html(paper.label)}</strong>'
        f"<br>{about}{quotes}</li>\n"
    )
