"""Tokens that an agent tells nowhere but in the files of its home, as its description says."""

from __future__ import annotations

import json
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from skillgauge.api import PluginError, Usage
from skillgauge_engine_acp.configured.usage import COUNTS, KeptUsage
from skillgauge_testkit import ENGINES, Maker

make = Maker(ENGINES, "skillgauge_engine_acp.configured.plugin")
KEYS = {
    "input_with_cache_tokens": "used.in",
    "cache_read_tokens": "used.cached",
    "output_without_reasoning_tokens": "used.out",
    "reasoning_tokens": "used.thought",
}
FIRST = {"role": "model", "used": {"in": 1000, "cached": 900, "out": 20, "thought": 7}}
SECOND = {"role": "model", "used": {"in": 53, "cached": 0, "out": 11, "thought": 5}}
SUM = Usage(input_tokens=153, cache_read_tokens=900, output_tokens=43, reasoning_tokens=12)


def read(home: Path, pattern: str, table: str | None = None, **where: Any) -> Usage | None:
    """Read files by the keys of all tests here."""
    return KeptUsage(pattern, table, KEYS, where).read(home)


def test_every_object_of_a_document_that_tells_tokens_counts_once(tmp_path: Path) -> None:
    """However deep it lies; what it holds itself is part of it, and kinds that hold each other are taken apart."""
    nested = {**SECOND, "copy": SECOND}
    (tmp_path / "a").mkdir()
    document = {"messages": [{"role": "user"}, FIRST, {"of": [nested]}], "role": "model"}
    (tmp_path / "a/one.json").write_text(json.dumps(document, indent=2))
    assert read(tmp_path, "*/*.json") == SUM


def test_lines_of_json_count_too(tmp_path: Path) -> None:
    """One document each, noise passed over, and a condition says which of them are meant."""
    lines = ["a banner", *map(json.dumps, (FIRST, {**SECOND, "role": "sum"}, SECOND)), '{"cut']
    (tmp_path / "log.jsonl").write_text("\n".join(lines))
    assert read(tmp_path, "log.jsonl", role="model") == SUM


def test_a_count_that_one_record_leaves_out_is_unknown(tmp_path: Path) -> None:
    """It is not 0, and no record at all is no usage."""
    (tmp_path / "log.jsonl").write_text(json.dumps(FIRST) + "\n" + json.dumps({"used": {"in": 5}}))
    assert read(tmp_path, "log.jsonl") == Usage(input_tokens=105)
    assert read(tmp_path, "none.jsonl") is None
    (tmp_path / "log.jsonl").write_text(json.dumps({"used": {"in": "many", "out": -1, "cached": True}}))
    assert read(tmp_path, "log.jsonl") is None


def database(path: Path, *rows: object) -> sqlite3.Connection:
    """Write a database whose last pages are in its log still, as a program leaves it that is ended."""
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("CREATE TABLE message (id INTEGER PRIMARY KEY, data)")
    connection.executemany("INSERT INTO message (data) VALUES (?)", [(row,) for row in rows])
    connection.commit()
    return connection


def test_rows_of_a_database_count_with_what_is_in_its_log(tmp_path: Path) -> None:
    """JSON in a column is read; other cells, bytes and broken text tell nothing, and the home stays as it was."""
    keys = {name: f"data.{key}" for name, key in KEYS.items()}
    rows = (json.dumps(FIRST), json.dumps(SECOND), b"\xff\x00", "{broken", None, 7)
    with closing(database(tmp_path / "a.db", *rows)):
        before = sorted(path.name for path in tmp_path.iterdir())
        assert (tmp_path / "a.db-wal").stat().st_size
        assert KeptUsage("a.db", "message", keys, {}).read(tmp_path) == SUM
        assert KeptUsage("a.db", 'no "such" table', keys, {}).read(tmp_path) is None
        assert sorted(path.name for path in tmp_path.iterdir()) == before


@pytest.mark.slow
def test_a_hostile_database_tells_nothing(tmp_path: Path) -> None:
    """One that is no database, one behind a link, and one whose table never ends."""
    keys = {"input_tokens": "n"}
    (tmp_path / "noise.db").write_bytes(b"SQLite format 3\x00" + b"\xff" * 4096)
    assert KeptUsage("noise.db", "message", keys, {}).read(tmp_path) is None
    outside = tmp_path / "outside"
    outside.mkdir()
    database(outside / "real.db", json.dumps(FIRST)).close()
    home = tmp_path / "home"
    home.mkdir()
    (home / "linked.db").symlink_to(outside / "real.db")
    assert KeptUsage("linked.db", "message", keys, {}).read(home) is None
    with closing(database(home / "endless.db")) as connection:
        endless = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT n FROM c WHERE n < 0"
        connection.execute(f"CREATE VIEW counted AS {endless}")
        connection.commit()
    assert KeptUsage("endless.db", "counted", keys, {}).read(home) is None


AGENT = Path(__file__).parent / "scripted_agent.py"
MINE = {"argv": [sys.executable, str(AGENT)], "usage": "files", "usage_files": "x/*.json"}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"usage_keys": {}}, "usage_keys"),
        ({"usage_files": None, "usage_keys": {"input_tokens": "a"}}, "usage_files"),
        ({"usage_files": "../x", "usage_keys": {"input_tokens": "a"}}, "stay inside"),
        ({"usage_keys": {"inptu_tokens": "a"}}, "did you mean input_tokens"),
        ({"usage_keys": {"input_tokens": 7}}, "must be a key"),
    ],
)
def test_a_description_that_says_too_little_is_refused(options: dict[str, Any], words: str) -> None:
    """The message says which option is missing or wrong."""
    with pytest.raises(PluginError, match=words):
        make({**MINE, **options})


def test_every_count_of_a_result_has_a_name() -> None:
    """Nothing that a result can hold is out of reach of a description."""
    assert set(COUNTS) >= set(Usage.model_fields) - {"cost_basis"}
