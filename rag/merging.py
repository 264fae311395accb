"""Merges incoming papers into the records of a corpus: what is new, what replaces what, what is there already."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from rag.domain import Paper
from rag.record_file import RecordFile, RecordWriter
from rag.records import normal_form, to_line


class _Origin(NamedTuple):
    """Where the record of a final row stands: in the base file or among the incoming ones."""

    incoming: bool
    row: int


@dataclass(frozen=True, slots=True)
class Merge:
    """The records that the corpus will hold, and how the incoming ones fared.

    added + replaced + unchanged + duplicates is the number of incoming papers.
    """

    base: RecordFile
    incoming: RecordFile
    origins: Sequence[_Origin]
    added: int
    replaced: int
    unchanged: int
    duplicates: int

    def __len__(self) -> int:
        return len(self.origins)

    @property
    def incoming_papers(self) -> int:
        """How many papers came in."""
        return self.added + self.replaced + self.unchanged + self.duplicates

    @property
    def changes_anything(self) -> bool:
        """Whether the corpus will hold other records than before."""
        return len(self.origins) != len(self.base) or any(origin.incoming for origin in self.origins)

    def lines(self) -> Iterator[bytes]:
        """The records, each with its line feed: the old ones in their order, then the new ones in theirs."""
        return ((self.incoming if from_new else self.base).line(row) for from_new, row in self.origins)


def merge(base: RecordFile, papers: Iterable[Paper], *, base_ids: Sequence[str], staging: Path) -> Merge:
    """Merges `papers` into `base`, whose ids are `base_ids`. Incoming records are kept in the file `staging`.

    Of several incoming papers of one id the last counts. A paper under an id that exists replaces it. Papers of the
    same title and abstract, or of the same abstract where one has no title, are one paper: the one with a title stays,
    else the first.
    """
    rows = {paper_id: row for row, paper_id in enumerate(base_ids)}
    latest: dict[str, int | None] = {}  # id -> incoming row, None where it equals what the base holds
    duplicates = 0
    with staging.open("wb") as file:
        writer = RecordWriter(file)
        for paper in papers:
            line, row = to_line(paper), rows.get(paper.paper_id)
            duplicates += paper.paper_id in latest
            known = row is not None and base.line(row) == line
            latest[paper.paper_id] = None if known else writer.append(line)
    incoming = RecordFile(staging, offsets=writer.offsets())
    changed = {paper_id: row for paper_id, row in latest.items() if row is not None}
    origins = [
        _Origin(True, changed[paper_id]) if paper_id in changed else _Origin(False, row)
        for paper_id, row in rows.items()
    ]
    origins += [_Origin(True, row) for paper_id, row in changed.items() if paper_id not in rows]
    kept, displacing = _merge_same(base, incoming, origins) if changed else (origins, frozenset[int]())
    taken = [origin.row for origin in kept if origin.incoming]
    replaced = sum(row in displacing or incoming.paper(row).paper_id in rows for row in taken)
    return Merge(
        base=base,
        incoming=incoming,
        origins=kept,
        added=len(taken) - replaced,
        replaced=replaced,
        unchanged=len(latest) - len(changed),
        duplicates=duplicates + len(changed) - len(taken),
    )


def _merge_same(
    base: RecordFile, incoming: RecordFile, origins: Sequence[_Origin]
) -> tuple[list[_Origin], frozenset[int]]:
    """`origins` with one of each set of papers that are the same, and the incoming rows that displaced a base paper."""
    groups: dict[bytes, dict[bytes, int]] = {}  # abstract -> title -> place of the first
    for place, (from_new, row) in enumerate(origins):
        paper = (incoming if from_new else base).paper(row)
        groups.setdefault(_digest(paper.abstract), {}).setdefault(_digest(paper.title), place)
    displacing = set()
    for titles in groups.values():
        if len(titles) > 1 and (untitled := titles.pop(_digest(""), None)) is not None:
            heir = origins[min(titles.values())]
            if heir.incoming and not origins[untitled].incoming:
                displacing.add(heir.row)
    places = sorted(place for titles in groups.values() for place in titles.values())
    return [origins[place] for place in places], frozenset(displacing)


def _digest(text: str) -> bytes:
    return hashlib.blake2b(normal_form(text).encode(), digest_size=16).digest()
