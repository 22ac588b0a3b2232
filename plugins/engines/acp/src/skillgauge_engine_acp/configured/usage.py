"""Tokens of an agent that is described: those of its messages, and those in the files that it keeps in its home."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from skillgauge.api import JsonObject, JsonValue, Usage, freeze
from skillgauge_agent_programs.homes import FILE_BYTES, files_in, lines_of
from skillgauge_agent_programs.json_lines import count_at, dig, parse_line

INPUT_WITH_CACHE, OUTPUT_WITHOUT_REASONING = "input_with_cache_tokens", "output_without_reasoning_tokens"
COUNTS = (
    "input_tokens",
    INPUT_WITH_CACHE,
    "cache_read_tokens",
    "cache_write_tokens",
    "output_tokens",
    OUTPUT_WITHOUT_REASONING,
    "reasoning_tokens",
    "total_tokens",
    "cost_usd",
)
"""Names that a description may give to what a file tells."""
_KINDS = tuple(name for name in COUNTS if name not in (INPUT_WITH_CACHE, OUTPUT_WITHOUT_REASONING, "cost_usd"))
_ROWS = 100_000
"""Of one table that are read."""
_STEPS = 100_000_000
"""Of the database's machine: a hostile table could count for ever."""


def tokens_of(counts: JsonValue) -> Usage | None:
    """Return the tokens that an agent reports: some count what a cache held as input, which the sum shows."""
    if not isinstance(counts, Mapping):
        return None
    read, written = count_at(counts, "cachedReadTokens"), count_at(counts, "cachedWriteTokens")
    sent, output, total = (count_at(counts, key) for key in ("inputTokens", "outputTokens", "totalTokens"))
    held = (read or 0) + (written or 0)
    if sent is not None and held <= sent and total == sent + (output or 0):
        sent -= held
    return Usage(
        input_tokens=sent,
        cache_read_tokens=read,
        cache_write_tokens=written,
        output_tokens=output,
        reasoning_tokens=count_at(counts, "thoughtTokens"),
        total_tokens=total,
    )


def added(first: Usage | None, second: Usage) -> Usage:
    """Return the sum of what was used before, if anything was, and now; what either does not tell is unknown."""
    if first is None:
        return second
    total = Usage.total((first, second))
    assert total is not None
    return total


class KeptUsage:
    """Reads the tokens that a program writes down in its home, as a description says.

    Args:
        pattern: of the files, relative to the home.
        table: of a SQLite database whose rows are the records; `None` for files of JSON.
        keys: name of a count to its key in a record, with dots for deeper ones.
        where: fields that a record must have, key to value.
    """

    def __init__(self, pattern: str, table: str | None, keys: JsonObject, where: JsonObject) -> None:
        self._pattern, self._table, self._where = pattern, table, where
        self._keys = {name: tuple(str(key).split(".")) for name, key in keys.items()}

    def read(self, home: Path) -> Usage | None:
        """Return the sum of all records that tell any; `None` if none does."""
        usage = None
        for path in files_in(home, self._pattern):
            documents = _documents_in(path) if self._table is None else _rows_of(path, self._table)
            for record in self._records(documents):
                usage = added(usage, self._usage_of(record))
        return usage

    def _records(self, documents: Iterable[JsonValue]) -> Iterator[JsonObject]:
        """Yield the objects that tell any count; what lies in one of them is part of it."""
        waiting = list(documents)
        while waiting:
            value = waiting.pop()
            if isinstance(value, Mapping):
                if self._tells(value):
                    yield value
                    continue
                waiting.extend(value.values())
            elif isinstance(value, tuple):
                waiting.extend(value)

    def _tells(self, record: JsonObject) -> bool:
        is_meant = all(dig(record, *key.split(".")) == value for key, value in self._where.items())
        return is_meant and any(_number_at(record, key) is not None for key in self._keys.values())

    def _usage_of(self, record: JsonObject) -> Usage:
        """Return what a record tells, in kinds that do not hold each other, but for reasoning, which is output."""
        counts = {name: _number_at(record, key) for name, key in self._keys.items()}
        cost = counts.pop("cost_usd", None)
        tokens = {name: None if value is None else int(value) for name, value in counts.items()}
        sent = tokens.pop(INPUT_WITH_CACHE, None)
        if sent is not None:
            held = (tokens.get("cache_read_tokens") or 0) + (tokens.get("cache_write_tokens") or 0)
            tokens["input_tokens"] = max(0, sent - held)
        spoken = tokens.pop(OUTPUT_WITHOUT_REASONING, None)
        if spoken is not None:
            tokens["output_tokens"] = spoken + (tokens.get("reasoning_tokens") or 0)
        kinds = {name: tokens.get(name) for name in _KINDS}
        return Usage(**kinds, cost_usd=cost, cost_basis=None if cost is None else "reported")


def _number_at(record: JsonObject, key: tuple[str, ...]) -> float | None:
    value = dig(record, *key)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number and value >= 0 else None  # type: ignore[operator,return-value]


def _documents_in(path: Path) -> Iterator[JsonValue]:
    """Yield the document of a file, or those of its lines."""
    lines = list(lines_of(path))
    whole = parse_line(b"".join(lines))
    yield from (whole,) if whole is not None else filter(None, map(parse_line, lines))


def _rows_of(path: Path, table: str) -> list[JsonValue]:
    """Return the rows of a table, column to value, with JSON read; none if it cannot be read.

    A copy is opened, since the agent may have left its last pages in a log beside the database, and reading that
    writes.
    """
    with TemporaryDirectory(prefix="skillgauge-") as folder, suppress(OSError, sqlite3.Error):
        copy = Path(folder, "copy.db")
        _copy(path, copy)
        with suppress(FileNotFoundError):
            _copy(path.with_name(f"{path.name}-wal"), copy.with_name("copy.db-wal"))
        with closing(sqlite3.connect(copy)) as database:
            database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, FILE_BYTES)
            database.set_progress_handler(lambda: 1, _STEPS)
            database.execute("PRAGMA trusted_schema = OFF")
            database.text_factory = lambda text: text.decode("utf-8", "replace")
            quoted = table.replace('"', '""')
            rows = database.execute(f'SELECT * FROM "{quoted}" LIMIT {_ROWS}')
            names = [column[0] for column in rows.description]
            return [freeze(dict(zip(names, map(_read, row), strict=True))) for row in rows]
    return []


def _copy(source: Path, target: Path) -> None:
    """Copy a file, but nothing that a link leads to."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    with open(source, "rb", opener=lambda name, _mode: os.open(name, flags)) as file, target.open("wb") as copy:
        if os.fstat(file.fileno()).st_size > FILE_BYTES:
            raise OSError(f"{source} is too large")
        shutil.copyfileobj(file, copy)


def _read(value: object) -> JsonValue:
    """Return a cell: an object of JSON is one, bytes are nothing that counts."""
    if isinstance(value, str):
        return parse_line(value.encode("utf-8", "replace")) or value
    return value if isinstance(value, int | float) else None
