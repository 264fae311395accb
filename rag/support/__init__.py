"""Does the cited abstract say it? Each sentence of an answer is checked by its words, names, numbers and directions."""

from rag.support.check import Verdict, best_citations, check_support

__all__ = ["Verdict", "best_citations", "check_support"]
