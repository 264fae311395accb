"""Questions and answers as the chat's Markdown, and back. Pure; `ui.rich_text` does the escaping.

A citation is a link whose address alone rebuilds its source: `#cite-<paper id>-<sentence numbers>-<support>`, with the
id percent-encoded and the numbers counted from 1 and joined by dots. Nothing about it is kept on the server.
"""

import html
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple
from urllib.parse import quote, unquote

from rag.domain import Answer, AnswerSentence, Citation, Cited, Marker, Paper, Span, TextPart, Turn
from rag.scoping import HOW_TO_SEARCH_ALL
from rag.sentences import split_sentences
from ui.rich_text import MATHS_DELIMITERS, escape_html, escape_markdown, rich_markdown

MAX_TURNS = 6
"""Earlier turns that a question is asked after, at most."""
UNSUPPORTED = "unsupported"
_OUTCOMES = {
    "answered": "",
    "not_in_corpus": "Not in these abstracts",
    "needs_detail": "Asked back",
    "failed": "Failed",
}
NOTE_OPEN = '<div class="remark">'
"""What stands in front of a note on how an answer was made."""
SUPPORT_WORDS = {
    "supported": "supported",
    "partly": "partly supported",
    "unsupported": "does not support this sentence",
    "pending": "not checked",
    "nearest": "nearest, not evidence",
}

_CITE = re.compile(r"#cite-(?P<id>[^\s-][^\s]*)-(?P<sentences>\d*(?:\.\d+)*)-(?P<support>[a-z]+)\Z")
_CHIP = re.compile(r'\[(\d+)\]\(#cite-[^\s)]*(?: "[^"]*")?\)')
_NOTE = re.compile(r' <span class="unsupported".*?</span>', re.DOTALL)


class CiteTarget(NamedTuple):
    """What a citation's address names: a paper, sentences of its abstract counted from 1, and the support shown."""

    paper_id: str
    sentences: tuple[int, ...]
    support: str


def cite_href(paper_id: str, sentences: Sequence[int], support: str) -> str:
    """The address of a citation, which `parse_cite` reads back."""
    encoded = (
        quote(paper_id, safe="", errors="surrogatepass").replace("-", "%2D").replace("_", "%5F").replace("~", "%7E")
    )
    return f"#cite-{encoded}-{'.'.join(map(str, sentences))}-{support}"


def parse_cite(href: str) -> CiteTarget | None:
    """What a citation's address names, or None where it is none."""
    match = _CITE.match(href)
    if match is None or match["support"] not in SUPPORT_WORDS:
        return None
    numbers = tuple(int(number) for number in match["sentences"].split(".") if number)
    return CiteTarget(unquote(match["id"], errors="surrogatepass"), numbers, match["support"])


def sentence_numbers(paper: Paper, spans: Sequence[Span]) -> tuple[int, ...]:
    """The sentences of the abstract, counted from 1, that `spans` touch."""
    sentences = enumerate(split_sentences(paper.abstract), start=1)
    return tuple(n for n, s in sentences if any(span.start < s.end and s.start < span.end for span in spans))


def chip(number: int, paper: Paper, sentences: Sequence[int], support: str) -> str:
    """A citation as a Markdown link; its title says in words what its border shows."""
    label = " ".join(f"Source {number}, {SUPPORT_WORDS[support]}: {paper.label}".split())
    return f'[{number}]({cite_href(paper.paper_id, sentences, support)} "{escape_markdown(label)}")'


def answer_markdown(answer: Answer) -> str:
    """The checked answer's text with a chip for each of its markers and a mark behind each unsupported sentence."""
    chips = {
        mark.span: chip(mark.number, mark.citation.paper, mark.sentences, mark.support) for mark in cited_marks(answer)
    }
    notes = {end: _unsupported_note(s) for end, s in sentence_ends(answer) if s.support == UNSUPPORTED}
    return rich_markdown(answer.text, chips, notes)


class CitedMark(NamedTuple):
    """A marker of an answer: where it stands, what it cites, the sentences that it rests on, and the support."""

    span: Span
    number: int
    citation: Citation
    sentences: tuple[int, ...]
    support: str


