"""Gemini CLI runs to its end on a scripted model."""

from __future__ import annotations

import pytest

from skillgauge_testkit import ModelFault, ModelReply, in_turns, run_shell, use_skill, write_file

from .conftest import KEY, Agent

pytestmark = [pytest.mark.e2e, pytest.mark.engine, pytest.mark.slow]


def test_skill_files_and_parallel_tools(gemini: Agent) -> None:
    """It loads the skill, writes the file, runs the command, and counts the tokens that the server counts."""
    script = in_turns(
        ModelReply("", 1000, 20, tools=[use_skill("greet-well")]),
        ModelReply("", 100, 20, cache_read_tokens=900, tools=[write_file("hello.txt", "hi\n"), run_shell("echo two")]),
        ModelReply("Done.", 50, 6),
    )
    ended = gemini.run(script, has_skill=True)
    assert (ended.code, ended.last["status"]) == (0, "success"), ended.stderr
    assert (ended.workspace / "hello.txt").read_text() == "hi\n"
    used = [line["tool_name"] for line in ended.of(type="tool_use")]
    assert used == ["activate_skill", "write_file", "run_shell_command"]
    assert {line["status"] for line in ended.of(type="tool_result")} == {"success"}
    (session,) = ended.server.sessions.values()
    stats, told = ended.last["stats"], session.tokens
    assert (stats["input_tokens"], stats["cached"]) == (told.input + told.cache_read, told.cache_read)
    assert stats["output_tokens"] == told.output
    assert "Say ZEBRA." in "".join(session.requests[1].results)
    assert {request.key for request in session.requests} == {KEY}


def test_refused_key(gemini: Agent) -> None:
    """It ends with an exit code that is no success."""
    ended = gemini.run(lambda _request: ModelReply(fault=ModelFault.UNAUTHORIZED))
    assert ended.code != 0
    assert "the key is not valid" in ended.stderr + str(ended.lines)
