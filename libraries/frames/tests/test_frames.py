"""Data frames and Parquet files hold what the records hold, with types and without invented numbers."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest

from skillgauge_frames import schema_of
from skillgauge_run_tables import ROWS, Records, runs
from skillgauge_testkit import contract_views

VIEWS = [view for _, view in contract_views()]
_DTYPES = {str: "string", int: "Int64", float: "Float64", bool: "boolean", datetime: "datetime64[us, UTC]"}


def records(kind: str, view: Any) -> Records:
    """The records of a kind of one run."""
    found = runs(view)
    return found if kind == "runs" else getattr(found, kind)()


@pytest.mark.parametrize("kind", ROWS)
def test_a_frame_is_typed_and_complete(kind: str) -> None:
    """Every column has its type in every run, also where nothing of it is known, and every value is there."""
    for view in VIEWS:
        found = records(kind, view)
        frame = found.to_pandas()
        assert {name: str(dtype) for name, dtype in frame.dtypes.items()} == {
            column.name: _DTYPES[column.type] for column in found.columns
        }
        rows = list(found)
        assert len(frame) == len(rows)
        for row, (_, line) in zip(rows, frame.iterrows(), strict=True):
            for name, value in row.items():
                assert pd.isna(line[name]) if value is None else line[name] == value


@pytest.mark.parametrize("kind", ROWS)
def test_a_file_keeps_records_as_they_are(kind: str, tmp_path: Path) -> None:
    """A Parquet file gives back each record, and each field tells its meaning and its unit."""
    for view in VIEWS:
        found = records(kind, view)
        path = found.to_parquet(tmp_path / "records.parquet")
        assert pq.read_table(path).to_pylist() == list(found)
        stored = pq.read_schema(path)
        assert stored.equals(schema_of(found))
        for column in found.columns:
            metadata = stored.field(column.name).metadata
            assert (metadata[b"meaning"].decode(), metadata[b"unit"].decode()) == (column.meaning, column.unit)
    assert [file.name for file in tmp_path.iterdir()] == ["records.parquet"]


def test_a_failed_file_leaves_the_old_one(tmp_path: Path) -> None:
    """A source that breaks off leaves neither half a file nor a changed one."""
    path = tmp_path / "trials.parquet"
    path.write_bytes(b"old")

    def broken() -> Any:
        yield from runs(VIEWS[0]).read()
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        Records("trials", broken).to_parquet(path)
    assert path.read_bytes() == b"old"
    assert len(list(tmp_path.iterdir())) == 1
