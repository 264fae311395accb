"""The papers of a volume of the Proceedings of Machine Learning Research, by its bibliography, which has abstracts."""

import re
from collections.abc import Iterator

from rag.errors import FetchError
from rag.fetching.web import Web
from rag.readers.bibtex import read_bibtex
from rag.readers.found import Found
from rag.readers.source import open_source

_VOLUME = re.compile(r"(?:v|r)\d{1,4}")


def volume_papers(web: Web, base_url: str, volume: str) -> Iterator[Found]:
    """The entries of a volume, as `v267`. Raises FetchError where there is no such volume."""
    if not _VOLUME.fullmatch(volume):
        raise FetchError(f"{volume!r} is no volume of PMLR.", fix="Give it as pmlr:v267.")
    path = web.get(f"{base_url.rstrip('/')}/{volume}/bibliography.bib")
    with open_source(path) as source:
        yield from read_bibtex(source)
