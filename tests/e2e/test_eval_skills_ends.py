"""Where a command of the published eval-skills document ends otherwise than there: what it does instead.

`docs/from-eval-skills.md` has a line for each; the findings are P-D4 to P-D9.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from skillgauge_testkit.program import Done, Program

from .conftest import ROOT

CALCULATOR = ROOT / "examples" / "skills" / "calculator"
EVAL = ("eval", "--skills", ".", "--tasks", "sums.json")


@pytest.fixture(autouse=True)
def sums(work: Path) -> None:
    """Two tasks for the calculator."""
    tasks = [
        {
            "id": expression,
            "description": "Adds",
            "inputData": {"expression": expression},
            "expectedOutput": {"type": "exact", "value": value},
        }
        for expression, value in (("2+3", "5"), ("1+1", "2"))
    ]
    (work / "sums.json").write_text(json.dumps(tasks))


def _skill(folder: Path, name: str, *, fails: bool = False, **changes: Any) -> None:
    """The calculator under another name, or a program that always fails."""
    shutil.copytree(CALCULATOR, folder / name)
    file = folder / name / "skill.json"
    told = json.loads(file.read_text()) | {"id": name} | ({"entrypoint": "false"} if fails else {}) | changes
    file.write_text(json.dumps(told))


def _runs(program: Program, *arguments: str) -> list[Any]:
    done = program("history", "list", *arguments, "--json")
    assert done.code == 0, done.stderr
    return list(done.document["runs"])


def _ends(done: Done, code: int, verdict: str) -> None:
    assert (done.code, done.verdict) == (code, verdict), done.stderr


@pytest.mark.slow
@pytest.mark.e2e
def test_where_runs_are_kept(program: Program, work: Path) -> None:
    """P-D4, P-D5: in `skillgauge.db`; in the file that the document names only where it is named, in our format."""
    _skill(work, "adder")
    _ends(program(*EVAL), 0, "done: 2 of 2 passed")
    assert {path.name for path in work.glob("*.db")} == {"skillgauge.db"}
    assert len(_runs(program)) == 1
    _ends(program(*EVAL, "--store", "./eval-skills.db"), 0, "done: 2 of 2 passed")
    assert len(_runs(program)) == 1
    assert len(_runs(program, "--store", "eval-skills.db")) == 1


@pytest.mark.e2e
def test_the_original_s_database_is_left_alone(program: Program, work: Path) -> None:
    """P-D5: it is refused by its name before anything runs, and not a byte of it is changed."""
    _skill(work, "adder")
    with sqlite3.connect(work / "eval-skills.db") as database:
        database.execute("CREATE TABLE eval_runs (id TEXT PRIMARY KEY)")
    database.close()
    before = (work / "eval-skills.db").read_bytes()
    done = program(*EVAL, "--store", "./eval-skills.db", "--json")
    assert done.code == 2
    (problem,) = done.document["problems"]
    assert problem["code"] == "store.foreign"
    assert str(work / "eval-skills.db") in problem["message"]
    assert (work / "eval-skills.db").read_bytes() == before
    assert not (work / "reports").exists()


@pytest.mark.e2e
def test_copies_with_one_id_are_refused(program: Program, work: Path) -> None:
    """P-D6: both files are named, and nothing runs."""
    for name in ("weather_v1", "weather_v2"):
        _skill(work, name)
        file = work / name / "skill.json"
        file.write_text(file.read_text().replace(name, "weather"))
    done = program(*EVAL, "--json")
    assert done.code == 2
    (problem,) = done.document["problems"]
    assert problem["code"] == "suite.duplicate-id"
    assert all(str(work / name / "skill.json") in problem["message"] for name in ("weather_v1", "weather_v2"))
    assert not (work / "reports").exists()


@pytest.mark.slow
@pytest.mark.e2e
def test_skills_that_always_fail_rank_by_the_published_formula(program: Program, work: Path) -> None:
    """P-D7: their score is that of their speed and their few errors, and the rate beside it says 0 %."""
    _skill(work, "first", fails=True)
    _skill(work, "second", fails=True)
    _ends(program(*EVAL), 0, "done: 0 of 4 passed")
    reports = json.loads((work / "reports/eval-result.json").read_text())
    assert [one["summary"]["completionRate"] for one in reports] == [0, 0]
    assert all(0.19 < one["summary"]["compositeScore"] <= 0.2 for one in reports)
    done = program("select", "--from", ".", "--reports", "reports/eval-result.json", "--top-k", "2")
    assert done.code == 0, done.stderr
    rows = [line for line in done.stdout.splitlines() if "0.0% (n = 2)" in line]
    assert len(rows) == 2
