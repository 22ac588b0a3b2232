"""A suite that brings a Dockerfile: run where images run, and refused everywhere else, whatever format it has."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from skillgauge_testkit.program import Program

from .conftest import ROOT

pytestmark = pytest.mark.e2e

STAND_IN = ROOT / "plugins/sandboxes/docker/tests/stand_in.py"
GOOD = {"text": "good", "type": "equals", "value": "GOOD"}
FORMATS = {
    "agent-skills": {"skill_name": "s", "evals": [{"id": 1, "prompt": "p", "assertions": [GOOD]}]},
    "benchflow": {"skill_name": "s", "cases": [{"id": "1", "question": "p", "ground_truth": "GOOD"}]},
}
ENGINE = ("--engine", "mock", "--set", 'engines.mock.replies=[{"text": "GOOD"}]')


@pytest.fixture(params=FORMATS)
def suite(request: pytest.FixtureRequest, work: Path) -> str:
    """A skill with a Dockerfile beside its evals; the name of its format."""
    folder = work / "s/evals"
    folder.mkdir(parents=True)
    (work / "s/SKILL.md").write_text("---\nname: s\ndescription: Says good things.\n---\nSay GOOD.\n")
    (folder / "evals.json").write_text(json.dumps(FORMATS[request.param]))
    (folder / "Dockerfile").write_text("FROM python:3.12-slim\n")
    return str(request.param)


@pytest.mark.requirement("BF-ENV-001")
def test_a_sandbox_without_images_refuses_it(program: Program, suite: str, work: Path) -> None:
    """With the place and both ways on, before anything runs; a dry run shows the rest, and a check needs no daemon."""
    done = program("eval", "s", *ENGINE)
    assert done.code == 2, done.stderr
    assert "brings a Dockerfile for its image, and sandbox 'local' runs none" in done.stderr
    assert "s/evals/evals.json:" in done.stderr
    assert not (work / "reports").exists()
    dry = program("eval", "s", "--dry-run", *ENGINE)
    assert (dry.code, "sandbox 'local' runs none" in dry.stderr) == (0, True)
    checked = program("validate", "s")
    assert (checked.code, f"--set formats.{suite}.image=ignore" in checked.stdout + checked.stderr) == (0, True)


@pytest.mark.requirement("BF-ENV-001")
def test_the_image_can_be_left_out(program: Program, suite: str) -> None:
    """Then nothing is said of it, and any sandbox will do."""
    done = program("eval", "s", *ENGINE, "--set", f"formats.{suite}.image=ignore")
    assert done.code == 0, done.stderr
    assert "Dockerfile" not in done.stderr


@pytest.mark.requirement("BF-ENV-001")
def test_a_sandbox_with_images_builds_it(program: Program, suite: str, work: Path) -> None:
    """By a stand-in for the program, whose journal tells that the image was built and both arms ran in it."""
    assert suite
    docker = work / "docker"
    docker.write_text(f"#!{sys.executable} -IS\n{STAND_IN.read_text()}")
    docker.chmod(0o755)
    environment = {**program.environment, "DOCKER_STAND_IN": str(work / "daemon")}
    done = program(
        *("eval", "s", *ENGINE, "--sandbox", "docker", "--set", f"sandboxes.docker.program={docker}"), env=environment
    )
    assert done.code == 0, done.stderr
    journal = [json.loads(line) for line in (work / "daemon/journal").read_text().splitlines()]
    assert any("build" in str(line) for line in journal), journal
