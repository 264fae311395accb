"""Model text without what could act, hide or lure: invisible characters, chat-template tokens, HTML, links, images.

It runs while the text streams and goes through it character by character, so that how the text was cut into deltas
changes nothing. Whatever is taken out joins what stood around it, and the joined text is looked at again: nothing
forbidden can be put together from the remains.
"""

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator

from rag.cleaning_tokens import OPEN_TOKEN, TEMPLATE_TOKEN, TOKEN, TOKEN_STARTS, URL_END, URL_TAIL, Skip, skip_of

_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff]"
)
"""C0 and C1 controls but tab and line feed; zero-width, filler, direction, variation and tag characters."""
_JOINING = re.compile("[\u0600-\u08ff\u0900-\u0dff\u0f00-\u0fff\u1000-\u109f\u1780-\u18af\ufb50-\ufdff\ufe70-\ufefc]")
"""Letters and marks of the Arabic, Indic and other scripts whose shapes U+200C and U+200D choose."""
_JOINERS = "\u200c\u200d"
_SUSPECT = re.compile(f"{_INVISIBLE.pattern}|[{_JOINERS}]")
_STRAY_JOINER = re.compile(
    f"(?<!{_JOINING.pattern})[{_JOINERS}]++|[{_JOINERS}]++(?!{_JOINING.pattern})|(?<=[{_JOINERS}])[{_JOINERS}]"
)
MAX_HELD = 200
"""Characters that are held back at most until it is clear whether they are to go."""
_MAX_NESTED = 16
"""Tokens within tokens that are followed; what is nested deeper is let go, so that no text takes long."""
_MAX_MARKS = 30
"""Combining marks on one character: Unicode's Stream-Safe Text Format (UAX 15, section 13) allows as many."""


def visible(text: str) -> str:
    """`text` in NFC without control, zero-width, direction, tag and variation characters.

    U+200C and U+200D stay between letters of the Arabic and Indic scripts, which need them.
    """
    return unicodedata.normalize("NFC", without_invisible(text))


def without_invisible(text: str) -> str:
    """As `visible`, but not composed: what can be seen stays code point by code point."""
    if not _SUSPECT.search(text):
        return text
    return _STRAY_JOINER.sub("", _INVISIBLE.sub("", text))


def without_template_tokens(text: str) -> str:
    """`text` without the tokens by which chat templates mark turns and tools: what a prompt's data must not hold."""
    while (shorter := TEMPLATE_TOKEN.sub("", text)) != text:
        text = shorter
    return text


def clean(text: str, *, hidden: Collection[str] = (), known: str = "") -> str:
    """The whole of a model's `text` cleaned; see `clean_deltas`."""
    return "".join(clean_deltas([text], hidden=hidden, known=known))


def clean_deltas(deltas: Iterable[str], *, hidden: Collection[str] = (), known: str = "") -> Iterator[str]:
    """The cleaned text of `deltas`, one string for each of them, "" where it is held back; then the rest.

    `hidden` are strings that must not be shown (fences, keys). Addresses and author-year citations stay only where
    `known`, the text that the model was given, holds them. Code, math, indices and bare comparisons pass verbatim.
    """
    stages: tuple[_Stage, ...] = (_Visible(), _Tokens(hidden=hidden, known=known), _Visible())
    for delta in deltas:
        for stage in stages:
            delta = stage.feed(delta)
        yield delta
    rest = ""
    for stage in stages:
        rest = stage.feed(rest) + stage.finish()
    yield rest


class _Visible:
    """Drops what cannot be seen and composes to NFC; the last character and its marks are held until others follow."""

    def __init__(self) -> None:
        self._run = ""
        self._joiner = ""
        self._last = ""

    def feed(self, text: str) -> str:
        out: list[str] = []
        for character in text:
            if character in _JOINERS:
                self._joiner = self._joiner or character
            elif not _INVISIBLE.match(character):
                if self._joiner and _joins(self._last) and _joins(character):
                    self._add(self._joiner, out)
                self._joiner = ""
                self._add(character, out)
                self._last = character
        return "".join(out)

    def finish(self) -> str:
        run, self._run = self._run, ""
        return unicodedata.normalize("NFC", run)

    def _add(self, character: str, out: list[str]) -> None:
        if character.isascii() or not self._run:
            composes = False
        elif unicodedata.combining(character):
            composes = True
            if len(self._run) > _MAX_MARKS:
                return
        else:
            both = unicodedata.normalize("NFC", self._run + character)
            composes = both != unicodedata.normalize("NFC", self._run) + unicodedata.normalize("NFC", character)
        if composes:
            self._run += character
            return
        out.append(unicodedata.normalize("NFC", self._run))
        self._run = character


