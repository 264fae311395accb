"""Drops the reference list that models like to append: citewise prints its own, of the sources that are cited."""

import re
from collections.abc import Iterable, Iterator
from typing import Literal

_TITLES = (
    "references",
    "reference list",
    "list of references",
    "reference",
    "sources",
    "sources used",
    "sources cited",
    "cited sources",
    "cited papers",
    "bibliography",
    "citations",
    "works cited",
    "literatur",
    "quellen",
    "参考文献",
    "来源",
)
_MARKUP = "#*_> \t"
_MAX_HEADING = 60
_LIST_ITEM = re.compile(r"[ \t]*(?:[-*•–]\s|[\[【(]\^?(?:\d|source)|\d{1,3}[.):\]]|\^\d|\*\*\[?\d)", re.IGNORECASE)
_INLINE_ITEM = re.compile(r"[ \t]*(?:[\[【(]\^?\d|\d{1,3}[.)]\s)")
_ITEM_WINDOW = 12


def drop_reference_list(deltas: Iterable[str]) -> Iterator[str]:
    """The text of `deltas` without lists under a heading such as "References:".

    Only what may become such a heading is held back. A heading that no list follows is passed on as it is, and so is an
    empty delta, which tells that nothing came.
    """
    filter_ = _ListFilter()
    for delta in deltas:
        text = filter_.feed(delta)
        if text or not delta:
            yield text
    if text := filter_.finish():
        yield text


class _ListFilter:
    """Works line by line: `_state` is the method that handles what `_rest` begins with; it returns False to wait."""

    def __init__(self) -> None:
        self._rest = ""
        self._out: list[str] = []
        self._held = ""
        self._after_blank = False
        self._has_text = False
        """Whether there was text: a list that an answer begins with is the answer."""
        self._final = False
        self._state = self._at_line_start

    def feed(self, delta: str) -> str:
        self._rest += delta
        while self._rest and self._state():
            pass
        text = "".join(self._out)
        self._out.clear()
        return text

    def finish(self) -> str:
        self._final = True
        text = self.feed("")
        return text + self._held if self._state == self._after_heading else text

    def _at_line_start(self) -> bool:
        line, newline, _ = self._rest.partition("\n")
        ended = len(line) < _MAX_HEADING and bool(newline)
        kind = _line_kind(line[:_MAX_HEADING], ended=ended) if self._has_text else "text"
        if kind == "open" and not self._final and len(line) < _MAX_HEADING:
            return False
        if kind == "heading":
            self._held, self._rest = line + newline, self._rest[len(line) + 1 :]
        self._state = {"heading": self._after_heading, "list": self._in_list_line}.get(kind, self._in_line)
        return True

    def _in_line(self) -> bool:
        line, newline, self._rest = self._rest.partition("\n")
        self._out.append(line + newline)
        self._has_text = self._has_text or bool(line.strip())
        if newline:
            self._state = self._at_line_start
        return True

    def _after_heading(self) -> bool:
        blank = re.match(r"(?:[ \t\r]*\n)+", self._rest)
        if blank:
            self._held, self._rest = self._held + blank.group(), self._rest[blank.end() :]
            return True
        is_item = self._is_item()
        if is_item is None:
            return False
        if is_item:
            self._held, self._state = "", self._in_list_line
        else:
            self._out.append(self._held)
            self._held, self._state = "", self._at_line_start
        return True

    def _in_list_line(self) -> bool:
        _, newline, self._rest = self._rest.partition("\n")
        if newline:
            self._state, self._after_blank = self._at_list_line, False
        return True

    def _at_list_line(self) -> bool:
        blank = re.match(r"[ \t\r]*\n", self._rest)
        if blank:
            self._rest, self._after_blank = self._rest[blank.end() :], True
            return True
        is_item = self._is_item()
        if is_item is None:
            return False
        self._state = self._in_list_line if is_item or not self._after_blank else self._at_line_start
        return True

    def _is_item(self) -> bool | None:
        """Whether `_rest` begins a list item; None as long as that is open."""
        window = self._rest.partition("\n")[0].lstrip(" \t")[:_ITEM_WINDOW]
        if _LIST_ITEM.match(window + ("\n" if "\n" in self._rest or self._final else "")):
            return True
        return None if len(window) < _ITEM_WINDOW and "\n" not in self._rest and not self._final else False


def _line_kind(line: str, *, ended: bool) -> Literal["heading", "list", "text", "open"]:
    """Whether a line is a heading, a heading with the list's first item, or text; "open" until more of it is there."""
    body = line.lstrip(_MARKUP).lower()
    titles = [title for title in _TITLES if body.startswith(title) and not body[len(title) : len(title) + 1].isalnum()]
    may_begin = any(title.startswith(body) for title in _TITLES)
    if not titles:
        return "open" if may_begin and not ended else "text"
    tail = body[len(max(titles, key=len)) :].lstrip(" \t*_")
    if not tail.strip(" \t\r:*_#"):
        return "heading" if ended else "open"
    item = tail.removeprefix(":").lstrip("*_ \t")
    if tail.startswith(":") and _INLINE_ITEM.match(item):
        return "list"
    is_open = may_begin or (tail.startswith(":") and len(item) < _ITEM_WINDOW)
    return "open" if is_open and not ended else "text"
