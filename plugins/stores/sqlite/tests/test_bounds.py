"""A small file does not take the memory of the machine: every record is read within a bound."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import zlib
from pathlib import Path
from types import ModuleType

import pytest

from skillgauge.api import Execution, StoreError
from skillgauge_stored_runs import records

READ = """
import resource, sys
from pathlib import Path
from skillgauge.api import ResultOrder, RunQuery, StoreError
from skillgauge_store_sqlite.options import SqliteOptions
from skillgauge_store_sqlite.store import SqliteStore

(view,) = SqliteStore(SqliteOptions(location=sys.argv[1])).scan(RunQuery())
pages = int(Path("/proc/self/statm").read_text().split()[0])
limit = pages * resource.getpagesize() + int(sys.argv[2]) * 2**20
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
for read in (view.results, lambda: view.source.results(ResultOrder.CASE), view.cases):
    try:
        print(sum(1 for _ in read()))
    except StoreError as error:
        print(error.problems[0].message)
"""


def read_within(path: Path, memory_mb: int) -> list[str]:
    """What a process with so much memory left reads: results in both orders, and cases."""
    if not Path("/proc/self/statm").exists():
        pytest.skip("the memory of a process is limited by what /proc says that it has")
    command = [sys.executable, "-c", READ, str(path), str(memory_mb)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def bomb(gigabytes: int) -> bytes:
    """A text of so many GB, in as many MB: one packed block over and over."""
    packer = zlib.compressobj(9)
    begin = packer.compress(b'{"case_id":"') + packer.flush(zlib.Z_FULL_FLUSH)
    block = packer.compress(b"x" * 2**20) + packer.flush(zlib.Z_FULL_FLUSH)
    return begin + block * (gigabytes * 1024) + packer.flush()


async def fill(make: ModuleType, path: Path, store: object) -> None:
    """A store with a run of two results and a case."""
    one = store()  # type: ignore[operator]
    log = await one.begin(make.head(), fresh=False)
    await log.claim([], [make.case(0)])
    await log.commit([make.result(0), make.result(1)], paid=False)
    await one.close()


@pytest.mark.slow
def test_a_small_row_stands_for_no_gigabytes(make: ModuleType, path: Path, store: object) -> None:
    """Rows of a few MB that would be 3 GB each are refused within a limit of memory, with file, run and row."""
    asyncio.run(fill(make, path, store))
    packed = bomb(3)
    assert len(packed) < 4 * 2**20
    for table in ("results", "cases"):
        make.query(path, f"UPDATE {table} SET body = ?", packed)
    ((run_id, row),) = make.query(path, "SELECT run_id, min(results.id) FROM runs, results")
    result = f"{path}: the result in row {row} of run {run_id} cannot be read: it is larger than 128 MiB"
    case = f"{path}: case 0 of run {run_id} cannot be read: it is larger than 128 MiB"
    assert read_within(path, 768) == [result, result, case]


def test_a_long_row_does_not_become_a_million_objects(make: ModuleType, path: Path, store: object) -> None:
    """Within the bound of bytes a text has no more lists and objects than a legitimate result could have."""
    text = b'{"case_id":[' + b"[],{}," * (records.MOST_GROUPS // 2 + 1) + b"0]}"
    assert len(text) < records.LARGEST
    with pytest.raises(StoreError, match="has more than 4,194,304 lists and objects"):
        records.decode(type(make.result(0)), zlib.compress(text, 1), extra=None, subject="it")


@pytest.mark.slow
def test_brackets_in_texts_are_no_objects(make: ModuleType) -> None:
    """What a skill has printed is stored whatever characters it is made of."""
    result = make.result(0, execution=Execution(stdout='[{\\"' * (records.MOST_GROUPS // 2 + 1)))
    stored = records.packed(records.encode(result, sparse=True))
    assert records.decode(type(result), stored, extra=None, subject="it") == result


def test_what_could_not_be_read_is_not_stored(make: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """A result beyond the bound ends its run, which names the limit, instead of a report that cannot be made."""
    monkeypatch.setattr(records, "LARGEST", 10_000)
    with pytest.raises(StoreError, match="a result cannot be stored, because it is larger than"):
        records.packed(records.encode(make.result(0, execution=Execution(stdout="x" * 10_000)), sparse=True))


@pytest.mark.slow
def test_long_rows_are_read_one_after_another(make: ModuleType, path: Path, store: object) -> None:
    """In the order of cases, too: rows that are merged are held only while they are short."""
    count, long = 20, 16 * 2**20

    async def main() -> None:
        one = store()  # type: ignore[operator]
        log = await one.begin(make.head(), fresh=False)
        await log.commit([make.result(n, case_index=n) for n in range(count)], paid=False)
        await one.close()

    asyncio.run(main())
    body = records.encode(make.result(0, execution=Execution(stdout="x")), sparse=True)
    make.query(path, "UPDATE results SET body = ?", body.replace('"x"', f'"{"x" * long}"'))
    assert read_within(path, 256) == [str(count), str(count), "0"]
