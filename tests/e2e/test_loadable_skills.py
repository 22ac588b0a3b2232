"""Skills with tools in their front matter, through the whole program: loaded by default, and named if they are not."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skillgauge_testkit import ModelReply, ModelRequest, ModelServer, ToolCall
from skillgauge_testkit.program import Done, Program

pytestmark = [pytest.mark.e2e, pytest.mark.engine, pytest.mark.slow]

KEY = "made-up-key-of-the-tests-0123456789"
QUERIES = [{"query": "Tell me of apples", "should_trigger": True}]
NAMES = ("apples", "pears")
LOCAL = ("--sandbox", "local", "--concurrency", "2", "--runs", "1")
Evaluate = Callable[..., Done]


def asking(request: ModelRequest) -> ModelReply:
    """Ask for the skill under test, or for the one beside it where it is missing, and then answer."""
    if request.turn:
        return ModelReply("Apples.")
    name = "pears" if "apples" not in request.skills and "pears" in request.skills else "apples"
    return ModelReply(tools=[ToolCall("Skill", {"skill": name})])


@pytest.fixture
def evaluate(program: Program, work: Path, agent_program: Callable[[str], Path]) -> Evaluate:
    """Evaluate a query of a skill with `allowed-tools`, beside another, with Claude Code and a scripted model."""
    for name, folder in zip(NAMES, ("apples", "others/pears"), strict=True):
        (work / folder).mkdir(parents=True)
        front = f"name: {name}\ndescription: All about {name}.\nallowed-tools: Read, Write, Bash(python:*)\n"
        (work / folder / "SKILL.md").write_text(f"---\n{front}---\nSay {name}.\n")
    (work / "apples/evals").mkdir()
    (work / "apples/evals/trigger-eval.json").write_text(json.dumps(QUERIES))

    def call(*arguments: str, **options: Any) -> Done:
        with ModelServer(asking) as server:
            chosen = {"program": agent_program("claude"), "base_url": server.url, "api_retries": 0, **options}
            settings = [
                word for key, value in chosen.items() for word in ("--set", f"engines.claude-code.{key}={value}")
            ]
            command = ["eval", "apples", "--engine", "claude-code", *LOCAL, *settings, *arguments]
            return program.process(*command, env={"ANTHROPIC_API_KEY": KEY}, timeout_s=300)

    return call


def test_a_skill_with_allowed_tools_fires(evaluate: Evaluate) -> None:
    """Beside a distractor that asks for tools as well, and although the user narrows what the agent may do."""
    done = evaluate("--with-skills", "others", "--json", allowed_tools='["Bash(git:*)"]')
    assert done.code == 0, done.stdout + done.stderr
    fired = {
        one["arm"]: [skill["name"] for skill in one["execution"]["trajectory"]["skills_fired"]]
        for one in done.document["results"]
    }
    assert fired["with_skill"] == ["apples"]
    assert {one["execution"]["arm_integrity"] for one in done.document["results"]} == {"verified"}


@pytest.mark.parametrize("rule", ["Skill", "Skill(apples)"])
def test_a_denied_load_is_an_error_that_the_terminal_names(evaluate: Evaluate, rule: str) -> None:
    """Not a fail, and not a skill that never fired: skill, reason and remedy are said, and the run is invalid."""
    settings = json.dumps({"permissions": {"deny": [rule]}})
    done = evaluate("--format", "record", settings=settings)
    assert done.code == 3, done.stdout + done.stderr
    told = " ".join(done.stderr.split())
    assert "skill 'apples' could not be loaded: the session's permissions" in told
    assert "Take Skill out of permissions.deny" in told
    assert "never fired" not in told


def test_a_denied_load_is_an_error_of_the_set_up(evaluate: Evaluate) -> None:
    """The verdict, the class and the blame are those of broken surroundings, whatever the checks would say."""
    settings = json.dumps({"permissions": {"deny": ["Skill(apples)"]}})
    done = evaluate("--json", settings=settings)
    (result,) = [one for one in done.document["results"] if one["arm"] == "with_skill"]
    failure = result["execution"]["failure"]
    assert (result["verdict"], failure["failure_class"], failure["blame"]) == ("error", "setup", "infrastructure")