def _joins(character: str) -> bool:
    return _JOINING.match(character) is not None


class _Tokens:
    """Drops the tokens of `rag.cleaning_tokens`. `_held` is the text that is, or may come to be, part of one."""

    def __init__(self, *, hidden: Collection[str], known: str) -> None:
        self._hidden = tuple(text for text in hidden if text)
        self._known = known
        self._starts = frozenset([*TOKEN_STARTS, *(text[0] for text in self._hidden)])
        self._ends = frozenset(text[-1] for text in self._hidden)
        self._held = ""
        self._skip: Skip | None = None
        self._url: str | None = None
        """An address while it comes."""

    def feed(self, text: str) -> str:
        return "".join(part for character in text for part in self._take(character))

    def finish(self) -> str:
        ended = "".join(self._end_url()) if self._url is not None else ""
        held, self._held = self._held, ""
        return ended + held

    def _take(self, character: str) -> Iterator[str]:
        if self._skip is not None:
            left = self._skip.feed(character)
            if left is not None:
                self._skip = None
                for kept in left:
                    yield from self._take(kept)
            return
        if self._url is not None:
            if not URL_END.match(character):
                self._url += character
                return
            yield from self._end_url()
        if not self._held and character not in self._starts:
            yield character
            return
        self._held += character
        # No token ends with a letter; with a digit only a LaTeX command does.
        may_end = not character.isalnum() or "\\" in self._held or character in self._ends
        if not (may_end and self._drop()):
            end = self._first_open()
            text, self._held = self._held[:end], self._held[end:]
            yield text

    def _first_open(self) -> int:
        """Where the held text begins that may be part of a token, now or once a token behind it is taken out."""
        if OPEN_TOKEN.match(self._held):
            return max(0, len(self._held) - MAX_HELD)
        end = len(self._held)
        for _ in range(_MAX_NESTED):
            start = self._open_at(end) if end else None
            if start is None:
                break
            end = start
        return max(end, len(self._held) - MAX_HELD)

    def _open_at(self, end: int) -> int | None:
        match = OPEN_TOKEN.search(self._held, 0, end)
        starts = [match.start()] if match and match.start() < end else []
        for secret in self._hidden:
            lengths = range(min(len(secret) - 1, end), 0, -1)
            starts += [end - n for n in lengths if self._held.startswith(secret[:n], end - n)][:1]
        return min(starts, default=None)

    def _drop(self) -> bool:
        """Takes a token away that the last character has completed, or begins to skip one."""
        for secret in self._hidden:
            if self._held.endswith(secret):
                self._held = self._held.removesuffix(secret)
                return True
        match = TOKEN.search(self._held)
        if match is None or (match["author_year"] and match.group().strip() in self._known):
            return False
        rule, found = match.lastgroup or "", match.group()
        self._held = self._held[: match.start()]
        if rule == "url":
            self._url = found
            return True
        self._skip = skip_of(rule, found)
        if rule == "destination":
            self._held += "]("
        elif rule == "command" and self._skip is None:
            self._held += found[-1]
            self._drop()
        return True

    def _end_url(self) -> Iterator[str]:
        """The address that has ended, if the model was given it; what only stands behind it stays in any case."""
        url, self._url = self._url or "", None
        address = URL_TAIL.sub("", url)
        if re.search(rf"(?<!\w){re.escape(address)}(?![\w/?=&%#-])", self._known):
            yield self._held + address
            self._held = ""
        for character in url[len(address) :]:
            yield from self._take(character)


_Stage = _Visible | _Tokens
