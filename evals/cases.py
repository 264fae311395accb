"""Gold cases: JSONL, one question or conversation a line, with the facts, papers and quotes of a right answer."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rag.domain import Turn
from rag.errors import InputError


@dataclass(frozen=True, slots=True)
class Case:
    """One question to ask. `kind` is the file's type and kind ("single/method"), or the variant's name for a variant.

    `nuggets` are the facts of a right answer (see `evals.textmatch`), `papers` the ids of the papers that hold them.
    """

    case_id: str
    kind: str
    question: str
    history: tuple[Turn, ...]
    answerable: bool
    nuggets: tuple[Mapping[str, Any], ...]
    papers: frozenset[str]

    @property
    def group(self) -> str:
        """The kind without its second part: single, cross, unanswerable, follow-up, or the variant."""
        return self.kind.partition("/")[0]


def load_cases(path: Path) -> list[Case]:
    """All cases of a file: its questions, their variants, and the turns of its conversations behind the earlier ones.

    Raises InputError that names the line where one cannot be read.
    """
    cases: list[Case] = []
    for number, line in enumerate(path.read_text("utf-8").split("\n"), start=1):
        if not line.strip():
            continue
        try:
            cases.extend(_cases(json.loads(line)))
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(
                f"{path}:{number} is not a gold case: {error!r}.", fix="See the case format in the README."
            ) from error
    return cases


def _cases(item: Mapping[str, Any]) -> Iterator[Case]:
    if item["type"] == "followup":
        yield from _turns(item)
        return
    common: dict[str, Any] = {
        "history": (),
        "answerable": item["answerable"],
        "nuggets": tuple(item["nuggets"]),
        "papers": frozenset(item["papers"]),
    }
    yield Case(item["id"], f"{item['type']}/{item['kind']}", item["question"], **common)
    for name, question in item.get("variants", {}).items():
        yield Case(f"{item['id']}-{name}", f"variant-{name}", question, **common)


def _turns(item: Mapping[str, Any]) -> Iterator[Case]:
    history: list[Turn] = []
    for number, turn in enumerate(item["turns"], start=1):
        yield Case(
            case_id=f"{item['id']}-{number}",
            kind=f"followup/{'first' if number == 1 else 'later'}",
            question=turn["user"],
            history=tuple(history),
            answerable=turn["answerable"],
            nuggets=tuple(turn["nuggets"]),
            papers=frozenset(turn["papers"]),
        )
        history.append(Turn(turn["user"], turn["answer"]))
