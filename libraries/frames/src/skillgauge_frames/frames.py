"""Records as data frames and Parquet files. The types of the columns are those that the records declare.

Whole numbers and truth values with gaps stay what they are, and moments keep their zone: what is unknown is missing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa  # type: ignore[import-untyped]  # it brings no types
import pyarrow.parquet as pq  # type: ignore[import-untyped]  # as above

from skillgauge_run_tables import Records

_BATCH = 10_000
"""Records that are in memory while a file is written."""
_ARROW: Mapping[type, pa.DataType] = {
    str: pa.string(),
    int: pa.int64(),
    float: pa.float64(),
    bool: pa.bool_(),
    datetime: pa.timestamp("us", tz="UTC"),
}
_PANDAS: Mapping[type, str] = {
    str: "string",
    int: "Int64",
    float: "Float64",
    bool: "boolean",
    datetime: "datetime64[us, UTC]",
}


def schema_of(records: Records) -> pa.Schema:
    """Return the Arrow schema of records; the metadata of each field has its meaning and its unit."""
    fields = [
        pa.field(
            column.name,
            _ARROW[column.type],
            nullable=column.can_be_none,
            metadata={"meaning": column.meaning, "unit": column.unit},
        )
        for column in records.columns
    ]
    return pa.schema(fields, metadata={"skillgauge": records.kind})


def to_pandas(records: Records) -> pd.DataFrame:
    """Return records as a data frame, one column for each of theirs, with types that know what is missing."""
    names = [column.name for column in records.columns]
    frame = pd.DataFrame.from_records(list(records), columns=names)
    return frame.astype({column.name: _PANDAS[column.type] for column in records.columns})


def to_parquet(records: Records, path: str | os.PathLike[str]) -> Path:
    """Write records to a Parquet file, which takes the place of one of that name once it is complete.

    Args:
        records: any number of them; they are written as they are read.
        path: the file.
    """
    target = Path(path)
    temporary = target.with_name(f".{target.name}.part")
    schema = schema_of(records)
    try:
        with pq.ParquetWriter(temporary, schema, compression="zstd") as writer:
            for batch in _batches(iter(records)):
                writer.write_table(pa.Table.from_pylist(batch, schema=schema))
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
    return target


def _batches(rows: Iterator[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    while batch := list(islice(rows, _BATCH)):
        yield batch
