"""The GitHub Action on a machine that has Python and nothing else: it installs what it runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from github_runner import ROOT, Runner


@pytest.mark.e2e
@pytest.mark.slow
def test_the_action_installs_skillgauge(work: Path, user: dict[str, str], tmp_path: Path) -> None:
    """A chosen version in an environment of its own; the job's programs stay what they are."""
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

    for hostile in ({"version": "0.1.0; touch owned"}, {"packages": "--editable=."}):
        played = runner.action(ROOT / "action", inputs | hostile)
        assert played.code, played.log
        assert played.ran == ["Install skillgauge"]
    assert not list(tmp_path.glob("**/owned"))
