"""Where a paper's links lead: https addresses that name a host, and nothing else."""

from urllib.parse import urlsplit

from rag.domain import Paper

_HOSTS = {"openreview.net": "OpenReview", "proceedings.mlr.press": "PMLR", "arxiv.org": "arXiv", "doi.org": "DOI"}


def web_url(url: object) -> str | None:
    """`url` if it is an https address that names a host, else None: nothing else becomes a link."""
    if not isinstance(url, str) or any(char.isspace() or ord(char) < 32 or char in "<>\"'`\\{}" for char in url):
        return None
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    return url if parts.scheme == "https" and parts.hostname else None


def paper_urls(paper: Paper) -> dict[str, str]:
    """The addresses of a paper, each with what to call it."""
    arxiv = f"https://arxiv.org/abs/{paper.arxiv_id}" if paper.arxiv_id else None
    urls = [web_url(url) for url in (paper.url, paper.metadata.get("pmlr_url"), arxiv)]
    return {url: _HOSTS.get(urlsplit(url).hostname or "", urlsplit(url).hostname or "") for url in urls if url}
