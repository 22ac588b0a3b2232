"""The same suites at another path: the same plan, which goes on where it stopped."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from skillgauge_testkit.program import PROGRAM, Program

from .conftest import MakeSkill, task
from .test_kill import COUNTING, Tasks, committed, kill_after

pytestmark = pytest.mark.e2e

SKILL = "---\nname: fold-paper\ndescription: Use when a boat is folded from paper.\n---\nFold it twice.\n"
EVALS = {
    "skill_name": "fold-paper",
    "evals": [
        {
            "id": "boat",
            "prompt": "Fold a boat from boat.txt.",
            "files": ["evals/boat.txt"],
            "expectations": ["It is a boat."],
            "assertions": [
                {"text": "It floats", "type": "contains", "value": "floats"},
                {"text": "The script agrees", "type": "command", "command": "python3 scripts/check.py"},
            ],
        },
        {"id": "hat", "prompt": "Fold a hat.", "expectations": ["It is a hat."]},
    ],
}
FORMATS = (
    "agent-skills",
    "agentv",
    "benchflow",
    "plugin-eval",
    "promptfoo",
    "skill-up",
    "skillevaluation",
    "skillgrade",
    "tessl",
    "uaaps",
    "vally",
    "waza",
)


@pytest.fixture
def suite(work: Path) -> Path:
    """Write a skill with files, scripts and evals."""
    skill = work / "here" / "fold-paper"
    (skill / "evals").mkdir(parents=True)
    (skill / "scripts").mkdir()
    (skill / "SKILL.md").write_text(SKILL)
    (skill / "scripts/check.py").write_text("print('ok')\n")
    (skill / "evals/boat.txt").write_text("a sheet\n")
    (skill / "evals/evals.json").write_text(json.dumps(EVALS))
    return skill


def plan_of(program: Program, folder: Path) -> str:
    """Return the id of the plan of the suites in a folder."""
    options = ("--engine", "mock", "--judge", "mock", "--dry-run", "--json")
    done = program("eval", folder, *options)
    assert done.code == 0, done.stderr
    plan = done.document["plan"]
    assert plan["trial_count"] > 0
    return str(plan["plan_id"])


@pytest.mark.parametrize("name", FORMATS)
def test_the_plan_of_another_checkout(program: Program, work: Path, suite: Path, name: str) -> None:
    """A copy at another path, deeper and below another name, has the plan of the original."""
    converted = suite
    if name != "agent-skills":
        done = program("convert", suite, "--to", name, "-o", work / "here" / name)
        assert done.code == 0, done.stderr
        converted = work / "here" / name
    elsewhere = work / "another" / "person" / "checkout"
    shutil.copytree(work / "here", elsewhere)
    there = elsewhere / converted.relative_to(work / "here")
    assert plan_of(program, there) == plan_of(program, converted)


def test_another_content_is_another_plan(program: Program, work: Path, suite: Path) -> None:
    """What a plan is made of, apart from its place, still tells two plans apart."""
    before = plan_of(program, suite)
    copied = Path(shutil.copytree(suite, work / "there" / "fold-paper"))
    (copied / "evals/boat.txt").write_text("two sheets\n")
    assert plan_of(program, copied) != before


@pytest.mark.slow
def test_a_run_goes_on_in_another_checkout(
    program: Program, work: Path, environment: dict[str, str], make_skill: MakeSkill, tasks: Tasks
) -> None:
    """A run that was killed in one folder is resumed in a copy; nothing is run twice, and the results name the copy."""
    log, store = work / "calls.log", work / "skillgauge.db"
    log.touch()
    skill = make_skill(COUNTING.format(log=str(log)), entrypoint="python3 -I -S skill.py")
    file = tasks(*(task(f"t{number:03}", f"t{number:03}") for number in range(200)))
    copied = Path(shutil.copytree(skill.parent, work / "copy" / skill.parent.name)) / skill.name
    moved = Path(shutil.copy(file, work / "copy" / file.name))
    options = ("--store", str(store))
    first = [str(PROGRAM), "eval", "--skills", str(skill), "--tasks", str(file), *options]
    assert kill_after(first, lambda: len(committed(store)) > 50, work, environment)
    done = program.process("eval", "--skills", str(copied), "--tasks", str(moved), *options)
    assert done.code == 0, done.stderr
    assert "resuming run" in done.stderr
    repeated = len(log.read_text().split()) - 200
    assert repeated <= 8, "only what was under way at the kill is run again"
    shown = program("report", "show", "--store", str(store), "--json")
    assert str(skill) not in shown.stdout
