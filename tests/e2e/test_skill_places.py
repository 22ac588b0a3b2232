"""Skills where they live: in the folders in which agents look for them."""

from __future__ import annotations

import shutil

import pytest

from .conftest import Scripted, letters

pytestmark = pytest.mark.e2e


@pytest.mark.parametrize(
    "place", [".claude", ".agents", ".codex", ".github", ".gemini", ".cursor", ".opencode", "packages/tool/.claude"]
)
def test_a_skill_is_found_where_its_agent_looks(scripted: Scripted, place: str) -> None:
    """R3-W-2: `eval .` in the repository evaluates it, beside those that lie in plain sight."""
    scripted.write(name="ship")
    home = scripted.work / place / "skills"
    home.mkdir(parents=True)
    shutil.move(scripted.work / "s", home / "s")
    scripted.script(letters("p"), letters("f"))
    plan = scripted.run("eval", ".", "--engine", "scripted", "--dry-run").stdout
    assert {line.split()[0] for line in plan.splitlines() if " with_skill " in line} == {"s", "ship"}
    assert "8 cases" in scripted.run("validate", ".").verdict
    done = scripted.run("eval", ".", "--engine", "scripted", "--case", "1", "--format", "record")
    assert len(scripted.sessions()) == 4, done.stdout


def test_a_skill_that_two_agents_share_is_run_once(scripted: Scripted) -> None:
    """R3-W-2: `.claude/skills` is a link to `.agents/skills`, as the vendors advise."""
    home = scripted.work / ".agents/skills"
    home.mkdir(parents=True)
    shutil.move(scripted.work / "s", home / "s")
    (scripted.work / ".claude").mkdir()
    (scripted.work / ".claude/skills").symlink_to("../.agents/skills")
    scripted.script(letters("p"), letters("f"))
    scripted.run("eval", ".", "--engine", "scripted", "--format", "record")
    assert len(scripted.sessions()) == 8
