"""The job of docs/ci.md, carried out."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from skillgauge_testkit import ModelReply, ModelRequest, ModelServer
from skillgauge_testkit.program import Program

from .conftest import ROOT
from .judge_replies import claims_reply

KEY = "canary-of-a-key-0123456789"


@pytest.fixture(scope="module")
def job() -> dict[str, Any]:
    """The workflow that runs at night; test_ci_jobs plays the others."""
    texts = re.findall(r"```yaml\n(.*?)```", (ROOT / "docs/ci.md").read_text(), re.S)
    (found,) = (one for one in map(yaml.safe_load, texts) if "schedule" in one.get(True, ()))
    return dict(found)


def lines(job: dict[str, Any]) -> list[str]:
    """What the job runs."""
    return [step["run"] for step in job["jobs"]["evals"]["steps"] if "run" in step]


@pytest.mark.requirement("UA-TIER-005")
def test_evals_run_at_night_and_before_a_release(job: dict[str, Any]) -> None:
    """And not at every push; what needs no model is told to."""
    assert set(job[True]) == {"schedule", "release", "workflow_dispatch"}  # YAML takes the key `on` for a boolean
    assert "belong in every push" in (ROOT / "docs/ci.md").read_text()


@pytest.mark.requirement("BF-RUN-008")
def test_one_line_installs(job: dict[str, Any]) -> None:
    """There is nothing but a line that installs and one that runs, and everything that is installed exists."""
    install, run = lines(job)
    assert "\n" not in install + run
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    installer, verb, *wanted = shlex.split(install)
    assert (installer, verb) == ("pip", "install")
    members = {tomllib.loads(path.read_text())["project"]["name"] for path in ROOT.glob("plugins/*/*/pyproject.toml")}
    for one in wanted:
        name, _, extra = one.rstrip("]").partition("[")
        assert name == project["name"] or name in members
        assert not extra or extra in project["optional-dependencies"]


@pytest.mark.slow
@pytest.mark.e2e
@pytest.mark.requirement("BF-RUN-008")
@pytest.mark.parametrize(("holds", "code"), [(True, 0), (False, 1)])
def test_one_line_runs(job: dict[str, Any], program: Program, work: Path, holds: bool, code: int) -> None:
    """In a repository that is a skill, with one key: 0 if enough passed, else 1."""
    _, line = lines(job)
    name, *arguments = shlex.split(line)
    assert name == "skillgauge"
    skill = work / "greetings"
    (skill / "evals").mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: greetings\ndescription: Greets.\n---\n")
    evals = [{"id": 1, "prompt": "Greet.", "assertions": ["It greets."]}]
    (skill / "evals/evals.json").write_text(json.dumps({"skill_name": "greetings", "evals": evals}))

    def answer(request: ModelRequest) -> ModelReply:
        return ModelReply("hello" if "tools" in request.body else claims_reply(request, holds, quote="hello"), 100, 10)

    with ModelServer(answer) as server:
        places = [f"engines.api.base_url={server.url}", "engines.api.provider=anthropic"]
        places.append(f"judges.anthropic.base_url={server.url}")
        to_server = [part for place in places for part in ("--set", place)]
        done = program(*arguments, *to_server, cwd=skill, env={"ANTHROPIC_API_KEY": KEY})
        assert len(server.requests) == 2  # the arm with the skill, and its judge
    assert done.code == code, done.stderr
