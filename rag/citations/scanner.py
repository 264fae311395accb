"""Finds the markers in a stream of text, and leaves alone what only looks like one: code, math, quotations, links."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rag.citations.links import LinkDestination, RestOfLine
from rag.citations.markers import MAX_MARKER, MarkerReading, may_be_marker, read_marker, read_round_marker


@dataclass(frozen=True, slots=True)
class FoundMarker:
    """A marker as the model wrote it, and what it cites."""

    text: str
    reading: MarkerReading


def find_markers(deltas: Iterable[str], *, sources: int) -> Iterator[str | FoundMarker]:
    """The text of `deltas` in order, its markers (of the sources 1..`sources`, or of none) taken out of it."""
    scanner = _Scanner(sources)
    for delta in deltas:
        if not delta:
            yield ""
        yield from scanner.feed(delta)
    yield from scanner.finish()


_OPEN, _CLOSE = r"[\[［【〔]", r"[\]］】〕]"
_INSIDE = rf"[^\[\]［］【】〔〕\n]{{0,{MAX_MARKER}}}"
_TRIGGER = re.compile(r'[`$\\"“„«「!\[［【〔(（\]]')
_BRACKET = re.compile(rf"{_OPEN}({_INSIDE}){_CLOSE}")
_OPEN_BRACKET = re.compile(rf"{_OPEN}{_INSIDE}\Z")
_NESTING = re.compile(rf"{_OPEN}({_INSIDE}){_OPEN}")
_ROUND = re.compile(rf"[(（]([^()（）\n]{{0,{MAX_MARKER}}})[)）]")
_OPEN_ROUND = re.compile(rf"[(（]([^()（）\n]{{0,{MAX_MARKER}}})\Z")
_ESCAPED = re.compile(r"\\\[([\d,;\s–-]{1,20})\\\]")
_OPEN_ESCAPED = re.compile(r"\\\[[\d,;\s–-]{0,20}\\?\Z")
_AMOUNT = re.compile(r"\$\d[\d.,]{0,15}")
_AFTER_AMOUNT = re.compile(r"[\s)\];:!?%+]|\Z|[kKmMbB](?!\w)|[-–][$\d]")
_URL = re.compile(r"\(\s{0,3}<?(?:[a-z][a-z0-9+.-]{1,20}:\S|//|/|\.{1,2}/|#|www\.)", re.IGNORECASE)
_DESTINATION = re.compile(rf"\((?:[^\s()]{{0,{MAX_MARKER}}}[./#][^\s()]{{0,{MAX_MARKER}}})?\)")
_OPEN_LINK = re.compile(rf"\((?:[^\s()]{{0,{2 * MAX_MARKER}}}|\s{{0,3}}<?[a-z0-9+.-]{{0,21}}:?)\Z", re.IGNORECASE)
_DEFINES = re.compile(r":[ \t]{0,3}<?(?:[a-z][a-z0-9+.-]{1,20}:\S|//|www\.)", re.IGNORECASE)
_OPEN_DEFINITION = re.compile(r":[ \t]{0,3}<?[a-z0-9+.-]{0,21}:?/?\Z", re.IGNORECASE)
_QUOTES = {'"': '"', "“": "”", "„": "“”", "«": "»", "「": "」"}
_TAIL = 40


@dataclass(frozen=True, slots=True)
class _Context:
    """Text in which nothing is a marker, up to `end`; where that is an end of line, it is not part of it.

    `hold` is one less than the longest match of `end`.
    """

    end: re.Pattern[str]
    hold: int = 0


_FENCE = _Context(re.compile(r"\n {0,3}```"), hold=6)
_LINE_MATH = _Context(re.compile(r"(?<!\\)\$|\n"))
_DISPLAY_MATH = _Context(re.compile(r"\$\$|\n\n"), hold=1)
_ROUND_MATH = _Context(re.compile(r"\\\)|\n"), hold=1)
_SQUARE_MATH = _Context(re.compile(r"\\\]|\n\n"), hold=1)


class _Scanner:
    """A state machine over the held text `_rest`. Each step settles its beginning, or returns None to wait for more.

    A step looks no further than a fixed window and settles only what no further text can change, so that the result
    does not depend on how the text was cut.
    """

    def __init__(self, sources: int) -> None:
        self._sources = sources
        self._rest = ""
        self._tail = "\n"
        """The last characters of the settled text: what stands in front of a marker."""
        self._context: _Context | None = None
        self._skipping: LinkDestination | RestOfLine | None = None
        self._final = False

    def feed(self, delta: str) -> Iterator[str | FoundMarker]:
        self._rest += delta
        while self._rest:
            token: str | FoundMarker | None
            if self._skipping:
                token = self._skip(self._skipping)
            elif self._context:
                token = self._in_context(self._context)
            else:
                token = self._in_text()
            if token is None:
                return
            if token:
                yield token

    def finish(self) -> Iterator[str | FoundMarker]:
        self._final = True
        yield from self.feed("")

    def _take(self, count: int) -> str:
        text, self._rest = self._rest[:count], self._rest[count:]
        self._tail = (self._tail + text)[-_TAIL:]
        return text

    def _drop(self, count: int) -> str:
        text, self._rest = self._rest[:count], self._rest[count:]
        return text

    def _at_line_start(self) -> bool:
        return not self._tail.rpartition("\n")[2].strip(" \t>")

    def _skip(self, skipped: LinkDestination | RestOfLine) -> str | None:
        count = skipped.length(self._rest, final=self._final)
        if count is None:
            return None
        self._drop(count)
        if skipped.ended:
            self._skipping = None
        return ""

    def _in_context(self, context: _Context) -> str | None:
        match = context.end.search(self._tail[-1:] + self._rest, 1)
        if match is None:
            settled = len(self._rest) if self._final else len(self._rest) - context.hold
            return self._take(settled) if settled > 0 else None
        self._context = None
        return self._take(match.start() - 1 if match.group().isspace() else match.end() - 1)

    def _in_text(self) -> "str | FoundMarker | None":
        trigger = _TRIGGER.search(self._rest)
        if trigger is None or trigger.start() > 0:
            return self._take(trigger.start() if trigger else len(self._rest))
        character = self._rest[0]
        if character == "`":
            return self._backticks()
        if character == "$":
            return self._dollar()
        if character == "\\":
            return self._backslash()
        if character in _QUOTES:
            return self._quote()
        if character in "(（":
            return self._round_bracket()
        if character == "]":
            return self._long_link()
        return self._bracket()

    def _enter(self, count: int, context: _Context) -> str:
        self._context = context
        return self._take(count)

    def _backticks(self) -> str | None:
        run = len(self._rest) - len(self._rest.lstrip("`"))
        if run == len(self._rest) and run < 20 and not self._final:
            return None
        run = min(run, 20)
        if run >= 3 and self._at_line_start():
            return self._enter(run, _FENCE)
        # ``LaTeX quotes'' end like this too.
        end = "``|''" if run == 2 else "`" * run
        return self._enter(run, _Context(re.compile(rf"{end}|\n"), hold=run - 1))

    def _dollar(self) -> str | None:
        amount = _AMOUNT.match(self._rest)
        needed = amount.end() + 2 if amount else 2
        if len(self._rest) < needed and not self._final:
            return None
        if self._rest.startswith("$$"):
            return self._enter(2, _DISPLAY_MATH)
        if amount and (amount.group()[-1] in ".," or _AFTER_AMOUNT.match(self._rest, amount.end())):
            return self._take(amount.end())
        if self._rest[1:2].isspace() or len(self._rest) == 1:
            return self._take(1)
        return self._enter(1, _LINE_MATH)

    def _backslash(self) -> str | FoundMarker | None:
        if len(self._rest) == 1 and not self._final:
            return None
        if self._rest.startswith("\\("):
            return self._enter(2, _ROUND_MATH)
        if not self._rest.startswith("\\["):
            return self._take(2)
        escaped = _ESCAPED.match(self._rest)
        reading = read_marker(escaped[1], sources=self._sources, before=self._tail) if escaped else None
        if escaped and reading:
            return FoundMarker(self._drop(escaped.end()), reading)
        if _OPEN_ESCAPED.match(self._rest) and not self._final:
            return None
        return self._enter(2, _SQUARE_MATH)

    def _quote(self) -> str | None:
        character = self._rest[0]
        if character == '"':
            if len(self._rest) == 1 and not self._final:
                return None
            opens = (self._tail[-1].isspace() or self._tail[-1] in "([{*_—–") and not self._rest[1:2].isspace()
            if not opens:
                return self._take(1)
        return self._enter(1, _Context(re.compile(rf"[{_QUOTES[character]}\n]")))

    def _round_bracket(self) -> str | FoundMarker | None:
        match = _ROUND.match(self._rest)
        if match is None or (match.end() == len(self._rest) and not self._final):
            open_ = _OPEN_ROUND.match(self._rest)
            may_become = match is not None or (open_ is not None and may_be_marker(open_[1]))
            return None if may_become and not self._final else self._take(1)
        # Chinese and Japanese put no space in front of a bracket.
        before = self._tail + " " if match.group()[0] == "（" else self._tail
        after = self._rest[match.end() : match.end() + 1]
        reading = read_round_marker(match[1], sources=self._sources, before=before, after=after)
        return FoundMarker(self._drop(match.end()), reading) if reading else self._take(1)

    def _bracket(self) -> str | FoundMarker | None:
        is_image = self._rest[0] == "!"
        start = 1 if is_image else 0
        match = _BRACKET.match(self._rest, start)
        if match is None:
            return self._unpaired_bracket(start)
        link = self._link_at(match.end())
        if link is None:
            return None
        # Only square brackets index arrays.
        before = self._tail if self._rest[start] == "[" else ""
        reading = read_marker(match[1], sources=self._sources, before=before)
        if link:
            self._skipping = LinkDestination()
            marker_or_label = FoundMarker(match.group(), reading) if reading else "" if is_image else match[1]
            self._drop(match.end())
            if isinstance(marker_or_label, str):
                self._tail = (self._tail + marker_or_label)[-_TAIL:]
            return marker_or_label
        if is_image:
            return self._take(1)
        if self._rest.startswith(":", match.end()) and self._at_line_start():
            return self._definition(match, reading)
        return FoundMarker(self._drop(match.end()), reading) if reading else self._take(match.end())

    def _unpaired_bracket(self, start: int) -> str | None:
        is_open = len(self._rest) == start or _OPEN_BRACKET.match(self._rest, start)
        if is_open and not self._final:
            return None
        if start:
            return self._take(1)
        nesting = _NESTING.match(self._rest)
        if nesting and nesting[1].strip() and may_be_marker(nesting[1]):
            # "[1, [9]2]": without its inner marker this would read as one.
            self._drop(1)
            return ""
        return self._take(1)

    def _long_link(self) -> str | None:
        """A link whose label was too long to be held: the label's end stands here."""
        link = self._link_at(1)
        if link is None:
            return None
        if link:
            self._skipping = LinkDestination()
        return self._take(1)

    def _link_at(self, position: int) -> bool | None:
        """Whether a link's destination in round brackets begins at `position`; None as long as that is open."""
        if position == len(self._rest) and not self._final:
            return None
        if _URL.match(self._rest, position) or _DESTINATION.match(self._rest, position):
            return True
        return None if _OPEN_LINK.match(self._rest, position) and not self._final else False

    def _definition(self, match: re.Match[str], reading: MarkerReading | None) -> str | FoundMarker | None:
        """`[1]: https://...` and `[^1]: text` define and are dropped; `[1]: text` cites, for a model that lists so."""
        if match[1].lstrip().startswith("^") or _DEFINES.match(self._rest, match.end()):
            self._skipping = RestOfLine()
            self._drop(match.end())
            return ""
        if _OPEN_DEFINITION.match(self._rest, match.end()) and not self._final:
            return None
        if reading is None:
            return self._take(match.end())
        marker = FoundMarker(match.group(), reading)
        self._drop(match.end() + 1)
        return marker
