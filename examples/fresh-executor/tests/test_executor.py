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
SESSIONS = """
import os
from pathlib import Path
from skillgauge.api import Execution, Identity, Provider, Score, Traits, hookimpl

HERE = Path(__file__).parent


class Counted:
    async def check(self):
        return ()

    def identity(self, model):
        return Identity(name="counted")

    def routes(self, model):
        return ()

    async def run(self, request, workspace, emit):
        with (HERE / "sessions").open("a") as sessions:
            sessions.write("one")
        return Execution(output="done")


class FatalOnce:
    version = "1"

    async def score(self, context):
        if not (HERE / "died").exists():
            (HERE / "died").touch()
            os._exit(7)
        return Score.passed()


@hookimpl
def skillgauge_engines():
    yield Provider("counted", Counted, "Counts paid sessions.", traits=Traits(paid=True, skill_folder="skills"))


@hookimpl
def skillgauge_scorers():
    yield Provider("fatal-once", FatalOnce, "Takes its process down once.")
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


def test_a_process_that_dies_over_the_grading(tmp_path: Path) -> None:
    """The session had ended, so the next process grades it, and nobody pays for another one."""
    (tmp_path / "sessions.py").write_text(SESSIONS)
    (tmp_path / "greeting/evals").mkdir(parents=True)
    (tmp_path / "greeting/SKILL.md").write_text("---\nname: greeting\ndescription: Greets.\n---\nGreet.\n")
    case = {"id": 1, "prompt": "Greet.", "assertions": []}
    (tmp_path / "greeting/evals/evals.json").write_text(json.dumps({"skill_name": "greeting", "evals": [case]}))
    who = ("--plugin", "sessions.py", "--engine", "counted", "--check", "fatal-once", "--executor", "acme-fresh")
    how = ("--no-baseline", "--sandbox", "local", "--store", "none", "--json")
    done = subprocess.run(
        [sys.executable, "-m", "skillgauge", "eval", "greeting", *who, *how],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    (result,) = json.loads(done.stdout)["results"]
    assert (result["verdict"], result["attempts"]) == ("pass", 2), done.stderr
    assert (tmp_path / "sessions").read_text() == "one"
