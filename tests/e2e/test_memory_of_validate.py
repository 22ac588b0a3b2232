"""Checking a very large suite takes memory by its cases, and not much for each."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from skillgauge_testkit.program import PROGRAM, Program

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

FEW, MANY = 1_000, 21_000
ROOM_KIB = 6.0
"""Peak memory for each further case; it was 9 to 11 where each kept what it was read from, and is 3 to 4."""
PEAK = """import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], capture_output=True, text=True)
assert done.returncode == 0, done.stdout + done.stderr
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def tasks(folder: Path, cases: int) -> list[str]:
    """Tasks of eval-skills."""
    skill = {"id": "s", "name": "S", "version": "1.0.0", "description": "", "adapterType": "subprocess"}
    (folder / "skill.json").write_text(json.dumps(skill | {"entrypoint": "true"}))
    made = [
        {"id": f"t{number}", "inputData": {"n": number}, "expectedOutput": {"type": "exact", "value": f"is {number}"}}
        for number in range(cases)
    ]
    (folder / "tasks.json").write_text(json.dumps(made))
    return ["--skills", str(folder / "skill.json"), "--tasks", str(folder / "tasks.json")]


def evals(folder: Path, cases: int) -> list[str]:
    """An `evals.json`."""
    skill = folder / "labels"
    (skill / "evals").mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: labels\ndescription: Writes labels.\n---\n\nWrite the label.\n")
    made = [
        {
            "id": number,
            "prompt": f"Label box {number}.",
            "assertions": [{"type": "contains", "value": f"No. {number}!"}],
        }
        for number in range(cases)
    ]
    (skill / "evals/evals.json").write_text(json.dumps({"skill_name": "labels", "evals": made}))
    return [str(skill)]


@pytest.mark.parametrize("write", [tasks, evals])
def test_a_case_takes_little(program: Program, work: Path, write: Callable[[Path, int], list[str]]) -> None:
    """R3-V8: 20,000 further cases take a bounded part of memory each."""
    peaks = {}
    for cases in (FEW, MANY):
        folder = work / str(cases)
        folder.mkdir()
        peaks[cases] = peak_kib(["validate", *write(folder, cases)], work, program.environment)
    assert (peaks[MANY] - peaks[FEW]) / (MANY - FEW) < ROOM_KIB


def peak_kib(arguments: list[str], work: Path, environment: Mapping[str, str]) -> int:
    """Peak memory of a command in KiB; a process of its own starts it, whose own peak is lower."""
    line = [sys.executable, "-I", "-S", "-c", PEAK, PROGRAM, *arguments]
    done = subprocess.run(line, cwd=work, env=dict(environment), capture_output=True, text=True, check=True)
    return int(done.stdout)
