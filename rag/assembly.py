"""Pieces of an answer to its text: numbers in reading order, markers with spans, sentences with their citations."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rag.domain import Cite, Label, Marker, Piece, Quote, Recorded, Removed, Span
from rag.layout import Layout, read_layout

Fixed = Quote | Recorded | Label
"""Pieces whose text is one whole, whatever stands in it."""


class Numbering:
    """The readers' numbers of sources: from 1, in the order in which they are first cited."""

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}

    def number_of(self, source: int) -> int:
        """The number of `source`; a source that was not seen before gets the next one."""
        return self._numbers.setdefault(source, len(self._numbers) + 1)

    @property
    def sources(self) -> tuple[int, ...]:
        """The sources in the order of their numbers: `sources[number - 1]`."""
        return tuple(self._numbers)


@dataclass(frozen=True, slots=True)
class CitedSentence:
    """A sentence of an answer. `text` has no markers; `span` is where it stands in the answer's text, with its own.

    `end` is where it ends in the plain text. `sources` are the source numbers that it cites and `numbers` the same as
    the reader sees them, in reading order. `label` is what its row or cell is about; `is_recorded` tells a sentence
    that a paper's record says.
    """

    text: str
    span: Span
    end: int
    sources: tuple[int, ...]
    numbers: tuple[int, ...]
    label: str = ""
    is_recorded: bool = False


@dataclass(frozen=True, slots=True)
class Assembled:
    """An answer put together. `text` holds the markers, `plain` does not; `sources[number - 1]` has that number."""

    text: str
    plain: str
    markers: tuple[Marker, ...]
    sentences: tuple[CitedSentence, ...]
    sources: tuple[int, ...]
    removed_markers: int


class _Placed(NamedTuple):
    """A marker in the text: its offset in the plain text, and how many characters the text has more behind it."""

    offset: int
    source: int
    marker: Marker
    added: int


def assemble(pieces: Iterable[Piece]) -> Assembled:
    """Puts an answer together. Strings and quotes are taken as they are: what looks like a marker in them is none.

    What sentences there are, `rag.layout.read_layout` says. A marker belongs to the sentence that it stands in or right
    behind, at the start of a line to the sentence that begins there, on a line of its own to the sentence before. Other
    pieces (`Abstained`, ...) are passed over.
    """
    parts: list[str] = []
    cites: list[tuple[int, int]] = []
    fixed: list[tuple[Span, Fixed]] = []
    length = removed = 0
    for piece in pieces:
        if isinstance(piece, str | Fixed):
            part = _text_of(piece)
            if isinstance(piece, Fixed):
                fixed.append((Span(length, length + len(part)), piece))
            parts.append(part)
            length += len(part)
        elif isinstance(piece, Cite):
            cites.append((length, piece.source))
        elif isinstance(piece, Removed):
            removed += 1
    raw = "".join(parts)
    plain = raw.strip()
    shift = len(raw) - len(raw.lstrip())
    fixed = [(Span(max(0, start - shift), min(end - shift, len(plain))), piece) for (start, end), piece in fixed]
    numbering = Numbering()
    text, placed = _insert_markers(
        plain, [(min(max(offset - shift, 0), len(plain)), source) for offset, source in cites], numbering
    )
    layout = read_layout(plain, fixed)
    sentences = tuple(_sentences(plain, layout, placed, numbering))
    return Assembled(text, plain, tuple(p.marker for p in placed), sentences, numbering.sources, removed)


def insert_citations(pieces: Sequence[Piece], added: Mapping[int, Sequence[int]]) -> list[Piece]:
    """`pieces` with further citations: `added` maps offsets in their plain text to the sources that are cited there."""
    text = "".join(_text_of(piece) for piece in pieces)
    offset = len(text.lstrip()) - len(text)
    result: list[Piece] = []
    for piece in pieces:
        if not isinstance(piece, str):
            offset += len(_text_of(piece))
            result.append(piece)
            continue
        start, end = offset, offset + len(piece)
        for place in sorted(place for place in added if start < place <= end):
            result += [piece[: place - start], *(Cite(source) for source in added[place])]
            piece, start = piece[place - start :], place
        result.append(piece)
        offset = end
    return result


def _text_of(piece: Piece) -> str:
    return piece if isinstance(piece, str) else piece.text if isinstance(piece, Fixed) else ""


def _insert_markers(plain: str, cites: list[tuple[int, int]], numbering: Numbering) -> tuple[str, list[_Placed]]:
    """The text with a marker at the offset of each (offset, source), set off by one space."""
    parts: list[str] = []
    placed: list[_Placed] = []
    position = added = 0
    for index, (offset, source) in enumerate(cites):
        follows_space = offset == 0 or plain[offset - 1].isspace()
        is_first_here = index == 0 or cites[index - 1][0] != offset
        is_last_here = index + 1 == len(cites) or cites[index + 1][0] != offset
        space = "" if is_first_here and follows_space else " "
        behind = " " if is_last_here and follows_space and plain[offset : offset + 1].isalnum() else ""
        number = numbering.number_of(source)
        label = f"[{number}]"
        start = offset + added + len(space)
        added += len(space + label + behind)
        parts += [plain[position:offset], space, label, behind]
        placed.append(_Placed(offset, source, Marker(Span(start, start + len(label)), number), added))
        position = offset
    return "".join([*parts, plain[position:]]), placed


def _sentences(plain: str, layout: Layout, placed: list[_Placed], numbering: Numbering) -> Iterator[CitedSentence]:
    spans = [said.span for said in layout]
    owners = [_owner(plain, spans, mark.offset) for mark in placed]
    for index, said in enumerate(layout):
        start, end = said.span
        before = [mark for mark, owner in zip(placed, owners, strict=True) if owner < index]
        own = [mark for mark, owner in zip(placed, owners, strict=True) if owner == index]
        added_before = before[-1].added if before else 0
        added = own[-1].added if own else added_before
        begins_with_marker = bool(own) and own[0].offset <= start
        ends_with_marker = bool(own) and own[-1].offset >= end
        sources = tuple(dict.fromkeys(mark.source for mark in own))
        yield CitedSentence(
            text=plain[start:end],
            span=Span(
                own[0].marker.span.start if begins_with_marker else start + added_before,
                own[-1].marker.span.end if ends_with_marker else end + added,
            ),
            end=end,
            sources=sources,
            numbers=tuple(numbering.number_of(source) for source in sources),
            label=said.label,
            is_recorded=said.is_recorded,
        )


def _owner(plain: str, spans: Sequence[Span], offset: int) -> int:
    """The index of the sentence that a marker at `offset` belongs to; -1 where there is no sentence."""
    before = bisect_left(spans, offset, key=lambda span: span.start) - 1
    if before >= 0 and offset <= spans[before].end:
        return before
    line_start = plain.rfind("\n", 0, offset) + 1
    line_end = plain.find("\n", offset) if "\n" in plain[offset:] else len(plain)
    is_first_here = before < 0 or spans[before].end <= line_start
    begins_line = is_first_here and before + 1 < len(spans) and spans[before + 1].start < line_end
    return before + 1 if begins_line or (before < 0 and spans) else before
