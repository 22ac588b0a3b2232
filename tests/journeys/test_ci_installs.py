"""The GitHub Action and the hook for pre-commit where there is Python and nothing else: they install what they run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from github_runner import ROOT, Runner

from ..e2e.hostile_checkout import HostileCheckout


@pytest.mark.e2e
@pytest.mark.slow
def test_the_action_installs_skillgauge(work: Path, user: dict[str, str], tmp_path: Path) -> None:
    """A chosen version, in an environment of its own; the job's programs stay as they are, and no module runs."""
    hostile = HostileCheckout(work, tmp_path / "trace")
    (work / "greetings/evals").mkdir(parents=True)
    (work / "greetings/SKILL.md").write_text("---\nname: greetings\ndescription: Greets.\n---\n")
    evals = [{"id": "hello", "prompt": "Greet.", "assertions": [{"type": "contains", "value": "hello"}]}]
    (work / "greetings/evals/evals.json").write_text(json.dumps({"skill_name": "greetings", "evals": evals}))
    (work / "mock.yaml").write_text(yaml.safe_dump({"replies": [{"text": "hello"}]}))
    runner = Runner(work, tmp_path, user, github={"token": ""})
    inputs = {"paths": "greetings", "engine": "mock", "gate": "1", "args": "--set=engines.mock.script=mock.yaml"}

    played = runner.action(ROOT / "action", inputs | {"version": "0.1.0", "packages": "skillgauge-judge-mock\n"})
    assert played.code == 0, played.log
    assert played.outputs["verdict"] == "passed"
    assert not (tmp_path / "bin/skillgauge").exists()
    assert hostile.executed() == []

    for hostile in ({"version": "0.1.0; touch owned"}, {"packages": "--editable=."}):
        played = runner.action(ROOT / "action", inputs | hostile)
        assert played.code, played.log
        assert played.ran == ["Install skillgauge"]
    assert not list(tmp_path.glob("**/owned"))


@pytest.mark.e2e
@pytest.mark.slow
def test_pre_commit_installs_skillgauge(work: Path, user: dict[str, str], tmp_path: Path) -> None:
    """From the repository's own files, in an environment that pre-commit makes for it."""
    source = tmp_path / "skillgauge"
    source.mkdir()
    for name in (".pre-commit-hooks.yaml", "pyproject.toml", "README.md"):
        (source / name).write_bytes((ROOT / name).read_bytes())
    variables = user | {"GIT_CONFIG_GLOBAL": "/dev/null"}

    def run(*command: str, cwd: Path = work) -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, cwd=cwd, env=variables, capture_output=True, text=True, check=False)

    git = ("git", "-c", "user.name=A", "-c", "user.email=a@example.org")
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "release"), ("tag", "v0.1.0")):
        done = run(*git, *words, cwd=source)
        assert done.returncode == 0, done.stderr
    repos = [{"repo": str(source), "rev": "v0.1.0", "hooks": [{"id": "skillgauge-validate"}]}]
    (work / ".pre-commit-config.yaml").write_text(yaml.safe_dump({"repos": repos}))
    (work / "greet/evals").mkdir(parents=True)
    (work / "greet/evals/evals.json").write_text('{"skill_name": "greet", "evals": [{"id": 1}]}')
    run(*git, "init", "-q")
    run(*git, "add", "-A")
    done = run(sys.executable, "-m", "pre_commit", "run", "--color=never")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "evals.json:1:2: error[suite.no-skill]" in done.stdout, done.stdout + done.stderr
