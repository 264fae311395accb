"""Merges incoming papers into the records of a corpus: what is new, what replaces what, what is there already."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from rag.domain import Paper
from rag.linking import (
    Duplicates,
    NearDuplicate,
    link_near_duplicates,
    linked_rows,
    links_of,
    text_digest,
    with_links,
)
from rag.record_file import RecordFile, RecordWriter
from rag.records import normal_form, to_line


class _Origin(NamedTuple):
    """Where the record of a final row stands: in the base file or among the incoming ones."""

    incoming: bool
    row: int


class _Incoming(NamedTuple):
    """The papers that came in: where the last record of each id stands, None where the base holds the same."""

    records: RecordFile
    latest: Mapping[str, int | None]
    known: int
    """Ids whose work the base holds under another id, with this very text."""
    duplicates: int


@dataclass(frozen=True, slots=True)
class Merge:
    """The records that the corpus will hold, and how the incoming ones fared.

    added + replaced + unchanged + duplicates is the number of incoming papers. `near_duplicates` are pairs that were
    found among them now; merged ones are part of `duplicates`, or of `replaced` where the newer record stays.
    """

    base: RecordFile
    incoming: RecordFile
    origins: Sequence[_Origin]
    links: Mapping[int, Mapping[str, str]]
    added: int
    replaced: int
    unchanged: int
    duplicates: int
    near_duplicates: tuple[NearDuplicate, ...] = ()

    def __len__(self) -> int:
        return len(self.origins)

    @property
    def incoming_papers(self) -> int:
        """How many papers came in."""
        return self.added + self.replaced + self.unchanged + self.duplicates

    @property
    def changes_anything(self) -> bool:
        """Whether the corpus will hold other records than before."""
        others = len(self.origins) != len(self.base) or bool(self.links)
        return others or any(origin.incoming for origin in self.origins)

    def lines(self) -> Iterator[bytes]:
        """The records, each with its line feed: the old ones in their order, then the new ones in theirs."""
        for place, (from_new, row) in enumerate(self.origins):
            records = self.incoming if from_new else self.base
            links = self.links.get(place)
            yield records.line(row) if links is None else to_line(with_links(records.paper(row), links))


def merge(
    base: RecordFile,
    papers: Iterable[Paper],
    *,
    base_ids: Sequence[str],
    staging: Path,
    duplicates: Duplicates = "merge",
) -> Merge:
    """Merges `papers` into `base`, whose ids are `base_ids`. Incoming records are kept in the file `staging`.

    Of several incoming papers of one id the last counts. A paper under an id that exists replaces it. Papers of the
    same title and abstract, or of the same abstract where one has no title, are one paper: the one with a title stays,
    else the first. `duplicates` says what becomes of the same work under several ids.
    """
    rows = {paper_id: row for row, paper_id in enumerate(base_ids)}
    come = _stage(base, papers, rows=rows, staging=staging, merges=duplicates == "merge")
    incoming = come.records
    changed = {paper_id: row for paper_id, row in come.latest.items() if row is not None}
    origins = [
        _Origin(True, changed[paper_id]) if paper_id in changed else _Origin(False, row)
        for paper_id, row in rows.items()
    ]
    origins += [_Origin(True, row) for paper_id, row in changed.items() if paper_id not in rows]
    kept, displacing = _merge_same(base, incoming, origins) if changed else (origins, frozenset[int]())

    def paper(place: int) -> Paper:
        from_new, row = kept[place]
        return (incoming if from_new else base).paper(row)

    linked = link_near_duplicates(len(kept), paper, is_new=[origin.incoming for origin in kept], duplicates=duplicates)
    stay = [kept[place] for place in linked.places]
    links = {new: linked.links[old] for new, old in enumerate(linked.places) if old in linked.links}
    taken = [(place, origin.row) for place, origin in enumerate(stay) if origin.incoming]
    replaced = sum(
        row in displacing or incoming.paper(row).paper_id in rows or bool(rows.keys() & links.get(place, {}).keys())
        for place, row in taken
    )
    return Merge(
        base=base,
        incoming=incoming,
        origins=stay,
        links=links,
        added=len(taken) - replaced,
        replaced=replaced,
        unchanged=len(come.latest) - len(changed),
        duplicates=come.duplicates + come.known + len(changed) - len(taken),
        near_duplicates=linked.found,
    )


def _stage(
    base: RecordFile, papers: Iterable[Paper], *, rows: Mapping[str, int], staging: Path, merges: bool
) -> _Incoming:
    """Writes the papers that the base does not hold to `staging`. Links of records whose text is the same are kept."""
    linked = linked_rows(base)
    aliases = {alias: (row, digest) for row, links in linked.items() for alias, digest in links.items()}
    latest: dict[str, int | None] = {}
    known: dict[str, int] = {}  # id -> base row of the same work
    other_text: set[int] = set()
    duplicates = 0
    with staging.open("wb") as file:
        writer = RecordWriter(file)
        for paper in papers:
            row = rows.get(paper.paper_id)
            if row is not None and row in linked:
                same_text = text_digest(base.paper(row)) == text_digest(paper)
                (other_text.discard if same_text else other_text.add)(row)
                paper = with_links(paper, linked[row] | links_of(paper)) if same_text else paper
            line = to_line(paper)
            duplicates += paper.paper_id in latest
            is_held = row is not None and base.line(row) == line
            latest[paper.paper_id] = None if is_held else writer.append(line)
            known.pop(paper.paper_id, None)
            alias = aliases.get(paper.paper_id) if merges and row is None else None
            if alias is not None and alias[1] == text_digest(paper):
                known[paper.paper_id] = alias[0]
    again = {paper_id for paper_id, row in known.items() if row not in other_text}
    left = {paper_id: row for paper_id, row in latest.items() if paper_id not in again}
    return _Incoming(RecordFile(staging, offsets=writer.offsets()), left, len(again), duplicates)


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
