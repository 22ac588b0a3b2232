"""Formats from wheels: each runs alone beside the core, and the removal of one leaves the others as they were."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import wheels as ci_wheels
from members import plugins

from .conftest import ROOT

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

FORMATS = ("agent-skills", "benchflow", "eval-skills", "skillevaluation", "uaaps")
OTHERS = ("adapter-command", "adapter-subprocess", "command-test", "engine-mock", "sandbox-local")
"""What the suites below need beside scorers."""
REPLIES = json.dumps([{"skill": "s", "text": "GOOD"}, {"text": "BAD"}])
AGENT = ("--engine", "mock", "--set", f"engines.mock.replies={REPLIES}")
COMMANDS = {
    "agent-skills": ("eval", "agent-skills", *AGENT),
    "benchflow": ("eval", "benchflow", *AGENT),
    "eval-skills": ("eval", "--skills", str(ROOT / "examples/skills/calculator")),
    "skillevaluation": ("eval", "skillevaluation", *AGENT),
    "uaaps": ("test", "uaaps"),
}
GOOD = {"text": "good", "type": "equals", "value": "GOOD"}


@dataclass(frozen=True)
class Installed:
    """An environment with the program, and a folder with one suite of each format."""

    folder: Path
    work: Path
    environment: dict[str, str]
    constraints: Path

    @property
    def python(self) -> Path:
        """The interpreter of the environment."""
        return self.folder / "venv/bin/python"

    def pip(self, *words: str) -> None:
        """Install or uninstall distributions of ours."""
        locked = ("--constraint", self.constraints) if words[0] == "install" else ()
        command = (ci_wheels.UV, "pip", words[0], "--quiet", "--python", self.python, *locked)
        ci_wheels.must(*command, *(f"skillgauge-{word}" for word in words[1:]), cwd=self.folder)

    def run(self, *command: str) -> tuple[int, Any]:
        """The exit code and the document of a command that keeps nothing."""
        words = [self.python, "-m", "skillgauge", *command, "--json"]
        done = subprocess.run(words, cwd=self.work, env=self.environment, capture_output=True, check=False)
        assert done.stdout, done.stderr
        return done.returncode, json.loads(done.stdout)

    def outcome(self, name: str) -> tuple[int, list[str]]:
        """How the suite of a format ends, and what became of every trial."""
        code, document = self.run(*COMMANDS[name], "--store", "none")
        return code, sorted(_verdicts(document))


def _verdicts(value: Any) -> Iterator[str]:
    """Whatever holds a verdict, with what tells which one it is."""
    if isinstance(value, dict):
        if isinstance(value.get("verdict"), str) and "schema_version" not in value:
            names = (value.get(name) for name in ("suite_id", "case_id", "name", "arm", "repeat", "verdict"))
            yield " ".join(str(name) for name in names)
        for item in value.values():
            yield from _verdicts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _verdicts(item)


def _suites(work: Path) -> None:
    """One small suite for each format that has none in the repository."""
    for name in ("agent-skills", "benchflow", "skillevaluation"):
        (work / name / "evals").mkdir(parents=True)
        (work / name / "SKILL.md").write_text("---\nname: s\ndescription: Says good things.\n---\nSay GOOD.\n")
    evals = {"skill_name": "s", "evals": [{"id": 1, "prompt": "p", "assertions": [GOOD]}]}
    (work / "agent-skills/evals/evals.json").write_text(json.dumps(evals))
    cases = {"skill_name": "s", "cases": [{"id": "1", "question": "p", "ground_truth": "GOOD"}]}
    (work / "benchflow/evals/evals.json").write_text(json.dumps(cases))
    shutil.rmtree(work / "skillevaluation/evals")
    (work / "skillevaluation/eval.yaml").write_text(
        "cases: [{name: one, prompt: p, validators: [{cmd: grep -q GOOD response.txt}]}]\n"
    )
    shutil.copytree(ROOT / "plugins/formats/uaaps/tests/data/word-tools", work / "uaaps")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """All formats, from wheels, in a clean environment."""
    folder = tmp_path_factory.mktemp("wheels").resolve()
    constraints = ci_wheels.constraints_for(ci_wheels.build(folder / "wheels"), folder)
    ci_wheels.must(ci_wheels.UV, "venv", "--quiet", "--python", sys.executable, "venv", cwd=folder)
    work = folder / "work"
    work.mkdir()
    _suites(work)
    environment = {"PATH": f"{folder}/venv/bin{os.pathsep}{os.defpath}", "HOME": str(folder), "LANG": "C.UTF-8"}
    found = Installed(folder, work, environment, constraints)
    scorers = [one.folder.name for one in plugins() if one.folder.parent.name == "scorers"]
    found.pip("install", *OTHERS, *(f"scorer-{name}" for name in scorers), *(f"format-{name}" for name in FORMATS))
    return found


@pytest.mark.parametrize("removed", ["uaaps", "benchflow", "skillevaluation"])
def test_the_removal_of_a_format(installed: Installed, removed: str) -> None:
    """Every other suite ends as before, trial by trial; its own is refused, and after it came back runs again."""
    before = {name: installed.outcome(name) for name in FORMATS}
    assert {name: code for name, (code, _) in before.items()} == dict.fromkeys(FORMATS, 0)
    assert all(verdicts for _, verdicts in before.values())
    installed.pip("uninstall", f"format-{removed}")
    try:
        _, listed = installed.run("plugins", "list")
        assert f"skillgauge-format-{removed}" not in {one["distribution"] for one in listed["plugins"]}
        rest = [name for name in FORMATS if name != removed]
        assert {name: installed.outcome(name) for name in rest} == {name: before[name] for name in rest}
        code, document = installed.run(*COMMANDS[removed], "--store", "none")
        assert code in (2, 5), document
    finally:
        installed.pip("install", f"format-{removed}")
    assert installed.outcome(removed) == before[removed]


@pytest.mark.parametrize("name", ["uaaps", "benchflow", "skillevaluation"])
def test_a_format_alone_beside_the_core(installed: Installed, name: str) -> None:
    """Its suite runs as it does among all others."""
    among_all = installed.outcome(name)
    others = [f"format-{other}" for other in FORMATS if other != name]
    installed.pip("uninstall", *others)
    try:
        assert installed.outcome(name) == among_all
    finally:
        installed.pip("install", *others)
