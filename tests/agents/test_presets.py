"""Agents that a user names without describing anything run to their end through `acp`, on a scripted model."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from skillgauge.api import Failure, FailureClass, FiredSkill
from skillgauge_engine_acp.configured.presets import PRESETS
from skillgauge_testkit import ENGINES, Maker, ModelReply, ModelServer, TokenCount, in_turns, run_shell, use_skill
from skillgauge_testkit.agent_sessions import KEY, Given, Played, play

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

MODEL = "gpt-5.5"
PROGRAM_OF_VIBE = Path(__file__).parents[2] / ".engines/node_modules/.bin/vibe-acp"
VIBE = pytest.param("vibe", marks=pytest.mark.skipif(not PROGRAM_OF_VIBE.exists(), reason="no vibe-acp: make vibe"))
REAL = [*(pytest.param(name, marks=pytest.mark.engine) for name in ("cline", "copilot", "opencode", "qwen")), VIBE]
"""Presets whose program `make engines` installs, and the one of `make vibe`, which not every machine can have."""
THINKING = ("opencode", "qwen")
"""Those that tell how much of the output was thinking."""
Session = Callable[..., Played]


@pytest.fixture
def session(agent_program: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> Session:
    """Plays a session of a preset, with its skill installed, with its program or with another one."""

    def hold(name: str, program: str | None = None) -> Played:
        found = agent_program(program or PRESETS[name].command)
        description = PRESETS[name].description
        monkeypatch.setenv(str(description["key_variable"]), KEY)
        for needed in description.get("needs", ()):
            (folder,) = {path.parent for path in found.parents[1].glob(f"@openai/codex-*/vendor/*/*/{needed}")}
            monkeypatch.setenv("PATH", f"{os.environ['PATH']}:{folder}")
        script = in_turns(
            ModelReply("I look.", 1000, 20, tools=[use_skill("greet-well")]),
            ModelReply("", 100, 27, cache_read_tokens=900, thinking_tokens=7, tools=[run_shell("echo hi > hello.txt")]),
            ModelReply("Done.", 50, 16, thinking_tokens=5),
            aside=ModelReply("A title", 11, 3),
        )
        with ModelServer(script) as server:
            make = Maker(ENGINES, "skillgauge_engine_acp.configured.plugin")
            engine = make({"agent": name, "program": str(found), "base_url": f"{server.url}/v1"})
            given = Given(skill_folder=str(description["skill_folder"]), skills=("greet-well",))
            assert engine.identity(MODEL).name == f"acp:{name}"
            return play(engine, server, "Say hello to Ann", given, model=MODEL)

    return hold


def counted(played: Played) -> TokenCount:
    """Return the tokens that the server counted, of the session and of what the program asks beside it."""
    (count,) = (session.tokens for session in played.server.sessions.values())
    return count


@pytest.mark.parametrize("name", REAL)
def test_a_session(session: Session, name: str) -> None:
    """The skill is found and fires, files and answer are right, and what the program does not tell is unknown."""
    played = session(name)
    execution, trajectory = played.execution, played.execution.trajectory
    assert execution.failure is None, execution
    assert execution.text == "Done."
    assert played.files["hello.txt"] == b"hi\n"
    assert trajectory
    assert trajectory.skills_fired == (FiredSkill(name="greet-well", how="invoked"),)
    assert (trajectory.skills_offered, trajectory.blocked, trajectory.turns) == (None, None, None)
    assert {request.model for request in played.server.requests} == {MODEL}
    assert {request.key for request in played.server.requests} == {KEY}
    assert "Say ZEBRA." in "".join(request.text for request in played.server.requests)
    assert KEY not in execution.model_dump_json()
    count, usage = counted(played), execution.usage
    assert usage
    sums = (usage.input_tokens, usage.cache_read_tokens, usage.cache_write_tokens or 0, usage.output_tokens)
    assert sums == (count.input, count.cache_read, count.cache_write, count.output)
    assert usage.reasoning_tokens == (count.thinking if name in THINKING else None)


@pytest.mark.engine
def test_a_program_that_is_not_the_one_of_its_preset(session: Session) -> None:
    """It is noticed by the name that it gives, so that nothing is read that would mean something else there."""
    failure = session("qwen", "gemini").execution.failure
    assert isinstance(failure, Failure)
    assert failure.failure_class is FailureClass.SETUP
    assert "'gemini-cli'" in failure.message
    assert "'qwen-code'" in failure.message
