"""Sessions that start no process and write no file leave the disk alone, however many there are."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

COUNTED = """
import atexit, json, sys
counts = {}
def hook(event, arguments):
    if event in {"os.mkdir", "os.rmdir", "os.scandir", "subprocess.Popen", "tempfile.mkdtemp"}:
        counts[event] = counts.get(event, 0) + 1
    elif event == "open" and isinstance(arguments[0], str) and not arguments[0].endswith((".py", ".pyc")):
        counts["open"] = counts.get("open", 0) + 1
sys.addaudithook(hook)
atexit.register(lambda: open(sys.argv[-1], "w").write(json.dumps(counts)))
from skillgauge.cli.process import run
out, sys.argv = sys.argv[1], sys.argv[2:] + [sys.argv[1]]
code = run(sys.argv[:-1])
sys.exit(code)
"""
CASES = 12
EVENTS = ("os.mkdir", "os.rmdir", "os.scandir", "subprocess.Popen", "tempfile.mkdtemp", "open")


def counts(folder: Path, cases: int, *validators: str) -> dict[str, int]:
    """What an evaluation of that many cases did to the disk, by the names of Python's audit events."""
    suite = folder / f"{cases}" / "labels"
    suite.mkdir(parents=True)
    (suite / "SKILL.md").write_text("---\nname: labels\ndescription: Writes labels.\n---\n\nWrite the label.\n")
    made: list[dict[str, object]] = [
        {"name": f"c{n}", "prompt": f"label {n}", "expectations": [f"label {n}"]} for n in range(cases)
    ]
    for case in made:
        case.update({"validators": [{"cmd": command} for command in validators]} if validators else {})
    (suite / "eval.yaml").write_text(json.dumps({"cases": made}))
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "LANG": "C.UTF-8", "CI": "true"}
    words = ["eval", str(suite), "--engine", "mock", "--sandbox", "local", "--no-cache", "--quiet"]
    out = folder / f"{cases}.json"
    done = subprocess.run(
        [sys.executable, "-c", COUNTED, str(out), *words],
        cwd=suite.parent,
        env=environment,
        capture_output=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr.decode()
    return dict(json.loads(out.read_text()))


@pytest.mark.slow
@pytest.mark.e2e
def test_a_further_session_makes_no_folder(tmp_path: Path) -> None:
    """Twelve cases more, which are 24 sessions, make and look into no folder and start no process on their account."""
    few, many = counts(tmp_path, 2), counts(tmp_path, 2 + CASES)
    further = {event: many.get(event, 0) - few.get(event, 0) for event in EVENTS}
    assert max(further.values()) < CASES, (further, few, many)


@pytest.mark.slow
@pytest.mark.e2e
def test_commands_that_write_nothing_share_folders(tmp_path: Path) -> None:
    """Two commands more in each of 24 sessions, which only look, make no home for themselves: that is three folders."""
    command = 'test -n "$HOME"'
    one, three = counts(tmp_path / "1", CASES, command), counts(tmp_path / "3", CASES, command, command, command)
    assert three["subprocess.Popen"] - one["subprocess.Popen"] > 3 * CASES
    further = 2 * 2 * CASES
    assert three["os.mkdir"] - one["os.mkdir"] < 2 * further, (one, three)  # one attempt is at the root, which is there
