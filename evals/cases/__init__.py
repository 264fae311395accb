"""Gold cases: the file format and its schema, how files are read and checked, and the questions that come of them."""

from evals.cases.case import Case, expand
from evals.cases.files import load_cases, load_items

__all__ = ["Case", "expand", "load_cases", "load_items"]
