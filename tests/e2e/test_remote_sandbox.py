"""A sandbox whose workspaces are on another machine, and who can work in it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from skillgauge_testkit.program import Program

pytestmark = pytest.mark.e2e

FAR = """
from skillgauge.api import Provider, SandboxReport, Tier, Traits, hookimpl
from skillgauge_testkit import TemporarySandbox


class Far(TemporarySandbox):
    async def check(self):
        return SandboxReport(Tier.NONE, is_remote=True)


@hookimpl
def skillgauge_sandboxes():
    yield Provider("far", Far, "Runs elsewhere.", traits=Traits(only_by_name=True))
"""
LOCAL = ("--engine", "command", "--set", 'engines.command.argv=["true"]')
ANYWHERE = ("--engine", "mock", "--set", 'engines.mock.replies=[{"text": "GOOD"}]')


@pytest.fixture
def skill(work: Path) -> str:
    """A skill with an eval, and the sandbox."""
    folder = work / "s/evals"
    folder.mkdir(parents=True)
    (work / "s/SKILL.md").write_text("---\nname: s\ndescription: Says good things.\n---\nSay GOOD.\n")
    good = {"text": "good", "type": "equals", "value": "GOOD"}
    (folder / "evals.json").write_text(
        json.dumps({"skill_name": "s", "evals": [{"id": 1, "prompt": "p", "assertions": [good]}]})
    )
    (work / "far.py").write_text(FAR)
    return "s"


def test_an_agent_of_this_machine_is_refused_there(program: Program, skill: str, work: Path) -> None:
    """It would prepare its agent in a folder that is not there: said before anything runs; a dry run shows the rest."""
    far = ("--plugin", "far.py", "--sandbox", "far")
    done = program("eval", skill, *far, *LOCAL)
    assert done.code == 2, done.stderr
    told = "error[sandbox.remote]: engine 'command' prepares its agent on this machine, and sandbox 'far' runs it"
    assert told in done.stderr
    assert not (work / "reports").exists()
    assert program("eval", skill, *far, *LOCAL, "--dry-run").code == 0
    assert "sandbox.remote" not in program("eval", skill, *LOCAL, "--dry-run").stderr


@pytest.mark.slow
def test_an_engine_that_needs_nothing_here_works_there(program: Program, skill: str) -> None:
    """It says so in its traits."""
    done = program("eval", skill, "--plugin", "far.py", "--sandbox", "far", *ANYWHERE)
    assert done.code == 0, done.stderr
