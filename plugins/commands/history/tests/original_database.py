"""Databases as the original eval-skills makes them: its tables, written with plain SQL."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

SCHEMA = """
CREATE TABLE skills (
    id TEXT PRIMARY KEY, name TEXT, version TEXT, data JSON, created_at TEXT, updated_at TEXT
);
CREATE TABLE evaluations (
    id TEXT PRIMARY KEY, skill_id TEXT REFERENCES skills(id), benchmark_id TEXT, summary JSON, timestamp TEXT
);
CREATE TABLE task_results (
    eval_id TEXT REFERENCES evaluations(id), task_id TEXT, skill_id TEXT, run_id INTEGER DEFAULT 1, status TEXT,
    score REAL, latency_ms INTEGER, data JSON, created_at TEXT, PRIMARY KEY (eval_id, task_id, run_id)
);
CREATE INDEX idx_task_results_eval ON task_results(eval_id);
CREATE INDEX idx_task_results_skill ON task_results(skill_id);
CREATE INDEX idx_evaluations_skill ON evaluations(skill_id);
CREATE INDEX idx_evaluations_benchmark ON evaluations(benchmark_id);
CREATE INDEX idx_evaluations_timestamp ON evaluations(timestamp);
"""


def task(
    name: str, status: str = "pass", *, run: int = 1, latency_ms: float = 20.4, **more: object
) -> dict[str, object]:
    """A result as the original stores it in `data`."""
    return {
        "taskId": name,
        "status": status,
        "score": float(status == "pass"),
        "latencyMs": latency_ms,
        "scorerType": "exact_match",
        "runId": run,
        **more,
    }


def summary(rate: float) -> dict[str, float]:
    """A summary as the original stores it when an evaluation has ended."""
    return {
        "completionRate": rate,
        "partialScore": rate,
        "errorRate": 0,
        "consistencyScore": 1,
        "compositeScore": 0.5 * rate + 0.5,
    }


class OriginalDatabase:
    """A database of eval-skills.

    Args:
        path: where it is made.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with closing(sqlite3.connect(path)) as db:
            db.executescript(SCHEMA)

    def execute(self, sql: str, *values: object) -> None:
        """Change something by hand."""
        with closing(sqlite3.connect(self.path)) as db, db:
            db.execute(sql, values)

    def add(
        self,
        evaluation: str,
        tasks: Sequence[Mapping[str, object]],
        *,
        skill: str = "calculator",
        benchmark: str = "coding-easy",
        version: str = "0.1.0",
        timestamp: object = "2025-03-01T10:00:00.000Z",
        told: object = ...,
    ) -> None:
        """An evaluation with its results; its summary fits them unless another is given."""
        if told is ...:
            told = json.dumps(summary(round(sum(one["status"] == "pass" for one in tasks) / max(1, len(tasks)), 4)))
        self.execute(
            "INSERT INTO skills VALUES (?, ?, ?, '{}', ?, ?) ON CONFLICT (id) DO UPDATE SET version = excluded.version",
            skill,
            skill,
            version,
            timestamp,
            timestamp,
        )
        self.execute("INSERT INTO evaluations VALUES (?, ?, ?, ?, ?)", evaluation, skill, benchmark, told, timestamp)
        for one in tasks:
            self.execute(
                "INSERT INTO task_results VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                evaluation,
                one["taskId"],
                skill,
                one["runId"],
                one["status"],
                one["score"],
                round(float(str(one["latencyMs"]))),
                json.dumps({"skillId": skill, **one}),
                timestamp,
            )