def cited_marks(answer: Answer) -> list[CitedMark]:
    """The markers that cite something, with the support of the sentence that each belongs to."""
    by_number = {citation.number: citation for citation in answer.citations}
    located = locate_sentences(answer)
    marks: list[CitedMark] = []
    for marker in answer.markers:
        if (citation := by_number.get(marker.number)) is not None:
            owner = _owner(marker, located)
            numbers = sentence_numbers(citation.paper, _evidence_for(owner[1] if owner else None, citation))
            support = owner[1].support if owner else "pending"
            marks.append(CitedMark(marker.span, marker.number, citation, numbers, support))
    return marks


def sentence_ends(answer: Answer) -> list[tuple[int, AnswerSentence]]:
    """Where each sentence of the answer ends, its markers included."""
    located = locate_sentences(answer)
    ends = {sentence.start: sentence.end for sentence, _ in located}
    for marker in answer.markers:
        owner = _owner(marker, located)
        if owner is not None:
            ends[owner[0].start] = max(ends[owner[0].start], marker.span.end)
    return [(ends[span.start], sentence) for span, sentence in located]


def what_happened(answer: Answer) -> list[str]:
    """How the answer came about, in short statements: searched, read, cited, by whom, how long, how many tokens."""
    usage, total = answer.usage, answer.timings.total_ms
    tokens = (usage.prompt_tokens or 0) + (usage.completion_tokens or 0)
    parts = [
        _OUTCOMES[answer.outcome],
        f"Searched “{shortened(answer.searched)}”" if answer.searched else "",
        f"{counted(len(answer.retrieved), 'abstract')} read" if answer.searched else "",
        f"{len(answer.citations)} cited" if answer.outcome == "answered" else "",
        _written_by(answer),
        _duration(total) if total is not None else "",
        f"{tokens:,} tokens" if tokens else "",
        f"{counted(answer.removed_markers, 'invented citation')} removed" if answer.removed_markers else "",
    ]
    return [part for part in parts if part]


def _written_by(answer: Answer) -> str:
    if answer.writer != "extractive":
        return answer.model or ""
    return "quoted, no model"


def _duration(milliseconds: float) -> str:
    return f"{milliseconds / 1000:.1f} s" if milliseconds >= 1000 else f"{milliseconds:.0f} ms"


def counted(number: int, noun: str) -> str:
    """The number with its noun, in the plural where it is one."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def shortened(text: str, *, longest: int = 90) -> str:
    """`text` in one line, cut with an ellipsis."""
    flat = " ".join(text.split())
    return flat if len(flat) <= longest else flat[: longest - 1] + "…"


def streaming_markdown(parts: Sequence[TextPart | Cited]) -> str:
    """An answer that is still being written: its citations stand, their support is not checked yet."""
    text, spans = streamed_text(parts)
    cited = [part for part in parts if isinstance(part, Cited)]
    chips = {span: chip(part.number, part.paper, (), "pending") for span, part in zip(spans, cited, strict=True)}
    return rich_markdown(text, chips, {})


def streamed_text(parts: Sequence[TextPart | Cited]) -> tuple[str, list[Span]]:
    """The text of the parts with a marker for each citation, and where these markers stand, in order."""
    text = ""
    spans: list[Span] = []
    for part in parts:
        if isinstance(part, TextPart):
            text += part.text
        else:
            text += "" if not text or text[-1].isspace() else " "
            marker = f"[{part.number}]"
            spans.append(Span(len(text), len(text) + len(marker)))
            text += marker
    return text, spans


def locate_sentences(answer: Answer) -> list[tuple[Span, AnswerSentence]]:
    """Where each sentence stands in the answer's text, white space and markers left aside; one not found is skipped."""
    in_marker = {i for marker in answer.markers for i in range(*marker.span)}
    places = [i for i, char in enumerate(answer.text) if not char.isspace() and i not in in_marker]
    squeezed = "".join(answer.text[i] for i in places)
    located: list[tuple[Span, AnswerSentence]] = []
    position = 0
    for sentence in answer.sentences:
        wanted = "".join(sentence.text.split())
        at = squeezed.find(wanted, position) if wanted else -1
        if at >= 0:
            position = at + len(wanted)
            located.append((Span(places[at], places[position - 1] + 1), sentence))
    return located


