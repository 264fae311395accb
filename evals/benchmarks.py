"""Test sets as files: benchmarks in BEIR's layout and gold questions, read as queries with the grades of papers."""

import gzip
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rag.domain import Paper
from rag.errors import InputError


@dataclass(frozen=True, slots=True)
class Query:
    """A question with the grades of the papers that answer it.

    `least` is the grade from which a paper counts for recall and MRR. `itself` is a paper that is not ranked, since the
    query is its text.
    """

    query_id: str
    group: str
    text: str
    gains: Mapping[str, int]
    least: int = 1
    itself: str | None = None


def read_queries(folder: Path) -> Iterator[Query]:
    """The queries of a benchmark that have a relevant document. A query's `paper_id` names the document it is."""
    gains: dict[str, dict[str, int]] = {}
    for number, line in enumerate(_lines(folder / "qrels.tsv"), start=1):
        fields = line.split("\t")
        if number == 1 or not line:
            continue
        if len(fields) != 3 or not fields[2].isdigit():
            raise InputError(f"{folder / 'qrels.tsv'}:{number} is not query, document, grade.", fix="Separate by tabs.")
        gains.setdefault(fields[0], {})[fields[1]] = int(fields[2])
    for record in _records(folder / "queries.jsonl", required=("_id", "text")):
        relevant = {document: grade for document, grade in gains.get(record["_id"], {}).items() if grade > 0}
        if relevant:
            yield Query(record["_id"], "", record["text"], relevant, itself=record.get("paper_id"))


def read_gold(path: Path) -> Iterator[Query]:
    """The answerable questions of a gold file, with their variants and the standalone form of follow-up turns."""
    for item in _records(path, required=("id", "type", "kind")):
        if item["type"] == "followup":
            for number, turn in enumerate(item["turns"], start=1):
                if turn["answerable"] and turn["papers"]:
                    yield _gold_query(f"{item['id']}-{number}", "followup", turn["standalone"], turn)
        elif item["answerable"]:
            group = item["kind"] if item["type"] == "cross" else item["type"]
            yield _gold_query(item["id"], group, item["question"], item)
            for variant, question in item.get("variants", {}).items():
                yield _gold_query(f"{item['id']}-{variant}", variant, question, item)


def _gold_query(query_id: str, group: str, text: str, source: Mapping[str, Any]) -> Query:
    gains = dict.fromkeys(source.get("papers_partial", ()), 1) | dict.fromkeys(source["papers"], 2)
    return Query(query_id, group, text, gains, least=2)


def read_benchmark_papers(path: Path) -> Iterator[Paper]:
    """The documents of a benchmark as papers."""
    for record in _records(path, required=("_id", "text")):
        yield Paper(record["_id"], record.get("title") or "", (), record["text"])


def _records(path: Path, *, required: Iterable[str]) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(_lines(path), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
            missing = [field for field in required if field not in record]
        except (ValueError, TypeError) as error:
            raise InputError(f"{path}:{number} is not a JSON object: {error}.", fix="Write one a line.") from error
        if missing:
            raise InputError(f"{path}:{number} has no {missing[0]!r}.", fix="See the README on benchmarks.")
        yield record


def _lines(path: Path) -> Iterator[str]:
    try:
        with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
            yield from (line.rstrip("\n") for line in file)
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}.", fix="Check the file.") from error


def digest(path: Path) -> str:
    """The first 12 hex digits of the SHA-256 of a file."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()[:12]
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.", fix="Give a folder with a corpus.") from error
