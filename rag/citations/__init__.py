"""Reads the citations out of a model's text while it streams: text, `Cite` for given sources, `Removed` for others."""

from collections.abc import Iterable, Iterator

from rag.citations.reference_list import drop_reference_list
from rag.citations.scanner import find_markers
from rag.citations.spacing import tidy
from rag.domain import Cite, Removed


def parse_citations(deltas: Iterable[str], *, sources: int) -> Iterator[str | Cite | Removed]:
    """The pieces of a model's text that was given the sources 1..`sources`, each as soon as it is certain.

    The text holds no marker any more, nor the white space, brackets and commas that only served one. Code, math, quoted
    text, array indices and intervals pass verbatim; a Markdown link leaves its label; an appended reference list is
    dropped. How the text is cut into `deltas` changes only how it is cut into strings here. What is held back is what
    may yet become a marker: some 40 characters at most. An empty delta gives "".
    """
    return tidy(find_markers(drop_reference_list(deltas), sources=sources))
