"""The command `recordings`, on what real runs recorded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from skillgauge_testkit.program import Done, Program

SKILL = "---\nname: tables\ndescription: Use when a table is made.\n---\n\nMake tables.\n"


def write(skill: Path, *prompts: str) -> None:
    """Write a skill with an eval for each prompt."""
    (skill / "evals").mkdir(parents=True, exist_ok=True)
    (skill / "SKILL.md").write_text(SKILL)
    evals: list[dict[str, Any]] = [
        {"id": f"e{number}", "prompt": prompt, "assertions": [{"text": "x", "type": "contains", "value": "x"}]}
        for number, prompt in enumerate(prompts)
    ]
    (skill / "evals/evals.json").write_text(json.dumps({"skill_name": "tables", "evals": evals}))


def record(program: Program, *more: str) -> Done:
    """Run the suite by the scripted engine and record it."""
    return program("eval", "tables", "--engine", "mock", "--record", "tapes", "--store", "none", *more)


@pytest.fixture
def tapes(program: Program, work: Path) -> Path:
    """Recordings of two cases in two arms, run twice."""
    write(work / "tables", "one", "two")
    assert record(program, "--runs", "2").code in (0, 1)
    return work / "tapes"


def test_all_are_listed(program: Program, tapes: Path) -> None:
    """Each with what it is of; a damaged one is named."""
    document = program("recordings", "list", "tapes", "--json").document
    assert [(one["case"], one["arm"], one["repeat"]) for one in document["recordings"]] == [
        (case, arm, repeat) for case in ("e0", "e1") for arm in ("with_skill", "without_skill") for repeat in (1, 2)
    ]
    assert {(one["suite"], one["engine"]) for one in document["recordings"]} == {("tables", "mock")}
    next(tapes.rglob("*.json")).write_text("{")
    people = program("recordings", "list", "tapes")
    assert people.verdict == "8 recordings in tapes, 1 of them damaged and never played"
    assert sum("damaged" in line for line in people.stdout.splitlines()) == 1


@pytest.mark.slow
def test_what_fits_no_session_is_removed_on_request(program: Program, tapes: Path, work: Path) -> None:
    """An edited case leaves four recordings behind; repeats that a plain run would not make still count as fitting."""
    fits = program("recordings", "prune", "tapes", "tables")
    assert fits.verdict == "all 8 recordings fit a session of these suites"
    write(work / "tables", "one", "two, but better")
    before = {*tapes.rglob("*.json")}
    asked = program("recordings", "prune", "tapes", "tables")
    assert asked.verdict == "4 recordings fit no session of these suites, 4 do; remove them with --yes"
    assert {*tapes.rglob("*.json")} == before
    removed = program("recordings", "prune", "tapes", "tables", "--yes", "--json").document
    assert ({one["case"] for one in removed["stale"]}, removed["kept"], removed["removed"]) == ({"e1"}, 4, True)
    assert len({*tapes.rglob("*.json")}) == 4
    again = record(program, "--runs", "2", "--only-missing")
    assert again.code in (0, 1)
    assert program("recordings", "prune", "tapes", "tables").verdict.startswith("all 8")


@pytest.mark.parametrize("command", [("list", "nowhere"), ("prune", "nowhere", "tables")])
def test_a_folder_that_is_not_there(program: Program, tapes: Path, command: tuple[str, ...]) -> None:
    """It is named, and nothing is done."""
    done = program("recordings", *command)
    assert done.code == 2
    assert "there is no folder nowhere" in done.stdout + done.stderr


@pytest.mark.slow
def test_a_suite_that_cannot_be_read_removes_nothing(program: Program, tapes: Path, work: Path) -> None:
    """Nothing is known of its sessions."""
    (work / "tables/evals/evals.json").write_text("{")
    assert program("recordings", "prune", "tapes", "tables", "--yes").code == 2
    assert len({*tapes.rglob("*.json")}) == 8
