"""The matching rule behind gold nuggets: does an answer say a fact, by its strings alone?"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

_LATEX_WRAPPED = re.compile(r"\\[a-zA-Z]+\*?\{([^{}]*)\}")
_LATEX_COMMAND = re.compile(r"\\([a-zA-Z]+)")
_MARKUP = re.compile(r"[*_`$~{}\\]")
_DASHES = re.compile(r"[-\u2010-\u2015\u2212]")


@lru_cache(maxsize=65536)
def normalise(text: str) -> str:
    """`text` in lower case and NFKC, without Markdown and LaTeX, hyphens as spaces, white space folded."""
    folded = unicodedata.normalize("NFKC", text).lower()
    folded = re.sub(r"(?<=[a-z])- (?=[a-z])", "", folded)  # "opti- mizing", a line break of the source
    folded = _LATEX_WRAPPED.sub(r"\1", folded).replace("\\times", "x").replace("×", "x")
    folded = _MARKUP.sub("", _LATEX_COMMAND.sub(r"\1", folded))
    return " ".join(_DASHES.sub(" ", folded).split())


def says(text: str, phrase: str) -> bool:
    """Whether `phrase` stands in `text` from a word boundary on; its end is open, so that stems match."""
    return re.search(r"(?<![a-z0-9])" + re.escape(normalise(phrase)), normalise(text)) is not None


def matches_nugget(text: str, nugget: Mapping[str, Any]) -> bool:
    """Whether `text` says the nugget: any of its `aliases`, or at least one of each group in `all`."""
    if any(says(text, alias) for alias in _strings(nugget.get("aliases"))):
        return True
    groups = [_strings(group) for group in nugget.get("all") or ()]
    return bool(groups) and all(any(says(text, phrase) for phrase in group) for group in groups)


def _strings(value: Sequence[str] | None) -> tuple[str, ...]:
    return tuple(value or ())
