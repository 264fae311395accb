"""Takes away what only served a marker: the white space before it, brackets around it, commas between markers."""

import re
from collections.abc import Iterable, Iterator

from rag.citations.scanner import FoundMarker
from rag.domain import Cite, Removed

_BEFORE = re.compile(r"[ \t\u00a0]*(?P<opener>\(|（|\[|\*{1,3}|_{1,3})?\Z")
_CLOSERS = {"(": ")", "（": "）", "[": "]"}
_SEPARATOR = re.compile(r"[ \t]*[,;/&、，]?[ \t]*")
_CONJUNCTION = re.compile(r"[ \t]*,?[ \t]*(?:and|or|und)[ \t]+")
_OPEN_GAP = re.compile(r"[ \t]*[,;/&、，]?[ \t]*(?:a(?:nd?)?|o(?:r)?|u(?:nd?)?)?[ \t]*")
_SPACE_BEFORE_POINT = re.compile(r"\A[ \t\u00a0]+(?=[.,;:!?)])")


def tidy(tokens: Iterable[str | FoundMarker]) -> Iterator[str | Cite | Removed]:
    """Text without traces of the markers in it, `Cite` for each source cited, `Removed` for a marker of no source."""
    spacing = _Spacing()
    for token in tokens:
        if token == "":
            yield ""
        yield from spacing.marker(token) if isinstance(token, FoundMarker) else spacing.text(token)
    yield from spacing.finish()


class _Spacing:
    """Holds the text that may belong to a marker: in front of one, or between and behind those of a group."""

    def __init__(self) -> None:
        self._held = ""
        self._last = "\n"
        """The last character of text that was let go."""
        self._in_group = False
        self._cited: set[int] = set()
        self._spaces = ""
        self._opener = ""
        """A bracket or emphasis right in front of the group, as long as it is open whether the group closes it."""
        self._waiting: list[Cite | Removed] = []
        """The group's pieces behind such an opener."""

    def text(self, text: str) -> Iterator[str | Cite | Removed]:
        self._held += text
        if self._in_group:
            if self._opener and self._is_closed():
                yield from self._waiting
                self._waiting.clear()
            if self._is_gap():
                return
            yield from self._end_group()
        yield from self._let_go(_before(self._held).start())

    def marker(self, marker: FoundMarker) -> Iterator[str | Cite | Removed]:
        if self._in_group and not self._joins(marker):
            yield from self._end_group()
        if not self._in_group:
            yield from self._let_go(_before(self._held).start())
            self._opener = _before(self._held)["opener"] or ""
            self._spaces = self._held.removesuffix(self._opener)
            self._in_group = True
            self._cited.clear()
        self._held = ""
        pieces: list[Cite | Removed] = [Cite(n) for n in marker.reading.sources if n not in self._cited]
        self._cited.update(marker.reading.sources)
        if marker.reading.unknown:
            pieces.append(Removed(marker.text))
        if self._opener:
            self._waiting += pieces
        else:
            yield from pieces

    def finish(self) -> Iterator[str | Cite | Removed]:
        if self._in_group:
            yield from self._end_group()
        yield from self._let_go(len(self._held))

    def _let_go(self, length: int) -> Iterator[str]:
        text, self._held = self._held[:length], self._held[length:]
        if text:
            self._last = text[-1]
            yield text

    def _is_closed(self) -> bool:
        """Whether the held text begins with what closes the group's opener, which is then forgotten with it."""
        rest = self._held.lstrip(" \t")
        closer = _CLOSERS.get(self._opener, self._opener)
        if not rest.startswith(closer):
            return False
        self._held, self._opener = rest.removeprefix(closer), ""
        return True

    def _is_gap(self) -> bool:
        """Whether the text behind a marker may turn out to stand between two of one group."""
        closer = _CLOSERS.get(self._opener, self._opener)
        may_close = bool(self._opener) and closer.startswith(self._held.lstrip(" \t"))
        return may_close or _OPEN_GAP.fullmatch(self._held) is not None

    def _joins(self, marker: FoundMarker) -> bool:
        """Whether only a separator stands between the group and `marker`; an "and" does where one side is removed."""
        if _SEPARATOR.fullmatch(self._held):
            return True
        one_is_removed = not marker.reading.sources or not self._cited
        return one_is_removed and _CONJUNCTION.fullmatch(self._held) is not None

    def _end_group(self) -> Iterator[str | Cite | Removed]:
        if self._opener and self._opener != "[":
            # A "[" that stays open goes: before "9]" it would make a marker of what was none.
            behind, self._held = self._held, self._spaces + self._opener
            yield from self._let_go(len(self._held))
            self._held = behind
        yield from self._waiting
        self._waiting.clear()
        self._opener, self._in_group = "", False
        if self._last == "\n" and not self._cited:
            self._held = self._held.lstrip(" \t")
        self._held = _SPACE_BEFORE_POINT.sub("", self._held)
        if self._runs_together():
            self._held = " " + self._held

    def _runs_together(self) -> bool:
        """Whether the marker stood between two words without white space; Chinese and Japanese have none anyway."""
        following = self._held[:1]
        return following.isalnum() and following < "\u2e80" and not self._last.isspace() and self._last not in "([{"


def _before(text: str) -> re.Match[str]:
    return next(_BEFORE.finditer(text))  # it matches at the end of any text
