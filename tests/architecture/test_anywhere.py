"""F-7: the tests pass as an ordinary user, and without the plugin that spreads them over processes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_ci_runs_them_as_an_ordinary_user() -> None:
    """Among the stages is one that runs `make test` by another account."""
    command = ["make", "--no-print-directory", "-n", "test-as-user"]
    made = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert made.stdout == "bash .ci/as_user test\n"
    lines = (ROOT / ".ci/run").read_text("utf-8").splitlines()
    (stages,) = (line for line in lines if line.startswith("for stage in"))
    assert {"test", "test-as-user", "slow"} <= set(stages.removesuffix("; do").split())
    assert "setpriv --reuid" in (ROOT / ".ci/as_user").read_text("utf-8")


def test_what_would_begin_too_late_is_left_out_and_named() -> None:
    """A CI that is cut off reports nothing: past the time that `.ci/run` sets no test begins, and the end says so."""
    command = [sys.executable, "-m", "pytest", "-p", "no:xdist", "-p", "no:cacheprovider", "-q"]
    command.append("tests/agents/test_gemini.py")  # which CI must not skip for any other reason
    environment = {**os.environ, "TESTS_UNTIL": "1", "CI": "true"}
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    late = [line for line in done.stdout.splitlines() if line.startswith("tests/agents/test_gemini.py::")]
    assert f"{len(late)} tests did not run: no time was left" in done.stdout
    assert late
    assert "passed" not in done.stdout


def test_xdist_is_not_needed() -> None:
    """Pytest starts where the plugin is blocked."""
    command = [sys.executable, "-m", "pytest", "-p", "no:xdist", "-p", "no:cacheprovider", "--collect-only", "-q"]
    command.append("core/tests/test_errors.py")
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
