"""What papers are called: the name in front of the colon of their title, by which questions ask for them."""

import re

_HEAD = re.compile(r"\s*([^\W_][^:]{1,38}[^\s:]):\s+\S")
_MOST_WORDS = 3
_EDGE = r"[\w-]"
_GENERIC = frozenset({"position", "position paper", "survey", "review", "tutorial", "comment", "reply", "correction"})
_CAPITAL_INSIDE = re.compile(r"\S[A-Z0-9]")


def name_in_title(title: str) -> str | None:
    """ "Stacey" of "Stacey: Promoting Stochastic Steepest Descent"; None where a title begins with no such name."""
    head = _HEAD.match(title)
    if not head or len(head[1].split()) > _MOST_WORDS or head[1].casefold() in _GENERIC or not head[1][0].isupper():
        return None
    return head[1]


def calls(text: str, title: str) -> str | None:
    """The name by which `text` calls the paper of that title, as the title writes it; None where it does not.

    A capital alone may be that of a sentence's first word: there the name must have another, or a figure.
    """
    name = name_in_title(title)
    if name is None:
        return None
    for found in re.finditer(rf"(?<!{_EDGE}){re.escape(name)}(?!{_EDGE})", text):
        if _CAPITAL_INSIDE.search(name) or not re.search(r"(?:^|[.?!:]\s+)\W*\Z", text[: found.start()]):
            return name
    return None
