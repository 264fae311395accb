"""An answer on a terminal: text as it comes, the outcome in words, citations with their evidence, how it was made."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rag.cli.answer_table import MARKER_STYLE, AnswerPrinter
from rag.cli.screen import safe, typeset
from rag.domain import Answer, Cited, Event, Finished, Paper, TextPart

if TYPE_CHECKING:
    from rich.console import Console

SUPPORT_WORDS = {"supported": "supported", "partly": "only partly supported", "unsupported": "NOT supported"}
_QUOTED = "Quoted from the abstracts; no model wrote this."
AUTHORS_SHOWN = 4


def safe_stream(events: Iterator[Event], *, out: "Console") -> Iterator[Event]:
    """Passes the events on and prints the answer's text and markers as they come."""
    printer = AnswerPrinter(out)
    for event in events:
        if isinstance(event, TextPart):
            printer.add(event.text)
        elif isinstance(event, Cited):
            printer.add(f" [{event.number}]", style=MARKER_STYLE)
        elif isinstance(event, Finished):
            printer.finish()
        yield event


def print_revision(answer: Answer, *, shown: str, out: "Console") -> None:
    """The answer anew where it says another thing than the text that was shown as it came."""
    if answer.says(shown):
        return
    out.print("\n\nThe text above is withdrawn." + (" The answer is now:" if answer.text else ""), style="bold yellow")
    printer = AnswerPrinter(out)
    printer.add(answer.text)
    printer.finish()


def print_outcome(answer: Answer, *, out: "Console") -> None:
    """What a reader must know of the outcome: nothing for a good answer, else what was not found or went wrong."""
    if answer.text:
        out.print()
    if answer.outcome == "not_in_corpus":
        out.print("Not in the corpus: no abstract answers this.", style="bold yellow")
    elif answer.outcome == "needs_detail":
        out.print("\nAsk again and say which.", style="bold yellow")
    elif answer.outcome == "failed":
        out.print(f"Failed: {safe(answer.problem or '')}", style="bold red")
        out.print(safe(answer.fix or ""))
    for number, sentence in enumerate(answer.sentences, start=1):
        if sentence.support != "supported":
            out.print(
                f"! Sentence {number} is {SUPPORT_WORDS[sentence.support]}: {safe(sentence.reason)}.", style="yellow"
            )
    for note in answer.notes:
        out.print(f"Note: {safe(note)}", style="yellow")
    if answer.removed_markers:
        out.print(f"Note: {answer.removed_markers} citation(s) named no given source and were removed.", style="yellow")


def print_ending(answer: Answer, *, out: "Console") -> None:
    """The cited papers, or the nearest ones, and how the answer was made.

    Evidence is shown below the papers unless the answer itself is made of it.
    """
    if answer.citations:
        out.print()
    for citation in answer.citations:
        print_paper_line(citation.paper, label=f"[{citation.number}]", out=out)
        for evidence in citation.evidence if answer.model else ():
            out.print(typeset(f"    “{evidence.sentence}”", out=out, style="dim"))
    if answer.outcome not in {"answered", "needs_detail"} and answer.retrieved:
        out.print("\nThe nearest papers, which are not evidence:")
        for scored in answer.retrieved[:3]:
            print_paper_line(scored.paper, label="-", out=out)
    out.print(f"\n{made_by(answer)}", style="dim")


def made_by(answer: Answer) -> str:
    """One line on what was done: searched, read, cited, by whom, how long, tokens."""
    parts = [f"{len(answer.retrieved)} papers read", f"{len(answer.citations)} cited"]
    if answer.searched != answer.question:
        parts.insert(0, f"searched for: {safe(answer.searched)}")
    if answer.model:
        parts.append(f"written by {safe(answer.model)}")
    elif answer.writer == "record":
        parts.append("from the papers' records")
    elif answer.outcome == "answered":
        parts.append(_QUOTED.rstrip(".").replace("Q", "q", 1))
    if answer.usage.prompt_tokens is not None:
        parts.append(f"{answer.usage.prompt_tokens} + {answer.usage.completion_tokens} tokens")
    if answer.timings.total_ms is not None:
        parts.append(f"{answer.timings.total_ms / 1000:.1f} s")
    return " · ".join(parts)


def print_paper_line(paper: Paper, *, label: str, out: "Console", tail: str = "") -> None:
    """A paper in two lines: label and title; authors, venue and link."""
    out.print(typeset(f"{label} {paper.label}", out=out, style="bold"))
    about = [name for name in (authors_text(paper), paper.venue or "", paper.url or "", tail) if name]
    if about:
        out.print(f"    {safe(' · '.join(about))}")


def authors_text(paper: Paper) -> str:
    """The first authors, and "et al." where there are more."""
    names = ", ".join(paper.authors[:AUTHORS_SHOWN])
    return f"{names} et al." if len(paper.authors) > AUTHORS_SHOWN else names
