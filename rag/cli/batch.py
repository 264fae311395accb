"""`citewise ask --json -`: one question a line in, one JSON object a line out; models and indexes load once."""

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, ValidationError

from rag.answer_json import answer_to_dict, dump
from rag.cli.screen import EXIT_FAILED, progress_bar
from rag.domain import Turn
from rag.errors import CitewiseError
from rag.filter_json import FiltersJson
from rag.filters import Filters

if TYPE_CHECKING:
    from rag.assistant import Assistant
    from rag.settings import Settings


class HistoryTurn(BaseModel):
    """An earlier turn of the conversation."""

    model_config = ConfigDict(extra="ignore")

    question: str
    answer: str


class BatchQuestion(BaseModel):
    """A line of input: a question, and what goes with it."""

    model_config = ConfigDict(extra="forbid")

    question: str
    id: str | int | None = None
    history: list[HistoryTurn] = []
    corpus: str | None = None
    filters: FiltersJson | None = None


def answer_lines(lines: Iterable[str], *, settings: "Settings", filters: Filters | None = None) -> int:
    """Answers each line in order and prints its object at once; returns the exit code: 1 if any line failed.

    `filters` are for the lines that have none of their own; an empty object searches all papers.
    """
    assistants: dict[str, Assistant] = {}
    failed = False
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        result = _answer_line(line, number, settings=settings, assistants=assistants, filters=filters)
        failed |= result["outcome"] == "failed"
        print(dump(result), flush=True)
    return EXIT_FAILED if failed else 0


def _answer_line(
    line: str,
    number: int,
    *,
    settings: "Settings",
    assistants: dict[str, "Assistant"],
    filters: Filters | None,
) -> Mapping[str, Any]:
    asked = _parse_line(line)
    if isinstance(asked, str):
        return _failure(line.strip(), None, f"Line {number} is not a question: {asked}.", "Mend or drop the line.")
    question_id = None if asked.id is None else str(asked.id)
    try:
        name = asked.corpus or settings.corpus
        if name not in assistants:
            assistants[name] = _open(name, settings=settings)
        history = [Turn(turn.question, turn.answer) for turn in asked.history]
        chosen = filters if asked.filters is None else asked.filters.read()
        answer = assistants[name].ask(asked.question, history=history, filters=chosen)
    except CitewiseError as error:
        return _failure(asked.question, question_id, error.problem, error.fix)
    return answer_to_dict(answer, question_id=question_id)


def _parse_line(line: str) -> BatchQuestion | str:
    """The question of a line, or what is wrong with it."""
    if not line.lstrip().startswith("{"):
        return BatchQuestion(question=line.strip())
    try:
        return BatchQuestion.model_validate(json.loads(line))
    except ValidationError as error:
        first = error.errors()[0]
        return f"field {'.'.join(map(str, first['loc'])) or 'question'}: {first['msg']}"
    except (ValueError, RecursionError) as error:
        return f"broken JSON ({error})"


def _open(name: str, *, settings: "Settings") -> "Assistant":
    from rag.assistant import Assistant
    from rag.settings import load_settings

    given = {field: getattr(settings, field) for field in settings.model_fields_set}
    with progress_bar() as on_progress:
        return Assistant.from_settings(load_settings(**(given | {"corpus": name})), on_progress=on_progress)


def _failure(question: str, question_id: str | None, problem: str, fix: str) -> dict[str, Any]:
    value: dict[str, Any] = {} if question_id is None else {"id": question_id}
    return value | {"question": question, "outcome": "failed", "error": {"problem": problem, "fix": fix}}
