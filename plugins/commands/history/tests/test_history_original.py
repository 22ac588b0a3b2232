"""Reading databases of eval-skills without touching them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillgauge.api import SuiteError
from skillgauge_command_history.original import UnfinishedEvaluation, moment_of, opened_original

MARCH = datetime(2025, 3, 1, 10, tzinfo=UTC)


@pytest.fixture
def database(original: ModuleType, tmp_path: Path) -> object:
    """An original database without evaluations."""
    return original.OriginalDatabase(tmp_path / "eval-skills.db")


def files(folder: Path) -> dict[str, bytes]:
    """Every file of a folder."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_nothing_is_changed(original: ModuleType, database, mode: str) -> None:
    """Reading leaves the file and its folder byte for byte as they were, in both journal modes."""
    database.add("one", [original.task("a"), original.task("b", "fail", reason="wrong")])
    with closing(sqlite3.connect(database.path)) as db:
        db.execute(f"PRAGMA journal_mode = {mode}")
    before = files(database.path.parent)
    with opened_original(database.path) as read:
        (evaluation,) = read.evaluations()
        report = read.report(evaluation)
    assert files(database.path.parent) == before
    assert [one["taskId"] for one in report["taskResults"]] == ["a", "b"]


def test_a_database_in_use_is_read_as_it_is_committed(original: ModuleType, database) -> None:
    """What another program has not committed is not seen; the read-ahead log of one that is open is."""
    database.add("one", [original.task("a")])
    with closing(sqlite3.connect(database.path)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("UPDATE evaluations SET benchmark_id = 'changed'")
        db.commit()
        db.execute("DELETE FROM evaluations")
        with opened_original(database.path) as read:
            (evaluation,) = read.evaluations()
    assert evaluation.benchmark == "changed"


def test_a_report_as_the_original_writes_it(original: ModuleType, database) -> None:
    """Figures as published, exact latencies of the tasks, percentiles over those that were measured."""
    tasks = [original.task(f"t{n}", latency_ms=n + 0.4, output={"n": n}) for n in range(20)]
    database.add("one", tasks, version="1.2.3")
    with opened_original(database.path) as read:
        report = read.report(read.evaluations()[0])
    assert (report["skillId"], report["skillVersion"], report["benchmarkId"]) == ("calculator", "1.2.3", "coding-easy")
    assert report["timestamp"] == "2025-03-01T10:00:00+00:00"
    assert report["summary"] == original.summary(1.0)
    assert report["latency"] == {"p50Ms": 9, "p95Ms": 18, "p99Ms": 19}
    assert report["taskResults"][3] == {**tasks[3], "skillId": "calculator"}


def test_the_version_is_that_of_the_newest_evaluation(original: ModuleType, database) -> None:
    """The database keeps one version of a skill, so that of earlier evaluations is unknown."""
    database.add("old", [original.task("a")], version="1.0.0")
    database.add("new", [original.task("a")], version="2.0.0")
    database.add("other", [original.task("a")], skill="another", version="3.0.0")
    with opened_original(database.path) as read:
        assert [one.version for one in read.evaluations()] == [None, "2.0.0", "3.0.0"]


@pytest.mark.parametrize(
    ("tasks", "told", "reason"),
    [
        ([], '{"completionRate": 0}', "no task results"),
        (["pass"], None, "no complete summary"),
        (["pass"], "{}", "no complete summary"),
        (["pass"], '{"completionRate": 1, "partialScore": 1}', "no complete summary"),
        (["pass", "fail"], "zero", "its summary says 0.0% passed, its task results say 50.0%"),
    ],
)
def test_unfinished_evaluations(
    original: ModuleType, database, tasks: list[str], told: str | None, reason: str
) -> None:
    """What was killed before its summary was written is not taken for a result."""
    if told == "zero":
        told = json.dumps(original.summary(0.0))
    database.add("one", [original.task(f"t{n}", status) for n, status in enumerate(tasks)], told=told)
    with opened_original(database.path) as read, pytest.raises(UnfinishedEvaluation, match=reason):
        read.report(read.evaluations()[0])


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("UPDATE evaluations SET summary = '[1]'", "its summary is no JSON object"),
        ("UPDATE evaluations SET summary = 'rubbish'", "its summary is no JSON object"),
        ("UPDATE evaluations SET summary = x'00ff'", "its summary is no JSON object"),
        ("UPDATE evaluations SET timestamp = 'yesterday'", "its timestamp 'yesterday' is no date"),
        ("UPDATE evaluations SET timestamp = NULL", "its timestamp None is no date"),
        ("UPDATE task_results SET data = '{'", "the result of 'a' is no JSON object"),
        ("UPDATE task_results SET data = printf('%.*c', 200000, '[')", "the result of 'a' is no JSON object"),
    ],
)
def test_damaged_evaluations(original: ModuleType, database, change: str, reason: str) -> None:
    """What cannot be read is told, not guessed."""
    database.add("one", [original.task("a")])
    database.execute(change)
    with opened_original(database.path) as read, pytest.raises(ValueError, match=reason):
        read.report(read.evaluations()[0])


def test_a_result_without_data_is_its_columns(original: ModuleType, database) -> None:
    """The columns alone are enough for a result."""
    database.add("one", [original.task("a", latency_ms=12)])
    database.execute("UPDATE task_results SET data = NULL")
    with opened_original(database.path) as read:
        (result,) = read.report(read.evaluations()[0])["taskResults"]
    assert result == {
        "taskId": "a",
        "skillId": "calculator",
        "runId": 1,
        "status": "pass",
        "score": 1.0,
        "latencyMs": 12,
    }


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2025-03-01T10:00:00.000Z", MARCH),
        ("2025-03-01 10:00:00", MARCH),
        ("2025-03-01T12:00:00+02:00", MARCH),
        (1740823200, MARCH),
        (1740823200.0, MARCH),
        (1740823200000, MARCH),
    ],
)
def test_dates(value: object, expected: datetime) -> None:
    """Texts, seconds and milliseconds; UTC unless a text says otherwise."""
    assert moment_of(value) == expected


@settings(deadline=None)
@given(st.one_of(st.text(), st.integers(), st.floats(), st.binary(), st.none(), st.datetimes().map(str)))
def test_no_date_is_an_accident(value: object) -> None:
    """Anything is a date in UTC or a `ValueError`."""
    with suppress(ValueError):
        assert moment_of(value).tzinfo is UTC


def _text(path: Path) -> None:
    path.write_text("not a database\n" * 20)


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _other(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE evaluations (id)")


def _damaged(path: Path) -> None:
    path.write_bytes(b"SQLite format 3\0" + bytes(84) + b"rubbish" * 1000)


def _ours(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"PRAGMA application_id = {int.from_bytes(b'SKGA', 'big')}")
        db.execute("CREATE TABLE runs (id)")


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (Path.mkdir, "Is a directory"),
        (lambda _path: None, "No such file"),
        (_text, "not an SQLite database"),
        (_empty, "not an SQLite database"),
        (_other, "it has no skills.id, skills.version, evaluations.benchmark_id"),
        (_damaged, "it cannot be read"),
        (_ours, "a store of skillgauge already"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, make: Callable[[Path], object], reason: str) -> None:
    """With the file's name, the reason and what to do; nothing is made or changed."""
    path = tmp_path / "eval-skills.db"
    make(path)
    before = files(tmp_path)
    with pytest.raises(SuiteError, match=reason) as refused, opened_original(path):
        pass
    assert str(path) in str(refused.value)
    assert files(tmp_path) == before
