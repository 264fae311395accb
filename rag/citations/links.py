"""What is dropped of a stream behind a Markdown link's label, however long it is."""


class LinkDestination:
    """From `(` to the `)` that closes it, with a quoted title; the end of the line ends it too."""

    def __init__(self) -> None:
        self.ended = False
        self._depth = 0
        self._title_quote = ""
        self._started = False

    def length(self, text: str, *, final: bool) -> int | None:
        """How many characters at the beginning of `text` belong to it; None where more text must come first."""
        for position, character in enumerate(text):
            if character == "\n":
                return self._end(position)
            if self._title_quote:
                self._title_quote = "" if character == self._title_quote else self._title_quote
            elif character == "(":
                self._depth += 1
            elif character == ")":
                self._depth -= 1
                if self._depth == 0:
                    return self._end(position + 1)
            elif not character.isspace():
                self._started = True
            elif self._started:
                following = text[position:].lstrip(" \t")
                if not following and not final:
                    return position or None
                if following[:1] in {'"', "'"} and following[:1]:
                    self._title_quote = following[0]
                    return len(text) - len(following) + 1
                if following[:1] != ")":
                    return self._end(position)
        return len(text)

    def _end(self, length: int) -> int:
        self.ended = True
        return length


class RestOfLine:
    """Everything up to the end of the line."""

    def __init__(self) -> None:
        self.ended = False

    def length(self, text: str, *, final: bool) -> int | None:
        """How many characters at the beginning of `text` belong to it."""
        end = text.find("\n")
        self.ended = end >= 0 or final
        return end if end >= 0 else len(text)
