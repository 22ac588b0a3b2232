"""A project with a skill, its evals, and an agent that plays a script."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

SKILL = "---\nname: greet\ndescription: Greets people in the house style.\n---\nWrite `Good day, NAME.` to hi.txt.\n"
INI = """
[pytest]
skillgauge_suites = skills/*/evals/evals.json
skillgauge_settings =
    engine=mock
    engines.mock.script=script.yaml
"""
SCRIPT = """
replies:
  - match: Ann
    skill: greet
    files: {hi.txt: "Good day, Ann."}
    text: Done.
  - match: Bob
    files: {hi.txt: "Good day, Bob."}
    text: Done.
  - match: Dan
    fail: auth
  - text: I do not know how.
"""


def evals(*names: str) -> str:
    """One eval for each name."""
    checks = [{"type": "command", "value": f"grep -q 'Good day, {name}.' hi.txt"} for name in names]
    found = [
        {"id": at, "prompt": f"Greet {name}.", "assertions": [check]}
        for at, (name, check) in enumerate(zip(names, checks, strict=True), 1)
    ]
    return json.dumps({"skill_name": "greet", "evals": found}, indent=2)


@pytest.fixture
def project(pytester: pytest.Pytester, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder; the skill helps Ann, is not needed for Bob, and nobody greets Cid."""
    monkeypatch.setenv("HOME", environment["HOME"])
    folder = pytester.path / "skills/greet"
    (folder / "evals").mkdir(parents=True)
    (folder / "SKILL.md").write_text(SKILL)
    (folder / "evals/evals.json").write_text(evals("Ann", "Bob", "Cid"))
    (pytester.path / "pytest.ini").write_text(INI)
    (pytester.path / "script.yaml").write_text(SCRIPT)
    return pytester.path
