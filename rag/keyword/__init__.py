"""BM25 over papers: what a query's words, names and numbers say, next to what its vector says."""

from rag.keyword.analysis import analyze
from rag.keyword.index import KeywordHits, KeywordIndex

__all__ = ["KeywordHits", "KeywordIndex", "analyze"]
