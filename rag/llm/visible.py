"""The part of a model's text that is its answer: no reasoning in tags, no broken characters, no more than a limit."""

import re

MAX_TEXT_BYTES = 65_536
_TAG = re.compile(r"<(/?)think(?:ing)?>", re.IGNORECASE)
_TAGS = ("<think>", "</think>", "<thinking>", "</thinking>")


class VisibleText:
    """Filters a stream of deltas. `full` is True once `max_bytes` of UTF-8 came out; what follows is dropped.

    `thinking` says that the text begins inside a reasoning block: some chat templates open it in the prompt, so that
    only its end is in the stream. Where no end follows, all of it was the answer, and `finish` returns it.
    """

    def __init__(self, *, thinking: bool = False, max_bytes: int = MAX_TEXT_BYTES) -> None:
        self.full = False
        self.began_thinking = False
        """Whether a reasoning block ended that never began: the text before it should not have been shown."""
        self._thinking = thinking
        self._doubtful: list[str] | None = [] if thinking else None
        self._left = max_bytes
        self._pending = ""
        self._started = False

    def feed(self, delta: str) -> str:
        """The visible text that `delta` completes; "" while a tag or a character is not told yet."""
        text, self._pending = self._pending + delta, ""
        if text and "\ud800" <= text[-1] <= "\udbff":  # the first half of a character that is split over two deltas
            text, self._pending = text[:-1], text[-1]
        return self._take(text, last=False)

    def finish(self) -> str:
        """The visible text that was held back when the stream ended."""
        text, self._pending = self._pending, ""
        rest = self._take(text, last=True)
        if self._thinking and self._doubtful:
            rest = self._shown("".join(self._doubtful)) + rest
        return rest

    def _take(self, text: str, *, last: bool) -> str:
        out: list[str] = []
        position = 0
        for tag in _TAG.finditer(text):
            self._pass(text[position : tag.start()], out)
            closes, position = bool(tag[1]), tag.end()
            self.began_thinking |= closes and (self._doubtful is not None or not self._thinking)
            self._thinking, self._doubtful = not closes, None
        rest = text[position:]
        if not last and (held := _held_back(rest)):
            rest, self._pending = rest[:-held], rest[-held:] + self._pending
        self._pass(rest, out)
        return self._shown("".join(out))

    def _pass(self, text: str, out: list[str]) -> None:
        if not self._thinking:
            out.append(joined_surrogates(text))
        elif self._doubtful is not None:
            self._doubtful.append(joined_surrogates(text))

    def _shown(self, text: str) -> str:
        if not self._started:  # the blank lines between reasoning and answer
            text = text.lstrip()
            self._started = bool(text)
        encoded = text.encode()
        if len(encoded) >= self._left:
            text, self.full = encoded[: self._left].decode(errors="ignore"), True
        self._left = max(0, self._left - len(encoded))
        return text


def _held_back(text: str) -> int:
    """Number of last characters that may be the beginning of a tag."""
    start = text.rfind("<")
    tail = text[start:].lower() if start >= 0 else ""
    return len(tail) if tail and any(tag.startswith(tail) for tag in _TAGS) else 0


def joined_surrogates(text: str) -> str:
    """`text` with surrogate pairs joined and lone surrogates replaced by U+FFFD, so that it can be written as UTF-8."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
