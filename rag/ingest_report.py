"""What an ingest tells: counts, and the records that were rejected, repaired or merged, written down as they come."""

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from rag.domain import Paper
from rag.errors import InputError
from rag.linking import Duplicates, NearDuplicate
from rag.records import Reject, Repair, record_of

TOLD = 1_000
"""Rejects and repairs that a report holds; all rejects are in its file."""


@dataclass(frozen=True, slots=True)
class IngestReport:
    """How the records of an ingest fared, and what the corpus holds now.

    added + replaced + unchanged + duplicates + rejected is the number of records that were read. `rejects` and
    `repairs`, changes to the text of records that were taken, are the first thousand; `repaired` counts all, by name.
    `near_duplicates` were found in this ingest: pairs of records that are one work.
    """

    added: int
    replaced: int
    unchanged: int
    duplicates: int
    rejected: int
    rejects: tuple[Reject, ...]
    repairs: tuple[Repair, ...]
    repaired: Mapping[str, int]
    near_duplicates: tuple[NearDuplicate, ...]
    rejects_file: Path
    total: int
    generation: int


class Log:
    """Takes the rejects and repairs of an ingest: writes each reject to a file, keeps the first, counts all."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rejects: list[Reject] = []
        self.rejected = 0
        self.repairs: list[Repair] = []
        self.repaired: Counter[str] = Counter()
        self._temporary = path.with_name(f"{path.name}.new")
        self._temporary.unlink(missing_ok=True)

    def papers(self, items: Iterable[Paper | Reject]) -> Iterator[Paper]:
        """The papers of `items`; the rest is written down. The file is in place when they end."""
        with self._temporary.open("wb") as file:
            for item in items:
                if not isinstance(item, Reject):
                    yield item
                    continue
                self.rejected += 1
                if len(self.rejects) < TOLD:
                    self.rejects.append(item)
                line = json.dumps(asdict(item), ensure_ascii=False) + "\n"
                file.write(line.encode("utf-8", "replace"))
        os.replace(self._temporary, self.path)

    def on_repair(self, repair: Repair) -> None:
        """Takes one repair."""
        self.repaired[repair.what] += 1
        if len(self.repairs) < TOLD:
            self.repairs.append(repair)


def write_near_duplicates(path: Path, found: Iterable[NearDuplicate], *, duplicates: Duplicates) -> None:
    """Adds the pairs to `path`, a JSON object a line: the id that stays and the whole record of the other one."""
    with path.open("ab") as file:
        for pair in found:
            told = {
                "kept": pair.kept,
                "similarity": round(pair.similarity, 3),
                "merged": duplicates == "merge",
                "record": record_of(pair.other),
            }
            file.write(json.dumps(told, ensure_ascii=False).encode() + b"\n")


class NothingToIndex(InputError):
    """There is no record in what was given, or none that can be taken."""


def nothing_taken(log: Log) -> NothingToIndex:
    """The error of an ingest that took no record."""
    if not log.rejects:
        return NothingToIndex("There is nothing to index in what was given.", fix="Give a file that holds abstracts.")
    first = log.rejects[0]
    place = f"{first.file}:{first.line}" if first.file else f"number {first.line}"
    field = f" {first.field}:" if first.field else ""
    return NothingToIndex(
        f"None of the {log.rejected:,} records could be taken; the first ({place}):{field} {first.reason}.",
        fix=f"Correct them (all are named in {log.path}); the corpus is as it was.",
    )
