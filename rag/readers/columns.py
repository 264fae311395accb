"""The columns of a table: which field of a record each is."""

from collections.abc import Sequence

from rag.errors import InputError
from rag.readers.found import ReadOptions
from rag.records import KNOWN_FIELDS


def own_columns(header: Sequence[str], *, name: str, options: ReadOptions) -> list[str]:
    """The columns' names, with those of fields in lower case (`Title` is `title`) unless `--map` names them otherwise.

    Raises InputError where a column is given twice, one that is mapped is missing, or none holds abstracts.
    """
    mapped = set(options.mapping.values())
    names = [_own(column, mapped) for column in header]
    twice = next((column for column in names if column and names.count(column) > 1), None)
    if twice is not None:
        raise InputError(f"{name} has two columns {twice!r}.", fix="Rename one of them.")
    told = ", ".join(column for column in header if column)[:300]
    missing = next((column for column in mapped if column.split(".")[0] not in names), None)
    if missing is not None:
        raise InputError(f"{name} has no column {missing!r}; it has: {told}.", fix="Correct --map.")
    if "abstract" not in names and "abstract" not in options.mapping and "abstract_inverted_index" not in names:
        raise InputError(
            f"{name} has no column abstract; it has: {told}.",
            fix="Say which column holds the abstracts: --map abstract=COLUMN.",
        )
    return names


def _own(column: str, mapped: set[str]) -> str:
    lower = column.lower().replace(" ", "_")
    return lower if lower in KNOWN_FIELDS and column not in mapped else column
