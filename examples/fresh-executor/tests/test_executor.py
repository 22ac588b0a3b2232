"""What skills leave behind where they run, and what becomes of a process that dies."""

import json
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).parents[1]
FATAL = """
import os
from skillgauge.api import Provider, Score, hookimpl


class Fatal:
    version = "1"

    async def score(self, context):
        if context.case.id == "case-1":
            os._exit(7)
        return Score.passed()


@hookimpl
def skillgauge_scorers():
    yield Provider("fatal", Fatal, "Takes its process down.")
"""


def evaluated(folder: Path, trials: int, *more: str) -> tuple[list[dict[str, object]], str]:
    """Results of an evaluation, by case, and what was said."""
    tasks = [
        {
            "id": f"case-{n}",
            "description": "Count.",
            "inputData": {},
            "expectedOutput": {"type": "contains", "keywords": ["calls"]},
        }
        for n in range(3)
    ]
    (folder / "tasks.json").write_text(json.dumps(tasks))
    command = ("-m", "skillgauge", "eval", PROJECT / "my-skill", "--tasks", "tasks.json", "--executor", "acme-fresh")
    how = ("--set", f"executors.acme-fresh.trials={trials}", "--concurrency", "1", "--retries", "0", "-o", "out.json")
    done = subprocess.run(
        [sys.executable, *command, *how, *more], cwd=folder, capture_output=True, text=True, check=False, timeout=120
    )
    (report,) = json.loads((folder / "out.json").read_text())
    return report["taskResults"], " ".join((done.stdout + done.stderr).split())


def test_a_process_for_each_trial(tmp_path: Path) -> None:
    """Nothing that a call leaves behind is seen by the next one; in one process it would be."""
    for trials, counted in ((1, [1, 1, 1]), (2, [1, 2, 1])):
        results, _ = evaluated(tmp_path, trials)
        assert [one["output"] for one in results] == [{"calls": calls} for calls in counted]


def test_a_process_that_dies(tmp_path: Path) -> None:
    """Its trial is an error that says so; the next one is made by another process."""
    (tmp_path / "fatal.py").write_text(FATAL)
    results, said = evaluated(tmp_path, 50, "--plugin", "fatal.py", "--check", "fatal")
    assert [one["status"] for one in results] == ["pass", "error", "pass"]
    assert "the process that made the attempt ended with 7" in said
