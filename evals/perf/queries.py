"""What is asked in a measurement: lines of a file, or titles and first sentences of the corpus's own papers."""

import json
from pathlib import Path

import numpy as np

from rag.corpus import Corpus
from rag.errors import InputError
from rag.sentences import split_sentences

_SEED = 0
_FIELDS = ("question", "text")
_WORDS = 40
"""A query from an abstract has at most so many words: no question is longer."""


def derive_queries(corpus: Corpus, *, limit: int) -> list[str]:
    """Up to `limit` queries, each from another paper, the same at each call: titles and first sentences in turns."""
    count = min(limit, len(corpus))
    rows = np.random.default_rng(_SEED).choice(len(corpus), size=count, replace=False).tolist()
    queries = []
    for number, row in enumerate(rows):
        paper = corpus.paper(row)
        first = next((paper.abstract[start:end] for start, end in split_sentences(paper.abstract)), paper.abstract)
        text = paper.title if number % 2 == 0 and paper.title else first
        queries.append(" ".join(text.split()[:_WORDS]))
    return queries


def read_query_file(path: Path, *, limit: int) -> list[str]:
    """Up to `limit` queries of `path`, one a line: plain text, or JSON with `question` (gold cases) or `text` (BEIR).

    Records without either are passed over. Raises InputError where the file cannot be read or holds no query.
    """
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}.", fix="Give a file of queries, one a line.") from error
    queries = [query for number, line in enumerate(lines, start=1) if (query := _query(line, f"{path}:{number}"))]
    if not queries:
        raise InputError(f"{path} holds no query.", fix="Write one a line, or JSON with question or text.")
    return queries[:limit]


def _query(line: str, place: str) -> str:
    if not line.lstrip().startswith("{"):
        return line.strip()
    try:
        record = json.loads(line)
    except ValueError as error:
        raise InputError(f"{place} is broken JSON: {error}.", fix="Correct it, or write plain text.") from error
    return next((record[field] for field in _FIELDS if isinstance(record.get(field), str)), "")
