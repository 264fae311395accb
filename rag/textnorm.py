"""Texts in one form, so that the same words compare equal however they are typeset: LaTeX, Markdown, Unicode."""

import re
import unicodedata
from functools import lru_cache

_CHARACTERS = str.maketrans(
    {
        **dict.fromkeys("‐‑‒–−", "-"),
        **dict.fromkeys("“”„‟«»″", '"'),
        **dict.fromkeys("‘’‚‛′", "'"),
        **dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufeff", ""),
        **dict.fromkeys("—―", " - "),
        "×": "x",
        "∼": "~",
        "≈": "~",
        "`": "",
    }
)
_LATEX_QUOTE = re.compile(r"``|''")
_LATEX_COMMAND = re.compile(
    r"\\(?:emph|text\w*|math\w*|operatorname|mbox|hbox|bm|boldsymbol|underline|url)\s*\{([^{}]*)\}"
)
_LATEX_SYMBOLS = {"times": "x", "sim": "~", "approx": "~", "geq": "≥", "ge": "≥", "leq": "≤", "le": "≤", "pm": "±"}
_LATEX_NAME = re.compile(r"\\([A-Za-z]+)\s?")
_LATEX_SPACE = re.compile(r"\\[,;:! ]|(?<=\w)~(?=\w)")
_MATH = re.compile(r"(?<!\\)\$(?=\S)([^$\n]{1,200}?)(?<=\S)\$(?!\d)")
_ESCAPED = re.compile(r"\\([^\sA-Za-z])")
_EMPHASIS = re.compile(r"\*+|(?<!\w)_{1,2}(?=\w)|(?<=\w)_{1,2}(?!\w)")
_TAG = re.compile(r"</?(?:b|i|em|strong|sup|sub|br|span|p|u)\b[^<>]*>", re.IGNORECASE)
_BROKEN_WORD = re.compile(r"(?<=[a-z])-\s+(?!(?:and|or|to|nor|versus|vs|as|but|than|und|oder)\b)(?=[a-z])")


@lru_cache(maxsize=8192)
def normalize(text: str) -> str:
    """`text` in NFKC with plain dashes and quotes, without LaTeX and Markdown markup, its white space single.

    Words that a line end broke ("opti- mizing") are joined; `\\emph{x}` gives x, `$\\times$` gives x, `**M**ulti` gives
    Multi. Case stays.
    """
    clean = _TAG.sub("", _LATEX_QUOTE.sub('"', unicodedata.normalize("NFKC", text)))
    clean = clean.translate(_CHARACTERS)
    if "\\" in clean:
        for _ in range(3):  # nested commands
            clean = _LATEX_COMMAND.sub(r"\1", clean)
        clean = _LATEX_SPACE.sub(" ", clean)
        clean = _LATEX_NAME.sub(lambda match: _LATEX_SYMBOLS.get(match[1], match.group()[1:]), clean)
    clean = _ESCAPED.sub(r"\1", _MATH.sub(r"\1", clean))
    clean = _EMPHASIS.sub("", clean).replace("{", "").replace("}", "")
    return _BROKEN_WORD.sub("", " ".join(clean.split()))


def match_form(text: str) -> str:
    """`normalize` without case, and with a space for every hyphen: what aliases and quotations are looked up in."""
    return " ".join(normalize(text).casefold().replace("-", " ").split())


def contains_verbatim(text: str, *, quote: str) -> bool:
    """Whether `quote` stands in `text`, word for word, both normalised; marks at the quote's ends do not count."""
    wanted = match_form(quote).strip(" .,;:!?\"'")
    return bool(wanted) and re.search(rf"(?<!\w){re.escape(wanted)}(?!\w)", match_form(text)) is not None


_QUOTATION = re.compile(r'"([^"\n]+)"')


def quotations(text: str, *, min_words: int = 4) -> tuple[str, ...]:
    """The quoted passages of `text` with at least `min_words` words: shorter ones are names and scare quotes."""
    return tuple(quote for quote in _QUOTATION.findall(normalize(text)) if len(quote.split()) >= min_words)
