"""Skills where they live: in the folders in which agents look for them."""

from __future__ import annotations

import shutil

import pytest

from .conftest import Scripted, letters

pytestmark = pytest.mark.e2e


@pytest.mark.slow
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


def test_skills_of_one_name_are_told_apart_by_plugin(scripted: Scripted) -> None:
    """R3-W-15: both are run, named by plugin, else by its folder; elsewhere the second is refused."""
    for plugin, manifest in (("alpha", '{"name": "writing-tools"}'), ("beta", "{}")):
        skills = scripted.work / "plugins" / plugin / "skills"
        shutil.copytree(scripted.work / "s", skills / "s")
        (skills.parent / ".claude-plugin").mkdir()
        (skills.parent / ".claude-plugin/plugin.json").write_text(manifest)
    scripted.script(letters("p"), letters("f"))
    done = scripted.run("eval", "plugins", "--engine", "scripted", "--format", "record")
    assert len(scripted.sessions()) == 16
    assert "s · writing-tools:s · with_skill" in done.stdout
    assert "s · beta:s · with_skill" in done.stdout
    alone = scripted.run("validate", "plugins/alpha", "--json").document
    assert [suite["id"] for suite in alone["plan"]["suites"]] == ["s"]
    shutil.copytree(scripted.work / "s", scripted.work / "more/s")
    refused = scripted.run("validate", "s", "more/s", code=2)
    assert "a skill 's' was found before" in refused.stderr


def test_skills_without_evals_are_counted(scripted: Scripted) -> None:
    """A search names the skills beside those with evals that have none; a skill that was named does not (R3-F10)."""
    for name in ("bare", "other"):
        (scripted.work / name).mkdir()
        (scripted.work / name / "SKILL.md").write_text(f"---\nname: {name}\ndescription: Does things.\n---\n")
    told = scripted.run("validate", ".").stderr
    assert "2 of 3 skills beside each other have no evals: bare, other" in told
    assert "skillgauge init" in told
    assert "no evals" not in scripted.run("validate", "s").stderr


def test_a_skill_is_named_by_its_file(scripted: Scripted) -> None:
    """SKILL.md stands for its folder, as people paste it from an editor."""
    assert "valid: 1 suite, 4 cases" in scripted.run("validate", "s/SKILL.md").verdict
    scripted.script(letters("p"), letters("f"))
    scripted.run("eval", "s/SKILL.md", "--engine", "scripted", "--format", "record")
    assert len(scripted.sessions()) == 8
