"""Links records of one work: which of them stays, and under which other ids it is known.

A record that stays keeps, in its metadata, the ids of those that it stands for, each with a digest of their text. So
the same record is known when it comes again, and compared anew when its text has changed.
"""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

from rag.domain import Paper
from rag.near_duplicates import find_matches
from rag.record_file import RecordFile
from rag.records import normal_form

SAME_AS = "citewise_same_as"
"""The field of a record's metadata: ids with digests."""
Duplicates = Literal["merge", "keep", "report"]
"""What becomes of near-duplicates: one record stays; they are not looked for; all stay and the pairs are told."""


class NearDuplicate(NamedTuple):
    """A record, `other`, that is the same work as `kept`. `similarity` is that of the abstracts, 0..1."""

    kept: str
    other: Paper
    similarity: float


class Linked(NamedTuple):
    """Places of papers that stay, in order; the links that those of them have now which had others; what was found."""

    places: list[int]
    links: dict[int, dict[str, str]]
    found: tuple[NearDuplicate, ...]


def links_of(paper: Paper) -> dict[str, str]:
    """The ids that a record stands for beside its own, with the digests of their texts."""
    links = paper.metadata.get(SAME_AS)
    if not isinstance(links, Mapping) or not all(isinstance(item, str) for pair in links.items() for item in pair):
        return {}
    return dict(links)


def with_links(paper: Paper, links: Mapping[str, str]) -> Paper:
    """`paper` with `links` in its metadata."""
    return replace(paper, metadata={**paper.metadata, SAME_AS: dict(sorted(links.items()))})


def text_digest(paper: Paper) -> str:
    """Equal for papers of the same title and abstract, whatever their case and white space."""
    content = f"{normal_form(paper.title)}\n{normal_form(paper.abstract)}"
    return hashlib.blake2b(content.encode(), digest_size=10).hexdigest()


def linked_rows(records: RecordFile) -> dict[int, dict[str, str]]:
    """The links of those records that have some."""
    mark = f'"{SAME_AS}"'.encode()
    rows = (row for row in range(len(records)) if mark in records.line(row))
    return {row: links for row in rows if (links := links_of(records.paper(row)))}


def link_near_duplicates(
    count: int, paper: Callable[[int], Paper], *, is_new: Sequence[bool], duplicates: Duplicates
) -> Linked:
    """Finds the near-duplicates among papers 0 to `count` - 1; only with "merge" do fewer stay than come.

    Of one work the first record that names a venue stays, else the first of all.
    """
    if duplicates == "keep" or not any(is_new):
        return Linked(list(range(count)), {}, ())
    works: dict[int, list[tuple[int, float]]] = defaultdict(list)
    for match in find_matches(count, paper, is_new=is_new):
        works[match.first].append((match.other, match.similarity))
    found: list[NearDuplicate] = []
    gone: set[int] = set()
    links: dict[int, dict[str, str]] = {}
    for first, others in works.items():
        members = [(first, others[0][1]), *others]
        kept = next((place for place, _ in members if paper(place).venue), first)
        merged = [(paper(place), similarity) for place, similarity in members if place != kept]
        found += [NearDuplicate(paper(kept).paper_id, other, similarity) for other, similarity in merged]
        if duplicates == "merge":
            gone |= {place for place, _ in members if place != kept}
            links[kept] = links_of(paper(kept))
            for other, _ in merged:
                links[kept] |= links_of(other) | {other.paper_id: text_digest(other)}
    return Linked([place for place in range(count) if place not in gone], links, tuple(found))
