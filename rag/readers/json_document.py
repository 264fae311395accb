"""Reads a JSON document: an array of records, one record, several one after another, or an API's page of results.

The document is cut into the texts of its records as it streams, so that neither its size nor one broken record counts.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from rag.readers.found import Found
from rag.readers.jsonl import read_object
from rag.readers.source import BAD_BYTES, MAX_RECORD, Source
from rag.records import BadRecord

_PAGE = re.compile(r'"(?:notes|results|data|papers|records|works)"\s*\Z')
"""The key of the array of records in a page of OpenReview, OpenAlex or Semantic Scholar."""
_RECORD = re.compile(r'"(?:abstract|title)"\s*\Z')
"""The keys that an object has which is a record itself."""
_TOKEN = re.compile(r'[{\[]+|[}\]]+|[",]|[^\s"{}\[\],]+')
_TOP = 3
"""Depths up to this one may be those at which records begin and end."""
_IN_STRING = re.compile(r'["\\\n]')


class _Element(NamedTuple):
    line: int
    text: str
    problem: str | None


def read_json(source: Source) -> Iterator[Found]:
    """The objects of the document; what is no object, or is broken, is a problem of its own."""
    cutter = _Cutter()
    for block in source.blocks():
        yield from map(_found, cutter.feed(block))
    yield from map(_found, cutter.finish())


def _found(element: _Element) -> Found:
    if element.problem is not None:
        return Found(element.line, None, BadRecord(None, element.problem), element.text[:200])
    if BAD_BYTES.search(element.text):
        return Found(element.line, None, BadRecord(None, "not UTF-8"), BAD_BYTES.sub("\ufffd", element.text[:200]))
    return read_object(element.line, element.text)


class _Cutter:
    """Cuts JSON text into the values at depth `_base`: 0 at first, that of an array's items once one begins."""

    def __init__(self) -> None:
        self._depth = self._base = 0
        self._in_string = self._escaped = False
        self._page_key = self._record_key = self._may_be_page = False
        self._line = 1
        self._start: tuple[int, int] | None = None
        """Line and depth at which the value began that is being read."""
        self._parts: list[str] = []
        self._length = 0

    def feed(self, block: str) -> Iterator[_Element]:
        """The values that end in `block`."""
        position = 0
        while position < len(block):
            if self._in_string:
                position = self._string(block, position)
                continue
            match = _TOKEN.search(block, position)
            end = match.end() if match else len(block)
            self._keep(block[position : match.start() if match else end])
            if match:
                yield from self._take_run(match.group())
            position = end

    def finish(self) -> Iterator[_Element]:
        """The value that the end of the text breaks off, or the report that it ends too early."""
        if self._start is not None:
            bare = self._depth == self._start[1] and not self._in_string
            yield self._element(None if bare else "the file ends within the record")
        elif self._depth:
            yield _Element(self._line, "", "the file ends before its JSON does")

    def _string(self, block: str, position: int) -> int:
        if self._escaped:
            self._escaped = False
            self._keep(block[position])
            return position + 1
        match = _IN_STRING.search(block, position)
        end = match.end() if match else len(block)
        self._keep(block[position:end])
        if match:
            self._escaped = match.group() == "\\"
            # No string of JSON goes on in the next line: where one does, its end is missing.
            self._in_string = self._escaped
        return end

    def _take_run(self, marks: str) -> Iterator[_Element]:
        """A word, a quote or a comma; or brackets of one kind, which count one by one only near the top."""
        if marks[0] not in "{[]}":
            yield from self._take(marks)
        elif self._start is not None and self._depth - len(marks) > _TOP:
            self._depth += len(marks) if marks[0] in "{[" else -len(marks)
            self._keep(marks)
        else:
            for mark in marks:
                yield from self._take(mark)

    def _take(self, mark: str) -> Iterator[_Element]:
        if self._may_be_page:
            self._may_be_page = False
            if mark in "{]":
                self._base, self._start = self._depth, None
        if self._depth == 1 and self._base == 0 and mark.startswith(":"):
            key = "".join(self._parts[-4:])
            self._page_key = _PAGE.search(key) is not None
            self._record_key = self._record_key or _RECORD.search(key) is not None
        bare = self._start is not None and self._depth == self._start[1]
        if bare and mark in "{[]},":
            yield self._element(None)
        if mark in "{[":
            self._open(mark)
        elif mark in "}]":
            yield from self._close(mark)
        elif mark != "," or self._start is not None:
            self._begin()
            self._in_string = mark == '"'
            self._keep(mark)

    def _open(self, mark: str) -> None:
        if mark == "[" and self._depth == self._base == 0:
            self._base = self._depth = 1
            return
        if mark == "[" and self._depth == 1 and self._base == 0:
            self._may_be_page = self._page_key and not self._record_key
        self._begin()
        self._keep(mark)
        self._depth += 1

    def _close(self, mark: str) -> Iterator[_Element]:
        self._depth = max(0, self._depth - 1)
        if self._start is None:
            self._base = 0 if self._depth < self._base else self._base
            return
        self._keep(mark)
        if self._depth == self._start[1]:
            yield self._element(None)

    def _begin(self) -> None:
        if self._start is None and self._depth == self._base:
            self._start, self._parts, self._length = (self._line, self._depth), [], 0
            self._record_key = False

    def _keep(self, text: str) -> None:
        self._line += text.count("\n")
        if self._start is not None and text:
            self._length += len(text)
            if self._length <= MAX_RECORD:
                self._parts.append(text)

    def _element(self, problem: str | None) -> _Element:
        line = self._start[0] if self._start else self._line
        if self._length > MAX_RECORD:
            problem = f"longer than {MAX_RECORD:,} characters"
        element = _Element(line, "".join(self._parts), problem)
        self._start, self._parts, self._length = None, [], 0
        return element
