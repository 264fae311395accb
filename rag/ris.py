"""Papers as RIS records, which Zotero, EndNote and Mendeley read."""

from collections.abc import Iterable

from rag.domain import Paper


def ris_records(papers: Iterable[Paper]) -> str:
    """The papers as records, the abstract included; only known fields are written, each in one line."""
    return "\n".join("".join(f"{tag}  - {value}\n" for tag, value in _fields(paper)) for paper in papers)


def _fields(paper: Paper) -> list[tuple[str, str]]:
    arxiv = f"https://arxiv.org/abs/{paper.arxiv_id}" if paper.arxiv_id else ""
    fields = [
        ("TY", "CONF" if paper.venue else "GEN"),
        ("TI", paper.label),
        *(("AU", author) for author in paper.authors),
        ("T2", paper.venue or ""),
        ("PY", str(paper.year) if paper.year is not None else ""),
        ("AB", paper.abstract),
        ("UR", paper.url or arxiv),
        ("ID", paper.paper_id),
        *(("KW", category) for category in paper.categories),
    ]
    # One line each, without control characters: no value can begin a field of its own.
    flat = [(tag, " ".join("".join(c if c.isprintable() else " " for c in text).split())) for tag, text in fields]
    return [(tag, text) for tag, text in flat if text] + [("ER", "")]
