"""Sessions that the real programs keep by themselves are read and graded: with further turns, and without an answer."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from skillgauge_testkit import ModelFault, ModelReply, ModelServer, in_turns, run_shell, use_skill
from skillgauge_testkit.agent_sessions import SKILL
from skillgauge_testkit.program import Done, Program

from .conftest import Agent

pytestmark = [pytest.mark.e2e, pytest.mark.engine, pytest.mark.slow]

PROMPT, FURTHER = "Say hello to Ann", "And now to Bob"
QUERIES = '[{"query": "Say  hello\\nto Ann", "should_trigger": true}, {"query": "And?", "should_trigger": false}]'


@dataclass(frozen=True)
class User:
    """Asks an agent in a folder of his own, and leaves its sessions in a home of his own."""

    agent: Agent
    folder: Path

    def asks(self, *script: ModelReply, goes_on: bool = False) -> None:
        """Have a session played to its end, or a further turn of the only one there is."""
        home, workspace, temporary = (self.folder / name for name in ("home", "workspace", "tmp"))
        skill = workspace / self.agent.skills / "greet-well/SKILL.md"
        for place in (home, temporary, skill.parent):
            place.mkdir(parents=True, exist_ok=True)
        skill.write_text(SKILL)
        with ModelServer(in_turns(*script)) as server:
            command = list(map(str, self.agent.arguments(server, workspace)))
            if goes_on:
                (session,) = home.rglob("*.jsonl")
                command = _further(command, session.stem[-36:])
            clean = {"PATH": os.environ["PATH"], "HOME": str(home), "TMPDIR": str(temporary), "LANG": "C.UTF-8"}
            variables = {**clean, **self.agent.environment(server, home)}
            streams: dict[str, Any] = {"stdin": subprocess.DEVNULL, "capture_output": True}
            subprocess.run(command, cwd=workspace, env=variables, check=False, timeout=120, **streams)


def _further(command: list[str], session: str) -> list[str]:
    at = command.index(PROMPT)
    if command[1] == "exec":
        return [*command[:at], "resume", session, FURTHER]
    return [*command[:at], FURTHER, *command[at + 1 :], "--resume", session]


@pytest.fixture
def grade(tmp_path: Path) -> Callable[..., Done]:
    """Grades what lies below the folder of the test, in a folder beside it."""
    work = tmp_path / "work"
    (work / "greet-well/evals").mkdir(parents=True)
    (work / "greet-well/SKILL.md").write_text(SKILL)
    (work / "greet-well/evals/trigger_evals.json").write_text(QUERIES)
    variables = {"PATH": os.environ["PATH"], "HOME": str(work), "SKILLGAUGE_SANDBOX": "local"}
    return lambda *arguments: Program(work, variables)("grade", *arguments)


def test_sessions_of_claude_code(claude: Agent, tmp_path: Path, grade: Callable[..., Done]) -> None:
    """Skill, turns, tokens and cost are there, a failure is told, and the suite of queries is answered."""
    user = User(claude, tmp_path / "one")
    user.asks(ModelReply("I look.", 100, 7, tools=[use_skill("greet-well")]), ModelReply("ZEBRA", 10, 3))
    shown = grade(tmp_path / "one", "--json")
    assert shown.code == 0, shown.stderr
    (session,) = shown.document["sessions"]
    assert (session["engine"], session["model"], session["prompt"]) == ("claude-code", "claude-sonnet-4-5", PROMPT)
    assert session["skills_fired"] == [{"name": "greet-well", "how": "invoked"}]
    assert "greet-well" in session["skills_offered"]
    assert (session["tokens"], session["model_calls"], session["tool_calls"], session["failure"]) == (120, 2, 1, None)
    assert session["cost_usd"] > 0
    graded = grade(tmp_path / "one", "--suite", "greet-well")
    assert graded.code == 0, graded.stderr
    assert "greet-well · uncontrolled · claude-sonnet-4-5 — balanced accuracy 100.0%" in graded.stdout
    assert "uncontrolled: sessions that were not begun by skillgauge were graded" in graded.stdout
    user.asks(ModelReply("Hello Bob", 5, 1), goes_on=True)
    (session,) = grade(tmp_path / "one", "--json").document["sessions"]
    assert (session["user_turns"], session["tokens"]) == (2, 126)
    unmatched = grade(tmp_path / "one", "--suite", "greet-well")
    assert unmatched.code == 5
    assert "no case goes on as it does after the first prompt" in unmatched.stderr
    User(claude, tmp_path / "two").asks(*[ModelReply(fault=ModelFault.OVERLOADED)] * 9)
    (session,) = grade(tmp_path / "two", "--json").document["sessions"]
    assert "529" in session["failure"]
    assert (session["tokens"], session["cost_usd"], session["skills_fired"]) == (None, None, [])
    invalid = grade(tmp_path / "two", "--suite", "greet-well")
    assert invalid.code == 3
    assert "1 of 1 trials ended in an error" in invalid.stderr


def test_sessions_of_codex(codex: Callable[..., Agent], tmp_path: Path, grade: Callable[..., Done]) -> None:
    """A skill fires when its file is read, what a session cost is unknown, and further turns belong to it."""
    user = User(codex(), tmp_path / "one")
    user.asks(ModelReply("I look.", 100, 7, tools=[run_shell("cat .agents/skills/*/SKILL.md")]), ModelReply("A", 10, 3))
    (session,) = grade(tmp_path / "one", "--json").document["sessions"]
    assert (session["engine"], session["model"], session["prompt"]) == ("codex", "gpt-5.5", PROMPT)
    assert session["skills_fired"] == [{"name": "greet-well", "how": "read"}]
    assert session["skills_offered"] == ["greet-well"]
    assert (session["tokens"], session["cost_usd"], session["model_calls"], session["tool_calls"]) == (120, None, 2, 1)
    graded = grade(tmp_path / "one", "--suite", "greet-well")
    assert graded.code == 0, graded.stderr
    user.asks(ModelReply("Hello Bob", 5, 1), goes_on=True)
    (session,) = grade(tmp_path / "one", "--json").document["sessions"]
    assert (session["user_turns"], session["tokens"], session["model_calls"]) == (2, 126, 3)
    User(codex(), tmp_path / "two").asks(*[ModelReply(fault=ModelFault.OVERLOADED)] * 9)
    (session,) = grade(tmp_path / "two", "--json").document["sessions"]
    assert "529" in session["failure"]
    assert "127.0.0.1" not in session["failure"]
