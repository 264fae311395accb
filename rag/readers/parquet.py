"""Reads Parquet: a record a row. Needs the extra `parquet`."""

import math
from collections.abc import Iterator, Mapping
from datetime import date, time
from decimal import Decimal
from typing import Any

from rag.errors import InputError
from rag.readers.columns import own_columns
from rag.readers.found import Found, ReadOptions
from rag.readers.source import MAX_FILE, MAX_RATIO, MAX_RECORD, Source
from rag.records import BadRecord

_ROWS = 16
"""Rows that are unpacked at a time: a few bytes of a file may stand for a long text in each."""
_GRACE = 1 << 20
"""Unpacked bytes of a column whose ratio does not count."""


def read_parquet(source: Source, options: ReadOptions) -> Iterator[Found]:
    """The fields of each row under its columns' names; numbers that are none, and nulls, are left out.

    Raises InputError where the file is broken, unpacks past the limits or has no abstracts, or pyarrow is missing.
    """
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise InputError(
            f"{source.name} is Parquet, and pyarrow is not installed.", fix='Run: pip install "citewise[parquet]"'
        ) from error
    with source.whole_file() as file:
        try:
            table = parquet.ParquetFile(file)
            _check_sizes(table.metadata, source.name)
            names = own_columns(table.schema_arrow.names, name=source.name, options=options)
            row = 0
            for batch in table.iter_batches(batch_size=_ROWS):
                columns = [batch.column(index) for index in range(batch.num_columns)]
                too_long = [column.nbytes > MAX_RECORD for column in columns]
                for index in range(batch.num_rows):
                    row += 1
                    yield _record(row, index, columns, names, suspects=too_long)
        except (pyarrow.ArrowException, OSError, ValueError) as error:
            reason = " ".join(str(error).split())[:200]
            raise InputError(
                f"{source.name} is not a Parquet file that can be read: {reason}.", fix="Write it anew."
            ) from error


def _record(row: int, index: int, columns: list[Any], names: list[str], *, suspects: list[bool]) -> Found:
    fields: dict[str, Any] = {}
    for name, column, suspect in zip(names, columns, suspects, strict=True):
        if suspect and column.slice(index, 1).nbytes > MAX_RECORD:
            return Found(row, None, BadRecord(name, f"longer than {MAX_RECORD:,} bytes"), str(fields)[:200])
        value = _plain(column[index].as_py())
        if value is not None:
            fields[name] = value
    return Found(row, fields)


def _plain(value: Any) -> Any:
    """`value` as JSON has it; what it has not stays as it is, and is rejected by name later."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return value


def _check_sizes(metadata: Any, name: str) -> None:
    """Raises InputError where the file says that it unpacks to more than is believed of text."""
    total = 0
    for group in range(metadata.num_row_groups):
        for index in range(metadata.num_columns):
            column = metadata.row_group(group).column(index)
            total += column.total_uncompressed_size
            if column.total_uncompressed_size > max(_GRACE, MAX_RATIO * column.total_compressed_size):
                raise InputError(
                    f"{name} is compressed more than {MAX_RATIO}:1, which no text is.", fix="Write it uncompressed."
                )
    if total > MAX_FILE:
        raise InputError(f"{name} holds more than {MAX_FILE:,} bytes.", fix="Split it and ingest the parts.")
