"""Programs that nobody described: what a probe sees of them, and that its configuration makes an engine."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from skillgauge_command_engines.model import ANSWER, Counts, ScriptedModel
from skillgauge_testkit.program import Program

pytestmark = pytest.mark.e2e
STAND_IN = [sys.executable, "-S", str(Path(__file__).parent / "stand_in.py")]


def configured(document: dict[str, Any], kind: str) -> dict[str, Any]:
    """The options of an engine in the configuration that was printed."""
    engine: dict[str, Any] = yaml.safe_load(document["configuration"])["plugins"]["engines"][kind]
    return engine


def test_an_agent_of_the_protocol(program: Program) -> None:
    """Its name, where it finds skills, by what it loads them and how it tells tokens."""
    done = program("engines", "probe", "--json", "--", *STAND_IN, "acp")
    assert done.code == 0, done.stderr
    document = done.document
    seen = {name: document[name] for name in ("name", "version", "answers", "skill_folder", "skill_tool", "trouble")}
    assert seen == {
        "name": "stand-in",
        "version": "1.2.3",
        "answers": True,
        "skill_folder": ".agents/skills",
        "skill_tool": "Using skill",
        "trouble": None,
    }
    (options,) = configured(document, "acp")["agents"].values()
    assert options["argv"] == [*STAND_IN, "acp"]
    assert (options["agent_name"], options["usage"]) == ("stand-in", "final")
    assert options["env"]["OPENAI_BASE_URL"] == "{address}"


def test_a_program_that_is_run_to_its_end(program: Program) -> None:
    """Answer, tokens of each kind and skills are found in its lines of JSON."""
    done = program("engines", "probe", "--json", "--", *STAND_IN, "json", "{prompt}")
    assert done.code == 0, done.stderr
    options = configured(done.document, "command")
    assert options == {
        "argv": [*STAND_IN, "json", "{prompt}"],
        "skill_folder": ".agents/skills",
        "skill_tool": "skill",
        "answer_key": "part.text",
        "answer_where": {"type": "text"},
        "usage_where": {"type": "step"},
        "usage_keys": {
            "input_tokens": "part.tokens.in",
            "output_tokens": "part.tokens.out",
            "cache_read_tokens": "part.tokens.cached",
        },
        "pass_env": ["OPENAI_API_KEY"],
    }


@pytest.mark.slow
def test_what_was_printed_runs_an_evaluation(program: Program, work: Path) -> None:
    """Pasted as it is; the agent works on a model of this machine, and what it told is in the result."""
    described = program("engines", "probe", "--json", "--", *STAND_IN, "json", "{prompt}").document["configuration"]
    (work / "skillgauge.config.yaml").write_text(described)
    skill = work / "probe-agents"
    (skill / "evals").mkdir(parents=True)
    cases = [{"id": 1, "prompt": "Say it", "should_trigger": True}]
    (skill / "evals/evals.json").write_text(json.dumps({"skill_name": "probe-agents", "evals": cases}))
    (skill / "SKILL.md").write_text("---\nname: probe-agents\ndescription: Says what it says.\n---\nSay it.\n")
    with ScriptedModel(["probe-agents"]) as model:
        command = ("eval", str(skill), "--check", f'contains={{"keywords": ["{ANSWER}"]}}')
        options = ("--engine", "command", "--trust-config", "--sandbox", "local", "--json")
        env = {"OPENAI_API_KEY": "k" * 20}
        setting = ("--set", f"engines.command.env={json.dumps({'OPENAI_BASE_URL': model.address})}")
        done = program(*command, *options, *setting, env=env)
    assert done.code in (0, 1), done.stderr
    sessions = [one["execution"] for one in done.document["results"]]
    fired = [[skill["name"] for skill in one["trajectory"]["skills_fired"]] for one in sessions]
    assert ["probe-agents"] in fired
    assert sum(one["usage"]["output_tokens"] for one in sessions) == Counts.total(model.calls).output


def test_a_program_that_asks_another_server(program: Program) -> None:
    """Unknown is what is not seen; a variable tells it of the local model."""
    away = ("--env", "STAND_IN_SERVER=http://127.0.0.1:9")
    done = program("engines", "probe", "--json", *away, "--", *STAND_IN, "acp")
    assert done.code == 3
    assert (done.document["answers"], done.document["skill_tool"], done.document["tells_tokens"]) == (
        False,
        None,
        False,
    )
    assert "session/prompt" in done.document["trouble"]
    (options,) = configured(done.document, "acp")["agents"].values()
    assert set(options) == {"argv", "agent_name"}
    near = ("--env", "STAND_IN_SERVER={address}")
    assert program("engines", "probe", "--json", *near, "--", *STAND_IN, "acp").document["answers"]


@pytest.mark.slow
def test_a_program_that_does_nothing_is_ended(program: Program, work: Path) -> None:
    """The time is bounded, and no process is left."""
    mark = work / "pid"
    done = program("engines", "probe", "--limit", "4", "--", *STAND_IN, "hang", mark)
    assert done.code == 3
    assert "stopped: no answer to initialize" in done.stdout
    pid = mark.read_text()
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return
    assert state == "Z"


@pytest.mark.parametrize(
    ("words", "message"),
    [(("--", "no-such-program-of-mine", "acp"), "cannot be started"), (("--env", "x", "--", "sh"), "no NAME=VALUE")],
)
def test_what_cannot_be_tried(program: Program, words: tuple[str, ...], message: str) -> None:
    """Nothing is run, and the message says what to write."""
    done = program("engines", "probe", *words)
    assert done.code == 2
    assert message in done.stderr


@pytest.mark.engine
@pytest.mark.slow
def test_a_real_program(program: Program, agent_program: Callable[[str], Path], work: Path) -> None:
    """Qwen Code, of which the probe finds what its preset says."""
    settings = work / "home/.qwen/settings.json"
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps({"security": {"auth": {"selectedType": "openai"}}}))
    words = (agent_program("qwen"), "--acp", "--yolo")
    done = program("engines", "probe", "--json", "--limit", "300", "--home", work / "home", "--", *words, timeout_s=400)
    assert done.code == 0, done.stdout
    (options,) = configured(done.document, "acp")["agents"].values()
    assert (options["agent_name"], options["skill_tool"], options["usage"]) == ("qwen-code", "skill", "messages")
