"""Answers as a Markdown file with footnotes, in which no text of an abstract or a model becomes markup of its own."""

import re
from collections.abc import Sequence

from rag.domain import Answer, AnswerSentence, Citation, Span
from rag.inline import Run, parse_runs
from ui.links import paper_urls
from ui.render import sentence_ends, shown_notes, what_happened
from ui.rich_text import clean

_ACTIVE = re.compile(r"[\\`*\[\]<>|~$^@]|(?<!\w)_|_(?!\w)|&(?=[#\w])|:(?=//)|(?<=[wW]{3})\.")
_BLOCK_START = re.compile(r"(\A|\n)[ \t]*((?:[-+=](?![ \t])|#))?")
"""What would be a heading or a rule; the items of a list stay items."""
_LIST_START = re.compile(r"^[ \t]*(?:(?:[-+]|\d{1,9}[.)])[ \t]+)+", re.MULTILINE)
"""Markers of items: more than four spaces behind one would begin a block of code."""
_UNSAFE_MATHS = re.compile(r"[\[\]`&!]|://|\\(?:href|url|includegraphics|html)")
_STYLES = {"strong": "**", "em": "*"}


def markdown_document(answers: Sequence[Answer], title: str) -> str:
    """A title, and for each answer its question, its text with footnotes, and these: paper, link, evidence."""
    parts = [f"# {_line(title)}"] if len(answers) > 1 else []
    for number, answer in enumerate(answers, start=1):
        prefix = f"{number}-" if len(answers) > 1 else ""
        parts += [f"{'##' if len(answers) > 1 else '#'} {_line(answer.question)}", *_answer(answer, prefix)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _answer(answer: Answer, prefix: str) -> list[str]:
    parts = [_text(answer, prefix)]
    if answer.outcome == "not_in_corpus":
        parts.append("**Not in these abstracts.** No abstract answers the question.")
        parts.append("\n".join(f"- {_line(hit.paper.label)} (near, not evidence)" for hit in answer.retrieved[:5]))
    elif answer.outcome == "failed":
        parts.append(f"**The answer failed.** {_line(answer.problem or '')} {_line(answer.fix or '')}")
    parts += [f"> {_line(note)}" for note in shown_notes(answer)]
    parts.append(f"*{_line(' · '.join(what_happened(answer)))}*")
    return parts + [_footnote(citation, prefix) for citation in answer.citations]


def _text(answer: Answer, prefix: str) -> str:
    chips = {marker.span: f"[^{prefix}{marker.number}]" for marker in answer.markers}
    notes = {end: _support(sentence) for end, sentence in sentence_ends(answer) if sentence.support != "supported"}
    waiting = sorted(notes.items())
    cuts = [Span(at, at) for at in notes]
    out: list[str] = []
    skip_to = 0
    for run in parse_runs(answer.text, cuts=cuts, opaque=tuple(chips)):
        while waiting and waiting[0][0] <= run.start:
            out.append(waiting.pop(0)[1])
        chip = next((span for span in chips if span.start <= run.start < span.end), None)
        if run.start < skip_to:
            continue
        if chip is not None:
            out[-1:] = [out[-1].rstrip(" ")] if out else []
            out.append(chips[chip])
            skip_to = chip.end
        else:
            out.append(_run(answer.text, run))
    return "".join([*out, *(note for _, note in waiting)]).strip()


def _support(sentence: AnswerSentence) -> str:
    said = "partly supported" if sentence.support == "partly" else "unsupported"
    reason = f": {_line(sentence.reason.rstrip('.'))}" if sentence.reason else ""
    return f" **\\[{said}{reason}\\]**"


def _run(text: str, run: Run) -> str:
    latex = " ".join(clean(run.text).split())
    if run.kind != "text" and latex and "$" not in latex and not _UNSAFE_MATHS.search(latex):
        mark = "$$" if run.kind == "display" else "$"
        return mark + latex.replace("<", r"\lt ").replace(">", r"\gt ") + mark
    if "code" in run.styles and run.kind == "text" and run.text.strip() and not re.search(r"[`\n]", run.text):
        return f"`{clean(run.text)}`"
    shown = escape(run.text if run.kind == "text" else text[run.start : run.end])
    stripped = shown.strip()
    for style in sorted(run.styles & _STYLES.keys()):
        if stripped:
            shown = shown.replace(stripped, f"{_STYLES[style]}{stripped}{_STYLES[style]}", 1)
            stripped = shown.strip()
    return shown


def escape(text: str) -> str:
    """`text` as Markdown that shows every character as it is; paragraphs and the items of lists stay."""
    shown = _ACTIVE.sub(lambda match: "\\" + match[0], clean(text))
    return _LIST_START.sub(lambda match: re.sub(r"[ \t]+", " ", match[0]), _BLOCK_START.sub(_plain_start, shown))


def _plain_start(match: re.Match[str]) -> str:
    if not match[1]:  # the text may go on within a line, where spaces count
        return match[0] if match[2] is None else match[0][: -len(match[2])] + "\\" + match[2]
    return match[1] + ("\\" + match[2] if match[2] else "")


def _line(text: str) -> str:
    flat = " ".join(text.split())
    return " ".join("".join(_run(flat, run) for run in parse_runs(flat)).split())


def _footnote(citation: Citation, prefix: str) -> str:
    paper = citation.paper
    about = [", ".join(paper.authors), paper.venue or "", str(paper.year or "") if not paper.venue else ""]
    links = [f"<{url}>" for url in paper_urls(paper)][:1]
    told = ". ".join([_line(paper.label), *(_line(part) for part in about if part), *links])
    quotes = " ".join(f"“{_line(evidence.sentence)}”" for evidence in citation.evidence)
    return f"[^{prefix}{citation.number}]: {told}. {quotes}".rstrip()
