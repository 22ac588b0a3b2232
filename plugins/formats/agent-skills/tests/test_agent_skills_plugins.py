"""The plugin around a skill: told of, or installed whole in every arm."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from skillgauge.api import Loaded, LoadRequest, SkillRole, SuiteError
from skillgauge_testkit import FORMATS, Maker

FORMAT = Maker(FORMATS, "skillgauge_format_agent_skills.plugin")()
HOOKS = {"hooks": {"PreToolUse": [{"matcher": "Write", "hooks": [{"type": "command", "command": "sh guard.sh"}]}]}}


def skill(name: str) -> str:
    """Return the text of a skill."""
    return f"---\nname: {name}\ndescription: Use when a boat is to {name}.\n---\nDo it.\n"


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    """Return a plugin with two skills, of which one has evals, a command, an agent, hooks and a server."""
    evals = {"evals": [{"id": 1, "prompt": "Fold.", "expectations": ["It is folded."]}]}
    files = {
        ".claude-plugin/plugin.json": json.dumps({"name": "boats"}),
        "skills/fold/SKILL.md": skill("fold"),
        "skills/fold/evals/evals.json": json.dumps(evals),
        "skills/sail/SKILL.md": skill("sail"),
        "commands/launch.md": "---\ndescription: Launches.\n---\nLaunch.\n",
        "agents/captain.md": "---\nname: captain\ndescription: Leads.\n---\nLead.\n",
        "hooks/hooks.json": json.dumps(HOOKS),
        ".mcp.json": json.dumps({"mcpServers": {"sea": {"command": "sea"}}}),
        "guard.sh": "exit 0\n",
    }
    for name, text in files.items():
        path = tmp_path / "boats" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "boats"


def loaded(plugin: Path, **options: bool) -> Loaded:
    """Load the suite of the skill that has one."""
    return FORMAT.load(LoadRequest(paths=(str(plugin / "skills/fold"),), cwd=str(plugin), options=options))


def test_what_is_not_installed_is_told(plugin: Path) -> None:
    """R3-E10: one notice names the parts and the option that installs them."""
    (suite,) = loaded(plugin).suites
    (notice,) = suite.warnings
    assert notice.code == "suite.plugin-parts"
    assert notice.message == (
        "plugin 'boats' has more, which is not installed: 1 agent, 1 command, hooks, servers, another skill"
    )
    assert notice.hint == "Give --with-plugin to install it in every arm."
    assert [[one.name for one in arm.skills] for arm in suite.arms] == [["fold"], []]


def test_a_plugin_is_installed_whole(plugin: Path) -> None:
    """Both arms have all of it, and one of them the skill under test as well."""
    (suite,) = loaded(plugin, with_plugin=True).suites
    assert not suite.warnings
    candidate, baseline = suite.arms
    assert [(one.name, one.role) for one in candidate.skills] == [
        ("fold", SkillRole.CANDIDATE),
        ("sail", SkillRole.DISTRACTOR),
    ]
    assert [one.name for one in baseline.skills] == ["sail"]
    for arm in suite.arms:
        assert sorted(install.kind for install in arm.installs) == ["agent", "command", "hooks", "servers"]
    files = [file.path for install in candidate.installs for file in install.files]
    assert "guard.sh" in files
    assert not any("evals" in path for path in files), "answers are not installed"


def test_skills_alone_are_no_news(plugin: Path) -> None:
    """A plugin of nothing but skills says nothing."""
    for path in ("commands/launch.md", "agents/captain.md", "hooks/hooks.json", ".mcp.json"):
        (plugin / path).unlink()
    (suite,) = loaded(plugin).suites
    assert not suite.warnings


def test_a_plugin_that_cannot_be_read(plugin: Path) -> None:
    """It is refused where it would be installed, with its place, and only there."""
    (plugin / ".mcp.json").write_text("{")
    assert loaded(plugin).suites
    with pytest.raises(SuiteError):
        loaded(plugin, with_plugin=True)
