"""Real programs that print lines of JSON, by the configurations of the README, on a scripted model."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from skillgauge.api import FiredSkill
from skillgauge_testkit import ENGINES, Maker, ModelReply, ModelServer, in_turns, run_shell, use_skill
from skillgauge_testkit.agent_sessions import KEY, Given, play

pytestmark = [pytest.mark.e2e, pytest.mark.engine, pytest.mark.slow]

README = Path(__file__).parents[1] / "README.md"
SKILL = "greet-well"
make = Maker(ENGINES, "skillgauge_engine_command.plugin")


def described(program: str) -> dict[str, Any]:
    """Return the options that the README shows for a program."""
    blocks = [block.partition("```")[0] for block in README.read_text("utf-8").split("```yaml\n")[1:]]
    shown = [yaml.safe_load(block)["plugins"]["engines"]["command"] for block in blocks]
    (options,) = [options for options in shown if options["argv"][0] == program]
    return dict(options)


def addressed(program: str, address: str) -> dict[str, str]:
    """Return the variables by which a program asks the scripted model."""
    if program == "qwen":
        return {"OPENAI_BASE_URL": address}
    provider = {"options": {"baseURL": address}, "models": {"gpt-5.5": {}}}
    settings = {"provider": {"openai": provider}, "permission": {"*": "allow"}, "autoupdate": False}
    return {
        "OPENCODE_CONFIG_CONTENT": json.dumps(settings),
        "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
    }


@pytest.mark.parametrize("program", ["qwen", "opencode"])
def test_answer_skill_and_tokens_of_a_program(
    program: str, agent_program: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """R3-E5: the answer is the last text, the skill fired by its tool, and each kind equals the server's count."""
    path = agent_program(program)
    needed = {rg.parent for rg in path.parents[1].glob("@openai/codex-*/vendor/*/*/rg")}
    monkeypatch.setenv("PATH", os.pathsep.join([os.environ["PATH"], *map(str, needed)]))
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    script = in_turns(
        ModelReply("I look.", 1000, 20, tools=[use_skill(SKILL)]),
        ModelReply("", 100, 27, cache_read_tokens=900, thinking_tokens=7, tools=[run_shell("echo hi > hello.txt")]),
        ModelReply("Done.", 50, 16, thinking_tokens=5),
        aside=ModelReply("A title", 11, 3),
    )
    options = described(program)
    with ModelServer(script) as server:
        options |= {
            "argv": [str(path), *options["argv"][1:]],
            "env": addressed(program, f"{server.url}/v1"),
            "pass_env": ["OPENAI_API_KEY"],
        }
        given = Given(skill_folder=options["skill_folder"], skills=(SKILL,))
        played = play(make(options), server, "Say hello to Ann", given, model="gpt-5.5")
    execution = played.execution
    assert (execution.failure, execution.text) == (None, "Done."), execution
    assert played.files["hello.txt"] == b"hi\n"
    assert execution.trajectory
    assert execution.trajectory.skills_fired == (FiredSkill(name=SKILL, how="invoked"),)
    usage = execution.usage
    assert usage
    assert (usage.input_tokens, usage.cache_read_tokens, usage.output_tokens) == (1150, 900, 63)
    assert usage.reasoning_tokens == (12 if program == "opencode" else None)
    assert KEY not in execution.model_dump_json()
