"""What skills leave behind in their process, and what becomes of one that takes it down."""

import json
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).parents[1]


def evaluated(folder: Path, inputs: list[dict[str, object]], trials: int) -> tuple[list[dict[str, object]], str]:
    """Results of an evaluation, by case, and what was said."""
    tasks = [
        {"id": f"case-{n}", "description": "Count.", "inputData": given, "expectedOutput": {"value": {"calls": 1}}}
        for n, given in enumerate(inputs)
    ]
    (folder / "tasks.json").write_text(json.dumps(tasks))
    command = ("-m", "skillgauge", "eval", PROJECT / "my-skill", "--tasks", "tasks.json", "--executor", "acme-fresh")
    more = ("--set", f"executors.acme-fresh.trials={trials}", "--concurrency", "1", "--retries", "0", "-o", "out.json")
    done = subprocess.run(
        [sys.executable, *command, *more], cwd=folder, capture_output=True, text=True, check=False, timeout=120
    )
    (report,) = json.loads((folder / "out.json").read_text())
    return report["taskResults"], " ".join((done.stdout + done.stderr).split())


def test_a_process_for_each_trial(tmp_path: Path) -> None:
    """Nothing that a call leaves behind is seen by the next one."""
    results, said = evaluated(tmp_path, [{}, {}, {}], trials=1)
    assert [one["output"] for one in results] == [{"calls": 1}] * 3
    assert "3 passed" in said


def test_a_skill_that_takes_its_process_down(tmp_path: Path) -> None:
    """Its trial is an error that says so; the next one is made by another process."""
    results, said = evaluated(tmp_path, [{}, {"die": True}, {}], trials=50)
    assert [one.get("output") for one in results] == [{"calls": 1}, None, {"calls": 1}]
    assert "the process that made the attempt ended with 7" in said
    assert "1 error" in said
