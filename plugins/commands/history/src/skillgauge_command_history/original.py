"""Read the SQLite database of eval-skills, never writing to it.

Each evaluation is given as the result document that eval-skills itself would have written for it, so that the installed
reporter of that format says what its words mean.
"""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from skillgauge.api import Origin, Problem, SuiteError
from skillgauge.stats import nearest_rank

_TABLES = {
    "skills": {"id", "version"},
    "evaluations": {"id", "skill_id", "benchmark_id", "summary", "timestamp"},
    "task_results": {"eval_id", "task_id", "run_id", "status", "score", "latency_ms", "data"},
}
_MAGIC = b"SQLite format 3\0"
_HEADER_BYTES = 100
_READ_VERSION = 19
"""Place in the header that says whether the write-ahead log is in use."""
_WAL = 2
_OURS = b"SKGA"
"""Application id of our own stores, at place 68."""
_NUMBERS = ("completionRate", "partialScore", "errorRate", "consistencyScore", "compositeScore")
_ROUNDING = 1e-3
_MILLISECONDS_FROM = 1e11
"""A larger number would be a date in seconds beyond the year 5000, so it counts milliseconds."""


class UnfinishedEvaluation(Exception):  # noqa: N818 - it names the outcome; "error" would suggest a fault
    """An evaluation was begun and never ended, so that there is nothing to take over."""


@dataclass(frozen=True)
class Evaluation:
    """One row of `evaluations`, as it stands there."""

    row: int
    id: str
    skill: str
    benchmark: str
    timestamp: object
    summary: object
    version: str | None
    """Of the skill; known only for its newest evaluation, because the database keeps one version of a skill."""


@contextmanager
def opened_original(path: Path) -> Iterator[Original]:
    """A database of eval-skills, to be read.

    Raises:
        SuiteError: it is not such a database, or it cannot be read.
    """
    try:
        with closing(_connected(path)) as db:
            _require_tables(db, path)
            yield Original(db)
    except (sqlite3.Error, OSError) as error:
        raise _refusal(path, f"it cannot be read: {error}") from error


class Original:
    """The evaluations in a database of eval-skills.

    Args:
        db: a connection to it, for reading.
    """

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def evaluations(self) -> list[Evaluation]:
        """All of them, in the order in which they were stored."""
        query = (
            "SELECT e.rowid, e.id, e.skill_id, e.benchmark_id, e.timestamp, e.summary, s.version "
            "FROM evaluations e LEFT JOIN skills s ON s.id = e.skill_id ORDER BY e.rowid"
        )
        rows = self._db.execute(query).fetchall()
        newest = {skill: row for row, _, skill, *_ in rows}
        return [
            Evaluation(
                row=row,
                id=str(id_),
                skill=str(skill),
                benchmark=str(benchmark),
                timestamp=timestamp,
                summary=summary,
                version=version if isinstance(version, str) and newest[skill] == row else None,
            )
            for row, id_, skill, benchmark, timestamp, summary, version in rows
        ]

    def report(self, evaluation: Evaluation) -> dict[str, object]:
        """The result document of an evaluation.

        Raises:
            UnfinishedEvaluation: it never ended.
            ValueError: something in it cannot be read.
        """
        tasks = list(self._tasks(evaluation))
        summary = _object(evaluation.summary, "its summary") if evaluation.summary else {}
        _require_finished(summary, tasks)
        latencies = [task["latencyMs"] for task in tasks]
        measured = [value for value in latencies if isinstance(value, int | float) and value > 0]
        return {
            "skillId": evaluation.skill,
            "skillVersion": evaluation.version or "",
            "benchmarkId": evaluation.benchmark,
            "timestamp": moment_of(evaluation.timestamp).isoformat(),
            "summary": summary,
            "latency": {f"p{rank}Ms": _percentile(measured, rank) for rank in (50, 95, 99)},
            "taskResults": tasks,
            "evaluatorMetadata": {},
        }

    def _tasks(self, evaluation: Evaluation) -> Iterator[dict[str, object]]:
        query = (
            "SELECT t.task_id, t.run_id, t.status, t.score, t.latency_ms, t.data FROM task_results t "
            "JOIN evaluations e ON e.id = t.eval_id WHERE e.rowid = ? ORDER BY t.run_id, t.rowid"
        )
        for task, run, status, score, latency, data in self._db.execute(query, (evaluation.row,)):
            result = _object(data, f"the result of {task!r}") if data else {}
            exact = result.get("latencyMs")
            yield {
                **result,
                "taskId": task,
                "skillId": evaluation.skill,
                "runId": run,
                "status": status,
                "score": score,
                "latencyMs": exact if isinstance(exact, int | float) else latency,
            }