def _owner(marker: Marker, located: Sequence[tuple[Span, AnswerSentence]]) -> tuple[Span, AnswerSentence] | None:
    """The sentence that a marker belongs to: the one before it, or the one that it opens."""
    at = sum(span.start < marker.span.start for span, _ in located)
    nearest = [*located[max(at - 1, 0) : at], *located[at : at + 1]]
    citing = [place for place in nearest if marker.number in place[1].citations]
    return next(iter([*citing, *nearest]), None)


def _evidence_for(sentence: AnswerSentence | None, citation: Citation) -> list[Span]:
    """The evidence behind one citation: what the check found for its sentence, else all that the paper is cited for."""
    if sentence is not None:
        for number, spans in zip(sentence.citations, sentence.evidence, strict=False):
            if number == citation.number and spans:
                return list(spans)
    return [item.span for item in citation.evidence]


def _unsupported_note(sentence: AnswerSentence) -> str:
    reason = escape_markdown(" ".join(sentence.reason.split()) or "No cited abstract says this.")
    return f' <span class="unsupported" title="{reason}">unsupported</span>'


def not_in_corpus_markdown(answer: Answer) -> str:
    """The message where the corpus holds no answer; the nearest papers are named as what they are."""
    said = " ".join(
        [" ".join(answer.text.split()) or "No abstract in this corpus answers the question.", *shown_notes(answer)]
    )
    box = f'<div class="outcome absent"><strong>Not in these abstracts</strong><br>{escape_html(said)}</div>'
    nearest = [hit.paper for hit in answer.retrieved[:5]]
    links = [f"- [{_label_markdown(paper)}]({cite_href(paper.paper_id, (), 'nearest')})" for paper in nearest]
    return "\n\n".join([box, *(["Nearest papers (not evidence):", "\n".join(links)] if links else [])])


def failed_markdown(problem: str, fix: str, *, partial: str = "") -> str:
    """The message where the answer failed: what happened, what to do, and a link that asks again."""
    box = (
        f'<div class="outcome failed"><strong>The answer failed</strong><br>{escape_html(problem)} {escape_html(fix)}'
        '<br><a href="#retry">Try again</a></div>'
    )
    return f"{partial}\n\n{box}" if partial else box


def shown_notes(answer: Answer) -> list[str]:
    """The notes on how the answer was made, without what only the command line can do."""
    return [note.replace(HOW_TO_SEARCH_ALL, "") for note in answer.notes]


def message_markdown(answer: Answer) -> str:
    """The chat message for a finished answer, whatever its outcome."""
    if answer.outcome == "not_in_corpus":
        return not_in_corpus_markdown(answer)
    notes = "".join(f"\n\n{NOTE_OPEN}{escape_html(note)}</div>" for note in shown_notes(answer))
    if answer.outcome == "failed":
        return failed_markdown(answer.problem or "", answer.fix or "", partial=answer_markdown(answer)) + notes
    return answer_markdown(answer) + notes


def _label_markdown(paper: Paper) -> str:
    return rich_markdown(" ".join(paper.label.split()), {}, {})


def question_text(markdown: str) -> str:
    """What `question_markdown` was given."""
    return html.unescape(markdown.replace("<br>", "\n"))


def answer_text(markdown: str) -> str:
    """The words of a chat message made here: without chips, marks and outcome boxes."""
    words = markdown.split('<div class="outcome')[0].split(NOTE_OPEN)[0]
    words = _NOTE.sub("", _CHIP.sub("", words))
    words = re.sub(r"</?(?:strong|em|code)>", "", words)
    words = re.sub(f"[{MATHS_DELIMITERS}]", "$", words)
    return html.unescape(words).strip()


def turns_of(messages: Sequence[tuple[str, str]], *, latest: int = MAX_TURNS) -> tuple[Turn, ...]:
    """The last finished turns of a chat, from its (role, Markdown) messages, oldest first."""
    turns: list[Turn] = []
    for (role, asked), (next_role, said) in pairwise(messages):
        if (role, next_role) == ("user", "assistant"):
            turns.append(Turn(question_text(asked), answer_text(said)))
    return tuple(turns[-latest:])
