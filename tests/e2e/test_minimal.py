"""The main job with the core and one plugin of each kind it needs, from wheels, in a clean environment."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import wheels as ci_wheels

from .conftest import ROOT

NEEDED = (
    "skillgauge-format-eval-skills",
    "skillgauge-adapter-subprocess",
    "skillgauge-scorer-exact",
    "skillgauge-sandbox-local",
)


@pytest.mark.e2e
@pytest.mark.slow
def test_core_and_one_of_each_do_the_main_job(tmp_path: Path, environment: dict[str, str]) -> None:
    """Without a store the run is kept in memory, --json shows it all, and what is absent names its install line."""
    built = ci_wheels.build(tmp_path / "wheels")
    constraints = ci_wheels.constraints_for(built, tmp_path)
    ci_wheels.must(ci_wheels.UV, "venv", "--quiet", "--python", sys.executable, "venv", cwd=tmp_path)
    python = tmp_path / "venv" / "bin" / "python"
    install = (ci_wheels.UV, "pip", "install", "--quiet", "--python", python, "--constraint", constraints)
    ci_wheels.must(*install, *NEEDED, cwd=tmp_path)
    work = tmp_path / "empty"
    work.mkdir()
    skill = ROOT / "examples" / "skills" / "calculator"

    def run(*arguments: str) -> subprocess.CompletedProcess[bytes]:
        program = tmp_path / "venv" / "bin" / "skillgauge"
        command = [str(program), "eval", "--skills", str(skill), *arguments]
        environ = environment | {"PATH": f"{program.parent}{os.pathsep}{environment['PATH']}"}
        return subprocess.run(command, cwd=work, env=environ, capture_output=True, check=False)

    done = run("--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["summary"]["counts"]["passed"] == 20
    assert len(document["results"]) == 20
    codes = {problem["code"] for problem in document["problems"]}
    assert "store.none" in codes
    absent = run("--format", "markdown")
    assert absent.returncode == 2
    assert b"pip install skillgauge-reporter-markdown" in absent.stderr
    absent = run("--store", "runs.db")
    assert absent.returncode == 2
    assert b"pip install skillgauge-store-sqlite" in absent.stderr
    listed = subprocess.run(
        [str(python), "-m", "skillgauge", "plugins", "list", "--json"], env=environment, capture_output=True, check=True
    )
    assert {one["distribution"] for one in json.loads(listed.stdout)["plugins"]} == set(NEEDED)