def moment_of(value: object) -> datetime:
    """A point in time as the database may hold it: a text, or seconds or milliseconds since the epoch; UTC if unsaid.

    Raises:
        ValueError: it is none of these.
    """
    try:
        if isinstance(value, str):
            moment = datetime.fromisoformat(value.strip())
        elif isinstance(value, int | float):
            moment = datetime.fromtimestamp(value / 1000 if abs(value) >= _MILLISECONDS_FROM else value, UTC)
        else:
            raise ValueError(f"{value!r} is no date")
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        raise ValueError(f"its timestamp {value!r} is no date") from None


def _connected(path: Path) -> sqlite3.Connection:
    """A connection that changes nothing, not even the files that SQLite puts beside a database."""
    with path.open("rb") as file:
        header = file.read(_HEADER_BYTES)
    if not header.startswith(_MAGIC):
        raise _refusal(path, "it is not an SQLite database")
    if header[68:72] == _OURS:
        raise _refusal(path, "it is a store of skillgauge already, to be named with --store")
    # A database that uses a log gets files beside it when it is opened, unless it is said that nobody writes.
    is_still = header[_READ_VERSION] == _WAL and not Path(f"{path}-wal").exists()
    uri = f"{path.absolute().as_uri()}?mode=ro{'&immutable=1' if is_still else ''}"
    db = sqlite3.connect(uri, uri=True)
    db.text_factory = lambda raw: raw.decode("utf-8", "replace")
    return db


def _require_tables(db: sqlite3.Connection, path: Path) -> None:
    missing = [
        f"{table}.{column}"
        for table, columns in _TABLES.items()
        for column in sorted(columns - {row[1] for row in db.execute(f"PRAGMA table_info({table})")})
    ]
    if missing:
        raise _refusal(path, f"it has no {', '.join(missing)}")


def _require_finished(summary: Mapping[str, object], tasks: Sequence[Mapping[str, object]]) -> None:
    """The summary is written at the end of an evaluation, so it and the results tell whether that came."""
    if not tasks:
        raise UnfinishedEvaluation("it has no task results")
    if not all(isinstance(summary.get(name), int | float) for name in _NUMBERS):
        raise UnfinishedEvaluation("it has no complete summary")
    passed = sum(task["status"] == "pass" for task in tasks) / len(tasks)
    published = summary["completionRate"]
    assert isinstance(published, int | float)  # one of the numbers
    if not abs(published - passed) <= _ROUNDING:
        raise UnfinishedEvaluation(f"its summary says {published:.1%} passed, its task results say {passed:.1%}")


def _object(text: object, subject: str) -> dict[str, object]:
    """A JSON object that stands in a column."""
    try:
        value = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise ValueError(f"{subject} is no JSON object")
    return value


def _percentile(latencies: Sequence[float], rank: int) -> int:
    """As eval-skills computes it: nearest rank, whole milliseconds, 0 without any latency."""
    return math.floor((nearest_rank(latencies, rank / 100) or 0) + 0.5)


def _refusal(path: Path, reason: str) -> SuiteError:
    message = f"no evaluations of eval-skills can be read here: {reason}"
    hint = "Name the database of eval-skills; it is called eval-skills.db unless --store named another one."
    return SuiteError(Problem("history.not-importable", message, origin=Origin(str(path)), hint=hint))
