"""What programs may call, with the same names and arguments in Gradio's API and over MCP: `ask` and `search`."""

from collections.abc import Callable
from functools import wraps
from inspect import signature as signature_of
from typing import Any, NamedTuple, ParamSpec, TypeVar

from pydantic import ValidationError, validate_call

from rag.answer_json import answer_to_dict, scored_paper_to_dict
from rag.assistant import MAX_QUESTION_CHARS, Assistant
from rag.domain import Turn
from rag.errors import CitewiseError, InputError
from rag.filter_json import FiltersJson
from rag.filters import Filters
from ui.render import MAX_TURNS

MAX_PAPERS = 50
"""Most papers that one search gives."""

P = ParamSpec("P")
T = TypeVar("T")


class Functions(NamedTuple):
    """The public functions. Each raises CitewiseError for arguments that it cannot use."""

    ask: Callable[..., dict[str, Any]]
    search: Callable[..., dict[str, Any]]


def public_functions(assistant: Assistant) -> Functions:
    """The functions on the corpus as it is when they are called."""

    def ask(
        question: str,
        history: list[dict[str, str]] | None = None,
        year: str | None = None,
        author: list[str] | None = None,
        venue: list[str] | None = None,
        category: list[str] | None = None,
        title: list[str] | None = None,
        ids: list[str] | None = None,
    ) -> dict[str, Any]:
        """Answers a question about the paper abstracts; every sentence cites the abstract sentence that supports it.

        The question has at most 4,000 characters. `history` are the earlier turns, each with `question` and `answer`.
        Only papers that pass are read: of a `year` (2024, 2024..2025), by an `author`, in a `venue`, of a `category`,
        with `title` words, with `ids`. `outcome` is answered, not_in_corpus, needs_detail (with `options`) or failed;
        `sentences` say how well each is supported, `citations` hold the numbered papers with their evidence. The same
        object as `citewise ask --json`.
        """
        filters = _filters(year, author, venue, category, title, ids)
        turns = [Turn(_capped(turn.get("question")), _capped(turn.get("answer"))) for turn in history or []]
        assistant.refresh()
        return answer_to_dict(assistant.ask(question, history=turns[-MAX_TURNS:], filters=filters))

    def search(
        query: str,
        k: int = 8,
        year: str | None = None,
        author: list[str] | None = None,
        venue: list[str] | None = None,
        category: list[str] | None = None,
        title: list[str] | None = None,
        ids: list[str] | None = None,
    ) -> dict[str, Any]:
        """Finds the `k` (at most 50) papers whose titles and abstracts fit a query best, best first.

        The filters are those of `ask`. `papers` are as `citewise search --json` gives them, abstracts included; `note`
        says which papers were searched where these are not all.
        """
        if not 1 <= k <= MAX_PAPERS:
            raise InputError(f"k is {k}.", fix=f"Give a number from 1 to {MAX_PAPERS}.")
        filters = _filters(year, author, venue, category, title, ids)
        assistant.refresh()
        found = assistant.search(query, k=k, filters=filters)
        note = assistant.scope(query, filters=filters).note
        return {"papers": [scored_paper_to_dict(paper) for paper in found], "note": note}

    return Functions(ask, search)


def translated(function: Callable[P, T], *, into: Callable[[str], Exception]) -> Callable[P, T]:
    """`function` with its arguments checked and its errors as those that `into` makes of their text."""
    checked, signature = validate_call(function), signature_of(function)

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            # By name, so that an error names its argument.
            return checked(**signature.bind(*args, **kwargs).arguments)  # type: ignore[call-arg]
        except ValidationError as error:
            raise into(_told(error)) from error
        except CitewiseError as error:
            raise into(str(error)) from error

    return call


def _filters(
    year: str | None,
    author: list[str] | None,
    venue: list[str] | None,
    category: list[str] | None,
    title: list[str] | None,
    ids: list[str] | None,
) -> Filters | None:
    """The filters, None where none is given: then the question's own words may name some."""
    filters = FiltersJson(
        year=year or None,
        author=author or [],
        venue=venue or [],
        category=category or [],
        title=title or [],
        id=ids or [],
    ).read()
    return None if filters.is_empty else filters


def _told(error: ValidationError) -> str:
    first = error.errors()[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}."


def _capped(text: object) -> str:
    return str(text or "")[:MAX_QUESTION_CHARS]
