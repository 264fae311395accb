"""Papers as BibTeX entries."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import count
from urllib.parse import quote

from rag.domain import Paper

_ESCAPES = {
    "\\": r"\textbackslash{}",
    "{": r"\textbraceleft{}",  # BibTeX counts the braces of \{ too
    "}": r"\textbraceright{}",
    "&": r"\&",
    "%": r"\%",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}

_URL_SAFE = ":/?#[]@!$&'()*+,;=%~"


def citation_key(paper: Paper) -> str:
    """A key of the first author's last name, the year and the title's first long word: "wu2025cape"."""
    last = paper.authors[0].split()[-1] if paper.authors and paper.authors[0].split() else "anon"
    word = next((word for word in re.findall(r"[A-Za-z0-9]+", _ascii(paper.title)) if len(word) > 3), "")
    key = re.sub(r"[^a-z0-9]", "", _ascii(f"{last}{paper.year or ''}{word}").lower())
    return key or re.sub(r"[^A-Za-z0-9]", "", paper.paper_id) or "paper"


def bibtex_entries(papers: Iterable[Paper]) -> str:
    """The papers as entries whose keys differ: those that would be alike get a, b, ... behind them."""
    used: set[str] = set()
    entries = []
    for paper in papers:
        key = citation_key(paper)
        unique = next(name for name in (key + suffix for suffix in _suffixes()) if name not in used)
        used.add(unique)
        entries.append(bibtex_entry(paper, key=unique) + "\n")
    return "\n".join(entries)


def _suffixes() -> Iterator[str]:
    yield ""
    for number in count():
        yield (chr(ord("a") + number // 26 - 1) if number >= 26 else "") + chr(ord("a") + number % 26)


def bibtex_entry(paper: Paper, *, key: str | None = None) -> str:
    """The paper as an entry: @inproceedings where a venue is known, else @misc. Only known fields are written."""
    fields = {
        "title": f"{{{_escape(paper.label)}}}",
        "author": " and ".join(_escape(author) for author in paper.authors),
        "booktitle": _escape(paper.venue or ""),
        "year": str(paper.year) if paper.year is not None else "",
        "url": quote(paper.url or "", safe=_URL_SAFE, errors="replace"),
        "eprint": _escape(paper.arxiv_id or ""),
        "archiveprefix": "arXiv" if paper.arxiv_id else "",
    }
    kind = "inproceedings" if paper.venue else "misc"
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    return "\n".join([f"@{kind}{{{key or citation_key(paper)},", *lines, "}"])


def _escape(text: str) -> str:
    """`text` in one line with BibTeX's special characters escaped; LaTeX math between dollars stays where its braces
    match, so that no text can end its field."""
    parts = re.split(r"(\$[^$]+\$)", " ".join(text.split()))
    return "".join(
        part
        if index % 2 and _braces_match(part)
        else "".join(_ESCAPES.get(character, character) for character in part).replace("$", r"\$")
        for index, part in enumerate(parts)
    )


def _braces_match(text: str) -> bool:
    depth = 0
    for brace in re.findall(r"[{}]", text):
        depth += 1 if brace == "{" else -1
        if depth < 0:
            return False
    return depth == 0


def _ascii(text: str) -> str:
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
