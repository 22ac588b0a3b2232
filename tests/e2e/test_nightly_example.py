"""`examples/nightly`: its script, its README and its workflow say the same, and all of it works."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from skillgauge_testkit.program import Program

pytestmark = [pytest.mark.e2e, pytest.mark.slow]
EXAMPLE = Path(__file__).parents[2] / "examples/nightly"
TIME_LIMIT_S = 300


def test_ten_nights(program: Program, work: Path) -> None:
    """The wavering case is named with its rate, the mended skill shows where it was mended, and the gate holds."""
    place = work / "nightly"
    shutil.copytree(EXAMPLE, place)
    path = f"{Path(sys.executable).parent}{os.pathsep}{program.environment['PATH']}"
    done = subprocess.run(
        ["sh", "-e", "try.sh"],
        cwd=place,
        env={**program.environment, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
        timeout=TIME_LIMIT_S,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    shown = " ".join(done.stdout.split())
    for part in (
        "commit-messages · with_skill 10 ▇▇██▇█▇██▇ 75.0% 30.1% to 95.4% 4 -25.0",
        "iso-dates · with_skill 10 ▅▅▅▅▅█████ 100.0% 34.2% to 100.0% 2 0.0",
        "ticket commit-messages · with_skill 5 of 10 50.0% 23.7% to 76.3% ffppfpfppf",
        "reason: passed 5 of 10 (23.7% to 76.3%) in 10 runs though nothing changed",
        "commit-messages · with_skill · command: two runs of a case disagree in 13.9%",
    ):
        assert part in shown, part
    mended = next(line for line in done.stdout.splitlines() if line.endswith("files") and "+100.0" in line)
    assert "+50.0" in mended
    assert "imported 20 runs into history.db" in done.stderr
    assert "imported 0 runs into history.db, 20 had been imported before" in done.stderr
    assert done.stderr.splitlines()[-1].startswith("gate met: ")
    page = next(
        page.read_text() for page in (place / "pages").glob("*.html") if "iso-dates from run" in page.read_text()
    )
    assert '<path class="change"' in page


def test_the_workflow_does_what_the_script_does() -> None:
    """Its last job has the commands that the script ends with, and the README shows them and their answers."""
    script, readme = ((EXAMPLE / name).read_text() for name in ("try.sh", "README.md"))
    workflow = yaml.safe_load((EXAMPLE / ".github/workflows/nightly.yml").read_text())
    skills = workflow["jobs"]["evaluate"]["strategy"]["matrix"]["skill"]
    assert skills == sorted(path.name for path in (EXAMPLE / "skills").iterdir())
    runs = [step["run"] for step in workflow["jobs"]["history"]["steps"] if "run" in step]
    commands = re.findall(r"skillgauge history .*", "\n".join(runs))
    assert len(commands) == 4
    for command in commands:
        assert f"\n{command}\n" in script
        assert f"\n{command}\n" in readme
    (evaluates,) = (step for step in workflow["jobs"]["evaluate"]["steps"] if "eval" in step.get("run", ""))
    assert "--store none --format record --output-dir" in evaluates["run"]
    assert "${{" not in evaluates["run"], "what a matrix holds reaches the shell as a variable"
