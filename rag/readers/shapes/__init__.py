"""Records of other sources as records of citewise: one module a source, told by the fields that only it has."""

from collections.abc import Callable, Mapping
from typing import Any

from rag.readers.shapes.arxiv import arxiv_record
from rag.readers.shapes.openalex import openalex_record
from rag.readers.shapes.openreview import openreview_record
from rag.readers.shapes.paperlists import paperlists_record
from rag.readers.shapes.semantic_scholar import semantic_scholar_record

_SHAPES: tuple[Callable[[Mapping[str, Any]], dict[str, Any] | None], ...] = (
    openreview_record,
    openalex_record,
    semantic_scholar_record,
    paperlists_record,
    arxiv_record,
)


def own_record(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """`fields` with the names that citewise knows, where they are a record of a source that it knows.

    What has no place of its own keeps its name. Raises BadRecord where a record of a known source cannot be used: it is
    withdrawn, or its abstract cannot be put together.
    """
    return next((own for shape in _SHAPES if (own := shape(fields)) is not None), fields)
