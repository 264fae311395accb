"""Papers as BibTeX entries."""

import re
import unicodedata

from rag.domain import Paper

_ESCAPES = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "&": r"\&",
    "%": r"\%",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}


def citation_key(paper: Paper) -> str:
    """A key of the first author's last name, the year and the title's first long word: "wu2025cape"."""
    last = paper.authors[0].split()[-1] if paper.authors and paper.authors[0].split() else "anon"
    word = next((word for word in re.findall(r"[A-Za-z0-9]+", _ascii(paper.title)) if len(word) > 3), "")
    key = re.sub(r"[^a-z0-9]", "", _ascii(f"{last}{paper.year or ''}{word}").lower())
    return key or re.sub(r"[^A-Za-z0-9]", "", paper.paper_id) or "paper"


def bibtex_entry(paper: Paper) -> str:
    """The paper as an entry: @inproceedings where a venue is known, else @misc. Only known fields are written."""
    fields = {
        "title": f"{{{_escape(paper.label)}}}",
        "author": " and ".join(_escape(author) for author in paper.authors),
        "booktitle": _escape(paper.venue or ""),
        "year": str(paper.year) if paper.year is not None else "",
        "url": paper.url or "",
        "eprint": paper.arxiv_id or "",
        "archiveprefix": "arXiv" if paper.arxiv_id else "",
    }
    kind = "inproceedings" if paper.venue else "misc"
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    return "\n".join([f"@{kind}{{{citation_key(paper)},", *lines, "}"])


def _escape(text: str) -> str:
    """`text` with BibTeX's special characters escaped; LaTeX math between dollars stays as it is."""
    parts = re.split(r"(\$[^$]+\$)", text)
    return "".join(
        part if index % 2 else "".join(_ESCAPES.get(character, character) for character in part).replace("$", r"\$")
        for index, part in enumerate(parts)
    )


def _ascii(text: str) -> str:
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
